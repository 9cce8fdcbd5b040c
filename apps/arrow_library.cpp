// Parquet by Arrow, as a library that Octant loads when it writes or reads the first file.
#include "telemetry/parquet_library.hpp"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>

namespace octant::telemetry {

namespace {

constexpr std::int64_t k_rows_per_group = 1 << 20;

// Of windows, which are written while a run waits, and of merged files.
constexpr auto k_fast = parquet::Compression::SNAPPY, k_small = parquet::Compression::ZSTD;

// Arrow's own pools keep tens of megabytes that were used once; the system gets its memory back.
arrow::MemoryPool* memory() { return arrow::system_memory_pool(); }

using TablePointer = std::shared_ptr<arrow::Table>;

void check(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToStringWithoutContextLines());
}

template <class T>
T value_of(arrow::Result<T> result) {
  check(result.status());
  return std::move(result).ValueUnsafe();
}

template <class T>
std::shared_ptr<arrow::Array> array_of(const std::vector<T>& values) {
  using Array = typename arrow::CTypeTraits<T>::ArrayType;
  return std::make_shared<Array>(static_cast<std::int64_t>(values.size()),
                                 arrow::Buffer::Wrap(values));
}

std::shared_ptr<arrow::Array> array_of(const std::vector<bool>& values) {
  arrow::BooleanBuilder builder(memory());
  check(builder.AppendValues(values));
  return value_of(builder.Finish());
}

std::shared_ptr<arrow::Array> array_of(const Texts& texts) {
  arrow::StringBuilder names(memory());
  check(names.AppendValues(*texts.list));
  return value_of(
      arrow::DictionaryArray::FromArrays(array_of(texts.numbers), value_of(names.Finish())));
}

TablePointer table_of(std::span<const Column> columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const Column& column : columns) {
    arrays.push_back(
        std::visit([](const auto& values) { return array_of(values); }, column.values));
    fields.push_back(arrow::field(column.name, arrays.back()->type(), false));
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

// A file under way; gets its name at the end.
class Output {
 public:
  Output(const std::string& path, const std::shared_ptr<arrow::Schema>& schema,
         const Metadata& metadata, parquet::Compression::type compression)
      : path_(path) {
    const std::filesystem::path whole(path);
    std::string hidden = ".";
    hidden += whole.filename().string();
    part_ = (whole.parent_path() / (hidden += ".part")).string();
    // Only texts have a dictionary: making one costs more than most windows have rows.
    parquet::WriterProperties::Builder builder;
    builder.compression(compression)->disable_statistics()->disable_dictionary();
    builder.memory_pool(memory());
    for (const auto& field : schema->fields())
      if (!arrow::is_primitive(field->type()->id())) builder.enable_dictionary(field->name());
    const auto properties = builder.build();
    file_ = value_of(arrow::io::FileOutputStream::Open(part_));
    writer_ = value_of(parquet::arrow::FileWriter::Open(*schema, memory(), file_, properties));
    const auto pairs = std::make_shared<arrow::KeyValueMetadata>();
    for (const auto& [key, value] : metadata) pairs->Append(key, value);
    check(writer_->AddKeyValueMetadata(pairs));
  }
  ~Output() {
    if (!done_) std::remove(part_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const arrow::Table& table) { check(writer_->WriteTable(table, k_rows_per_group)); }
  void finish() {
    check(writer_->Close());
    check(file_->Close());
    std::filesystem::rename(part_, path_);
    done_ = true;
  }

 private:
  std::string path_, part_;
  bool done_ = false;
  std::shared_ptr<arrow::io::FileOutputStream> file_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

std::unique_ptr<parquet::arrow::FileReader> open(const std::string& path) {
  const auto file = value_of(arrow::io::ReadableFile::Open(path, memory()));
  return value_of(parquet::arrow::OpenFile(file, memory()));
}

TablePointer read_table(const std::string& path) { return value_of(open(path)->ReadTable()); }

// Appends the numbers of a chunk, if they have this type.
template <class T>
bool append_as(const arrow::Array& chunk, Column& column) {
  using Array = typename arrow::CTypeTraits<T>::ArrayType;
  if (chunk.type_id() != arrow::CTypeTraits<T>::ArrowType::type_id) return false;
  const auto& numbers = static_cast<const Array&>(chunk);
  if (!std::holds_alternative<std::vector<T>>(column.values)) column.values = std::vector<T>();
  auto& values = std::get<std::vector<T>>(column.values);
  values.insert(values.end(), numbers.raw_values(), numbers.raw_values() + numbers.length());
  return true;
}

Column numbers_of(const std::string& name, const arrow::ChunkedArray& chunks) {
  Column column{name, {}};
  for (const auto& chunk : chunks.chunks()) {
    const bool known =
        append_as<std::int8_t>(*chunk, column) || append_as<std::int16_t>(*chunk, column) ||
        append_as<std::int32_t>(*chunk, column) || append_as<std::int64_t>(*chunk, column) ||
        append_as<std::uint64_t>(*chunk, column) || append_as<float>(*chunk, column) ||
        append_as<double>(*chunk, column);
    if (!known) throw std::runtime_error("the column " + name + " holds no numbers");
  }
  return column;
}

void write(const std::string& path, std::span<const Column> columns, const Metadata& metadata) {
  const TablePointer table = table_of(columns);
  Output output(path, table->schema(), metadata, k_fast);
  output.write(*table);
  output.finish();
}

void merge(std::span<const std::string> inputs, const std::string& path, const Metadata& metadata,
           std::int64_t rows_of_first) {
  std::vector<TablePointer> held;
  std::int64_t rows = 0;
  std::unique_ptr<Output> output;
  const auto write_held = [&] {
    if (!output) output = std::make_unique<Output>(path, held.front()->schema(), metadata, k_small);
    output->write(*value_of(arrow::ConcatenateTables(held, {}, memory())));
    held.clear();
    rows = 0;
  };
  std::int64_t left = rows_of_first;
  for (const std::string& input : inputs) {
    const auto reader = open(input);
    for (int group = 0; group < reader->num_row_groups(); ++group) {
      held.push_back(value_of(reader->ReadRowGroup(group))->Slice(0, left));
      left -= held.back()->num_rows();
      rows += held.back()->num_rows();
      if (rows >= k_rows_per_group) write_held();
    }
    left = std::numeric_limits<std::int64_t>::max();
  }
  if (!held.empty()) write_held();
  output->finish();
}

std::vector<Column> read(const std::string& path, std::span<const std::string> names) {
  const TablePointer table = read_table(path);
  std::vector<Column> columns;
  for (const std::string& name : names) {
    const auto chunks = table->GetColumnByName(name);
    if (!chunks) throw std::runtime_error("it has no column " + name);
    columns.push_back(numbers_of(name, *chunks));
  }
  return columns;
}

Metadata metadata(const std::string& path) {
  const auto reader = parquet::ParquetFileReader::OpenFile(path);
  Metadata result;
  const auto pairs = reader->metadata()->key_value_metadata();
  for (std::int64_t n = 0; pairs && n < pairs->size(); ++n) result[pairs->key(n)] = pairs->value(n);
  return result;
}

constexpr ParquetLibrary k_library{write, merge, metadata, read};

}  // namespace

}  // namespace octant::telemetry

extern "C" const octant::telemetry::ParquetLibrary* octant_parquet_library() {
  return &octant::telemetry::k_library;
}
