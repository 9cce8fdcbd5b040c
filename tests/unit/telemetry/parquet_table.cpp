#include "parquet_table.hpp"

#include <type_traits>

#include "telemetry/parquet_io.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry {

ParquetTable::ParquetTable(const std::string& path) {
  const parquet::Input file(path);
  metadata_ = file.metadata();
  for (const Column& described : file.schema()) {
    const Column column = file.column(described.name);
    rows_ = static_cast<int>(parquet::rows_of(column));
    std::visit(
        [&](const auto& values) {
          if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Texts>)
            for (const int number : values.numbers)
              texts_[column.name].push_back(values.list.at(number));
          else numbers_[column.name].assign(values.begin(), values.end());
        },
        column.values);
  }
}

}  // namespace octant::telemetry
