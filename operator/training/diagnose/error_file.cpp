#include "operator/training/diagnose/error_file.hpp"

#include <charconv>
#include <cstddef>

#include "operator/training/diagnose/evidence.hpp"

namespace amdahl::training {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code >= 0xd800U && code <= 0xdfffU) return byte('?');  // half of a pair
  if (code < 0x80U) return byte(code);
  if (code < 0x800U) {
    byte(0xc0U | (code >> 6U));
  } else if (code < 0x10000U) {
    byte(0xe0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3fU));
  } else {
    byte(0xf0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3fU));
    byte(0x80U | ((code >> 6U) & 0x3fU));
  }
  byte(0x80U | (code & 0x3fU));
}

// Walks over the strings of a JSON text without minding its structure, which may be cut off.
class StringWalk {
 public:
  explicit StringWalk(std::string_view text) : text_(text) {}

  // The next string; false at the end.
  bool next(std::string& value) {
    at_ = text_.find('"', at_);
    if (at_ == std::string_view::npos) return false;
    ++at_;
    value.clear();
    while (at_ < text_.size() && text_[at_] != '"') take(value);
    if (at_ < text_.size()) ++at_;
    return true;
  }

  // Whether a colon follows, which makes the last string a key.
  bool at_colon() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() && text_[at_] == ':';
  }

  // Whether what follows the colon is a string.
  bool value_is_string() const {
    const std::size_t value = text_.find_first_not_of(" \n", at_ + 1);
    return value != std::string_view::npos && text_[value] == '"';
  }

 private:
  void take(std::string& value) {
    const char c = text_[at_++];
    if (c != '\\') {
      value += c;
      return;
    }
    if (at_ >= text_.size()) return;
    const char escaped = text_[at_++];
    switch (escaped) {
      case 'n':
        value += '\n';
        return;
      case 't':
        value += '\t';
        return;
      case 'u':
        append_utf8(value, take_code());
        return;
      case 'b':
      case 'f':
      case 'r':
        value += ' ';
        return;
      default:
        value += escaped;
    }
  }

  std::uint32_t take_hex() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    at_ += static_cast<std::size_t>(end - digits.data());
    return error == std::errc{} ? code : 0xfffdU;
  }

  std::uint32_t take_code() {
    const std::uint32_t high = take_hex();
    const bool pair = high >= 0xd800U && high < 0xdc00U && text_.substr(at_).starts_with("\\u");
    if (!pair) return high;
    const std::size_t back = at_;
    at_ += 2;
    const std::uint32_t low = take_hex();
    if (low >= 0xdc00U && low <= 0xdfffU)
      return 0x10000U + ((high - 0xd800U) << 10U) + (low - 0xdc00U);
    at_ = back;
    return high;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void keep(ErrorFile& file, std::string_view key, const std::string& value) {
  if (key == "message" && file.message.empty()) {
    file.message = value;
  } else if (key == "py_callstack" && file.traceback.empty()) {
    file.traceback = value;
  } else if (key == "type" && file.type.empty()) {
    file.type = value;
  } else if (key == "where" && file.where.empty()) {
    file.where = value;
  } else if (key == "timestamp" && !file.timestamp) {
    std::int64_t seconds = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (parsed.ec == std::errc{}) file.timestamp = seconds;
  }
}

}  // namespace

std::optional<ErrorFile> parse_error_file(std::string_view text) {
  text = bounded_head(text);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return std::nullopt;
  StringWalk walk(text.substr(begin));
  ErrorFile file;
  std::string key;
  std::string value;
  while (walk.next(key)) {
    if (!walk.at_colon() || !walk.value_is_string()) continue;
    if (walk.next(value)) keep(file, key, value);
  }
  if (file.message.empty() && file.traceback.empty()) return std::nullopt;
  return file;
}

}  // namespace amdahl::training
