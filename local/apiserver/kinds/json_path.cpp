// The part of JSONPath that printer columns use; see table.hpp.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/table.hpp"

namespace amdahl::local {

namespace {

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Up to the next '.' or '['; a backslash keeps a dot in the name.
std::string take_name(std::string_view& path) {
  std::string name;
  while (!path.empty() && path.front() != '.' && path.front() != '[') {
    if (path.front() == '\\' && path.size() > 1) path.remove_prefix(1);
    name += path.front();
    path.remove_prefix(1);
  }
  return name;
}

// The text between brackets; a ']' inside quotes does not end it.
std::optional<std::string_view> take_brackets(std::string_view& path) {
  char quote = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const char c = path[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ']') {
      const std::string_view inside = path.substr(1, i - 1);
      path.remove_prefix(i + 1);
      return inside;
    }
  }
  return std::nullopt;
}

bool is_text(const Json& value, std::string_view text) {
  if (value.is_string()) return value.get_ref<const std::string&>() == text;
  if (value.is_boolean() || value.is_number()) return value.dump() == text;
  return false;
}

// ?(@.type=="Ready") and ?(@.type!="Ready")
const Json* filtered(const Json& list, std::string_view filter) {
  if (!list.is_array() || !filter.starts_with("?(") || !filter.ends_with(')')) return nullptr;
  filter = trimmed(filter.substr(2, filter.size() - 3));
  const std::size_t equals = filter.find("=");
  if (equals == std::string_view::npos || !filter.starts_with("@.")) return nullptr;
  const bool negated = equals > 0 && filter[equals - 1] == '!';
  const std::string name(trimmed(filter.substr(2, equals - 2 - (negated ? 1 : 0))));
  const std::size_t skip = !negated && filter.substr(equals).starts_with("==") ? 2 : 1;
  const std::string_view wanted = unquoted(trimmed(filter.substr(equals + skip)));
  for (const Json& item : list) {
    const Json* value = member(item, name);
    if (value != nullptr && is_text(*value, wanted) != negated) return &item;
  }
  return nullptr;
}

const Json* bracketed(const Json& value, std::string_view inside) {
  inside = trimmed(inside);
  if (inside.starts_with('?')) return filtered(value, inside);
  if (inside == "*") {
    return value.is_array() && !value.empty() ? &value[0] : nullptr;
  }
  if (inside.starts_with('"') || inside.starts_with('\'')) return member(value, unquoted(inside));
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error != std::errc{} || end != inside.data() + inside.size() || !value.is_array()) {
    return nullptr;
  }
  const auto size = static_cast<std::int64_t>(value.size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &value[static_cast<std::size_t>(index)] : nullptr;
}

}  // namespace

const Json* json_path_first(const Json& object, std::string_view path) {
  const Json* value = &object;
  for (int steps = 0; !path.empty() && value != nullptr; ++steps) {
    if (steps >= kJsonPathStepsMax) return nullptr;
    if (path.front() == '.') {
      path.remove_prefix(1);
      if (path.empty() || path.front() == '[') continue;
      value = member(*value, take_name(path));
    } else if (path.front() == '[') {
      const auto inside = take_brackets(path);
      if (!inside) return nullptr;
      value = bracketed(*value, *inside);
    } else {
      return nullptr;
    }
  }
  return value;
}

}  // namespace amdahl::local
