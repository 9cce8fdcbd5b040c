#include "parquet_table.hpp"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

ParquetTable::ParquetTable(const std::string& path) : metadata_(parquet_metadata(path)) {
  const auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  const auto reader = parquet::arrow::OpenFile(file, arrow::default_memory_pool()).ValueOrDie();
  const std::shared_ptr<arrow::Table> table = reader->ReadTable().ValueOrDie();
  rows_ = static_cast<int>(table->num_rows());
  for (int c = 0; c < table->num_columns(); ++c) {
    const std::string& name = table->field(c)->name();
    for (const auto& chunk : table->column(c)->chunks())
      for (std::int64_t n = 0; n < chunk->length(); ++n) {
        const std::string value = chunk->GetScalar(n).ValueOrDie()->ToString();
        if (chunk->type_id() == arrow::Type::STRING) texts_[name].push_back(value);
        else if (chunk->type_id() == arrow::Type::BOOL) numbers_[name].push_back(value == "true");
        else numbers_[name].push_back(std::stod(value));
      }
  }
}

}  // namespace octant::telemetry
