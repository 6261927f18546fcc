#include "local/apiserver/patch/json_pointer.hpp"

#include <charconv>
#include <cstdint>

namespace amdahl::local {
namespace {

std::string unescaped(std::string_view token) {
  std::string text;
  text.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char next = i + 1 < token.size() ? token[i + 1] : '\0';
    const bool escape = token[i] == '~' && (next == '0' || next == '1');
    if (!escape) {
      text += token[i];
      continue;
    }
    text += next == '0' ? '~' : '/';
    ++i;
  }
  return text;
}

// The child to walk through; null when there is none that could hold anything.
Json* step_into(Json& value, const std::string& token) {
  if (value.is_object()) {
    const auto found = value.find(token);
    return found == value.end() ? nullptr : &*found;
  }
  const auto index = list_index(token, value.size());
  return index ? &value[*index] : nullptr;
}

}  // namespace

std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer) {
  if (pointer.empty() || pointer.front() != '/') return std::nullopt;
  std::vector<std::string> tokens;
  while (!pointer.empty()) {
    if (tokens.size() == kDepthMax) return std::nullopt;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    tokens.push_back(unescaped(pointer.substr(0, end)));
    pointer.remove_prefix(end);
  }
  return tokens;
}

Place find_place(Json& document, std::string_view pointer) {
  auto tokens = pointer_tokens(pointer);
  if (!tokens) return {};
  Json* at = &document;
  for (std::size_t i = 0; i + 1 < tokens->size() && at != nullptr && at->is_structured(); ++i)
    at = step_into(*at, (*tokens)[i]);
  if (at == nullptr || !at->is_structured()) return {};
  return {.container = at, .key = std::move(tokens->back()), .depth = tokens->size() - 1};
}

Result<std::size_t> list_index(const std::string& key, std::size_t size) {
  std::int64_t number = 0;
  const char* const last = key.data() + key.size();
  const auto [end, error] = std::from_chars(key.data(), last, number);
  if (error != std::errc() || end != last)
    return fail(Errc::kInvalid, "value was not a proper array index: '{}'", key);
  const auto count = static_cast<std::int64_t>(size);
  if (number < -count || number >= count)
    return fail(Errc::kInvalid, "Unable to access invalid index: {}: invalid index referenced",
                number);
  return static_cast<std::size_t>(number < 0 ? number + count : number);
}

}  // namespace amdahl::local
