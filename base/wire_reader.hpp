// Protocol buffers as Kubernetes writes them: a cursor over the fields of a message, no schema.
//
// Thread: any. Lifetime: values are views of the bytes. Failure: recorded in the WireWalk that the
// messages of one decoding share, with the field numbers that lead to it ("2.8.3"); malformed bytes
// are Errc::kCorrupt, a passed bound kTooLarge. Groups do not occur in Kubernetes and are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl {

inline constexpr int kWireDepthMax = 64;

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class WireWalk {
 public:
  // Both return false. The first reason stays.
  bool reject(std::string_view reason, Errc code = Errc::kCorrupt);
  bool in_field(std::uint32_t number);  // puts the number in front of the path

  bool failed() const { return failed_; }
  Error error() const;
  bool enter() { return ++depth_ <= kWireDepthMax || reject("nested too deeply", Errc::kTooLarge); }
  void leave() { --depth_; }

 private:
  bool failed_ = false;
  Errc code_ = Errc::kCorrupt;
  int depth_ = 0;
  std::string path_;
  std::string what_;
};

// One field as it stands on the wire. nullopt: refused, and the reason is recorded.
struct WireValue {
  std::uint32_t field = 0;
  WireType type = WireType::kVarint;
  std::uint64_t bits = 0;         // varint and fixed
  std::string_view payload = {};  // length-delimited
  WireWalk* walk = nullptr;

  std::optional<std::string_view> bytes() const;
  std::optional<std::string_view> string() const;  // bytes that are valid UTF-8
  std::optional<std::int64_t> integer() const;     // two's complement, as int32 and int64 are sent
  std::optional<bool> boolean() const;
  std::optional<double> number() const;
  bool reject(std::string_view reason, Errc code = Errc::kInvalid) const {
    return walk->reject(reason, code);
  }
};

class WireMessage {
 public:
  WireMessage(std::string_view bytes, WireWalk& walk)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), walk_(&walk) {}

  // The next field. False at the end, and after a failure: ask walk.failed() then.
  bool next(WireValue& value);

 private:
  bool varint(std::uint64_t& value) {
    if (at_ == end_ || static_cast<unsigned char>(*at_) >= 0x80U) return long_varint(value);
    value = static_cast<unsigned char>(*at_++);  // nearly all are one byte
    return true;
  }
  bool long_varint(std::uint64_t& value);
  bool fixed(std::size_t size, std::uint64_t& value);

  const char* at_;
  const char* end_;
  WireWalk* walk_;
};

}  // namespace amdahl
