#include "cli/table_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "cli/text_layout.hpp"

namespace amdahl::cli {
namespace {

constexpr std::size_t kGap = 3;

// One line, and nothing that moves the cursor: the text is somebody else's.
std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "";
  std::string text = cell.is_string() ? cell.get<std::string>() : cell.dump();
  if (const std::size_t end = text.find_first_of("\n\r\f"); end != std::string::npos)
    text = text.substr(0, end) + "...";
  return replace_controls(text, [](char32_t) { return std::string(1, ' '); });
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

const Json& list_in(const Json& object, const char* name) {
  static const Json empty_list = Json::array();
  const auto found = object.find(name);
  return found == object.end() || !found->is_array() ? empty_list : *found;
}

}  // namespace

void TableText::set_columns(const Json& definitions) {
  if (options_.with_namespace) names_.emplace_back("NAMESPACE");
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const Json& column = definitions[i];
    if (!column.is_object()) continue;
    const Json& priority = member_of(column, "priority");
    if (priority.is_number() && priority > 0 && !options_.wide) continue;
    shown_.push_back(i);
    names_.push_back(upper(cell_text(member_of(column, "name"))));
  }
  widen(names_);
}

Result<void> TableText::add(const Json& table) {
  if (text_of(table, "kind") != "Table")
    return fail(Errc::kCorrupt, "the server did not answer with a table");
  const Json& definitions = list_in(table, "columnDefinitions");
  if (names_.empty()) set_columns(definitions);
  for (const Json& row : list_in(table, "rows"))
    if (row.is_object()) add_row(row);
  return {};
}

void TableText::add_row(const Json& row) {
  const Json& cells = list_in(row, "cells");
  std::vector<std::string> texts;
  if (options_.with_namespace)
    texts.push_back(
        cell_text(member_of(member_of(member_of(row, "object"), "metadata"), "namespace")));
  for (const std::size_t i : shown_) {
    std::string text = i < cells.size() ? cell_text(cells[i]) : "";
    if (i == 0) text = options_.prefix + text;
    texts.push_back(std::move(text));
  }
  widen(texts);
  rows_.push_back(std::move(texts));
}

void TableText::widen(const std::vector<std::string>& cells) {
  widths_.resize(std::max(widths_.size(), cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i)
    widths_[i] = std::max(widths_[i], width_of(cells[i]));
}

std::string TableText::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += cells[i];
    if (i + 1 < cells.size()) text.append(widths_[i] + kGap - width_of(cells[i]), ' ');
  }
  return text + "\n";
}

std::string TableText::header() {
  return line(names_);
}

std::string TableText::take_rows() {
  std::string text;
  for (const auto& row : rows_) text += line(row);
  rows_.clear();
  return text;
}

}  // namespace amdahl::cli
