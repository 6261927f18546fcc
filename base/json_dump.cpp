#include "base/json_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace amdahl {
namespace {
using Json = nlohmann::json;

constexpr std::size_t kFirstBytes = std::size_t{4} << 10U;
constexpr std::size_t kKeptBytesMax = std::size_t{64} << 10U;  // of the buffer, between two texts

constexpr std::uint64_t each(unsigned char byte) {
  return 0x0101010101010101ULL * byte;
}

// In both, the high bit is set somewhere if any of the eight bytes is: below 0x20 or not ASCII;
// or one of these, a quote or a backslash.
std::uint64_t unprintable(std::uint64_t bytes) {
  return (((bytes - each(0x20)) & ~bytes) | bytes) & each(0x80);
}

std::uint64_t special(std::uint64_t bytes) {
  const std::uint64_t quotes = bytes ^ each('"');
  const std::uint64_t slashes = bytes ^ each('\\');
  const std::uint64_t found =
      ((quotes - each(1)) & ~quotes) | ((slashes - each(1)) & ~slashes) | unprintable(bytes);
  return found & each(0x80);
}

std::uint64_t eight_bytes(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

template <std::uint64_t (*kFind)(std::uint64_t)>
bool has_none(std::string_view text) {
  const char* at = text.data();
  if (text.size() < 8) {
    std::uint64_t bytes = each(' ');
    std::memcpy(&bytes, at, text.size());
    return kFind(bytes) == 0;
  }
  const char* const last = at + text.size() - 8;
  std::uint64_t found = kFind(eight_bytes(last));
  for (; at < last; at += 8) found |= kFind(eight_bytes(at));
  return found == 0;
}

// Of each thread: a text is allocated once, when its size is known.
struct Buffer {
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
};
thread_local Buffer buffer;

class Writer {
 public:
  Writer() : bytes_(buffer.bytes.get()), size_(buffer.size) {}
  ~Writer() {
    if (size_ > kKeptBytesMax) buffer = {};
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::string_view text() const { return {bytes_, used_}; }
  void value(const Json& json);

 private:
  void put(char c) {
    *room(1) = c;
    ++used_;
  }
  void put(std::string_view bytes) {
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  char* room(std::size_t bytes) {
    if (size_ - used_ < bytes) grow(bytes);
    return bytes_ + used_;
  }
  void grow(std::size_t bytes);
  void string(const std::string& text);
  void escaped(const std::string& text);
  void object(const Json::object_t& members);
  void array(const Json::array_t& items);

  char* bytes_;  // the buffer's, at hand
  std::size_t size_;
  std::size_t used_ = 0;
};

void Writer::grow(std::size_t bytes) {
  Buffer larger;
  larger.size = std::max(kFirstBytes, 2 * size_ + bytes);
  larger.bytes = std::make_unique_for_overwrite<char[]>(larger.size);
  if (used_ > 0) std::memcpy(larger.bytes.get(), bytes_, used_);
  buffer = std::move(larger);
  bytes_ = buffer.bytes.get();
  size_ = buffer.size;
}

// NOLINTBEGIN(misc-no-recursion): the caller bounds the depth.
void Writer::string(const std::string& text) {
  if (!has_none<special>(text)) return escaped(text);
  char* to = room(text.size() + 2);
  *to = '"';
  std::memcpy(to + 1, text.data(), text.size());
  to[text.size() + 1] = '"';
  used_ += text.size() + 2;
}

void Writer::escaped(const std::string& text) {
  // Rare, and not worth a second set of rules for all escapes and broken UTF-8.
  if (!has_none<unprintable>(text))
    return put(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
  put('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') put('\\');
    put(c);
  }
  put('"');
}

void Writer::object(const Json::object_t& members) {
  put('{');
  bool first = true;
  for (const auto& [name, member] : members) {
    if (!first) put(',');
    first = false;
    string(name);
    put(':');
    value(member);
  }
  put('}');
}

void Writer::array(const Json::array_t& items) {
  put('[');
  bool first = true;
  for (const Json& item : items) {
    if (!first) put(',');
    first = false;
    value(item);
  }
  put(']');
}

void Writer::value(const Json& json) {
  switch (json.type()) {
    case Json::value_t::object:
      return object(json.get_ref<const Json::object_t&>());
    case Json::value_t::array:
      return array(json.get_ref<const Json::array_t&>());
    case Json::value_t::string:
      return string(json.get_ref<const std::string&>());
    case Json::value_t::number_integer: {
      const fmt::format_int number(json.get<std::int64_t>());
      return put({number.data(), number.size()});
    }
    case Json::value_t::number_unsigned: {
      const fmt::format_int number(json.get<std::uint64_t>());
      return put({number.data(), number.size()});
    }
    case Json::value_t::boolean:
      return put(json.get<bool>() ? "true" : "false");
    default:  // null, and floats, whose shortest form is an art of its own
      return put(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}
// NOLINTEND(misc-no-recursion)

}  // namespace

void append_json(std::string& text, const Json& value) {
  Writer writer;
  writer.value(value);
  text += writer.text();
}

std::string dump_json(const Json& value) {
  Writer writer;
  writer.value(value);
  return std::string(writer.text());
}

}  // namespace amdahl
