#include <array>

#include "local/apiserver/schema/cel/meta_names.hpp"
#include "local/apiserver/schema/cel/value.hpp"

namespace amdahl::local::cel {
namespace {

constexpr std::array<std::string_view, 21> kReserved{
    "true",     "false",   "null",      "in",       "as",  "break",  "const",
    "continue", "else",    "for",       "function", "if",  "import", "let",
    "loop",     "package", "namespace", "return",   "var", "void",   "while"};

std::string_view escape_of(char c) {
  switch (c) {
    case '.':
      return "__dot__";
    case '-':
      return "__dash__";
    case '/':
      return "__slash__";
    default:
      return {};
  }
}

bool identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::shared_ptr<const Schema> text_schema() {
  auto schema = std::make_shared<Schema>();
  schema->type = SchemaType::kString;
  return schema;
}

std::shared_ptr<const Schema> metadata_schema() {
  auto schema = std::make_shared<Schema>();
  schema->type = SchemaType::kObject;
  schema->properties.emplace("name", text_schema());
  schema->properties.emplace("generateName", text_schema());
  return schema;
}

}  // namespace

const Schema* meta_names(std::string_view field) {
  static const std::shared_ptr<const Schema> text = text_schema();
  static const std::shared_ptr<const Schema> metadata = metadata_schema();
  if (field == "metadata") return metadata.get();
  return field == "apiVersion" || field == "kind" ? text.get() : nullptr;
}

bool is_reserved(std::string_view word) {
  return std::ranges::find(kReserved, word) != kReserved.end();
}

std::optional<std::string> escaped(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return std::nullopt;
  if (is_reserved(name)) return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("__")) {
      out.append("__underscores__");
      ++i;
    } else if (const std::string_view escape = escape_of(name[i]); !escape.empty()) {
      out.append(escape);
    } else if (identifier_char(name[i])) {
      out.push_back(name[i]);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view name) {
  std::string out;
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::size_t begin = rest.find("__");
    const std::size_t end = begin == std::string_view::npos ? begin : rest.find("__", begin + 2);
    if (end == std::string_view::npos || end == begin + 2) return out.append(rest);
    const std::string_view word = rest.substr(begin + 2, end - begin - 2);
    if (word.find('_') != std::string_view::npos) return out.append(rest);
    out.append(rest.substr(0, begin));
    if (word == "underscores")
      out.append("__");
    else if (word == "dot")
      out.push_back('.');
    else if (word == "dash")
      out.push_back('-');
    else if (word == "slash")
      out.push_back('/');
    else if (is_reserved(word) && word.size() + 4 == name.size())
      return std::string(word);
    else
      return std::nullopt;
    rest.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace amdahl::local::cel
