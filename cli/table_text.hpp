// Tables as the API server gives them (meta.k8s.io/v1 Table), as text in columns.
//
// Pure. Failure: Errc::kCorrupt for an answer that is no table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace amdahl::cli {

inline constexpr std::string_view kTableType =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

struct TableOptions {
  bool wide = false;            // also columns the server calls less important
  bool with_namespace = false;  // a first column
  std::string prefix = {};      // before each name: "pod/"
};

class TableText {
 public:
  explicit TableText(TableOptions options) : options_(std::move(options)) {}

  // Takes the rows of one page or one event; the columns come with the first.
  Result<void> add(const Json& table);
  bool empty() const { return rows_.empty(); }
  std::string header();
  // What was added since the last call. Columns never get narrower, so that a watch stays in line.
  std::string take_rows();

 private:
  void set_columns(const Json& definitions);
  void add_row(const Json& row);
  void widen(const std::vector<std::string>& cells);
  std::string line(const std::vector<std::string>& cells) const;

  TableOptions options_;
  std::vector<std::string> names_;   // upper case
  std::vector<std::size_t> shown_;   // which cells of a row
  std::vector<std::size_t> widths_;  // of what is printed
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace amdahl::cli
