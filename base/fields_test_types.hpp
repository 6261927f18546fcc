// The types on which the readers and writers of field tables are tested.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace amdahl::sample {

enum class Mode : std::uint8_t { kFast, kSafe };
constexpr auto enum_names(Mode) {
  return std::to_array<EnumName<Mode>>({{Mode::kFast, "Fast"}, {Mode::kSafe, "Safe"}});
}

enum class Phase : std::uint8_t { kUnknown, kRunning };
constexpr auto enum_names(Phase) {
  return std::to_array<EnumName<Phase>>(
      {{Phase::kUnknown, "Unknown"}, {Phase::kRunning, "Running"}});
}
constexpr Phase enum_unknown(Phase) {
  return Phase::kUnknown;
}

struct Port {
  std::string name = {};
  std::uint32_t port = 0;
  bool operator==(const Port&) const = default;
};
template <class V>
constexpr void fields(V& v, Port& port) {
  v.required("name", port.name, {.doc = "What it is called.", .wire = 1, .length_max = 8});
  v.defaulted("port", port.port, 80, {.doc = "Where.", .wire = 2, .min = 1, .max = 65535});
}

struct Retry {
  std::int32_t attempts = 0;
  Mode mode = Mode::kFast;
  bool operator==(const Retry&) const = default;
};
template <class V>
constexpr void fields(V& v, Retry& retry) {
  v.defaulted("attempts", retry.attempts, 3, {.wire = 1, .min = 0});
  v.defaulted("mode", retry.mode, Mode::kSafe, {.wire = 2});
}

struct Everything {
  std::string name = {};
  bool flag = false;
  std::int32_t small = 0;
  std::int64_t large = 0;
  double ratio = 0;
  WallTime time = {};
  std::optional<WallTime> micro = {};
  std::optional<std::int32_t> maybe = {};
  std::vector<Port> ports = {};
  std::vector<std::string> words = {};
  std::map<std::string, std::int32_t> counts = {};
  PackedMap labels = {};
  Retry retry = {};
  std::optional<Retry> other_retry = {};
  Mode mode = Mode::kFast;
  Phase phase = Phase::kUnknown;
  bool operator==(const Everything&) const = default;
};
template <class V>
constexpr void fields(V& v, Everything& e) {
  v.required("name", e.name, {.wire = 1});
  v.optional("flag", e.flag, {.wire = 2});
  v.optional("small", e.small, {.wire = 3});
  v.optional("large", e.large, {.wire = 4});
  v.optional("ratio", e.ratio, {.wire = 5});
  v.optional("time", e.time, {.wire = 6});
  v.optional("micro", e.micro, {.wire = 7, .micro_time = true});
  v.optional("maybe", e.maybe, {.wire = 8});
  v.optional("ports", e.ports, {.wire = 9, .items_max = 2, .list_map_key = "name"});
  v.optional("words", e.words, {.wire = 10, .length_max = 5, .items_max = 4, .list_set = true});
  v.optional("counts", e.counts, {.wire = 11, .items_max = 3});
  v.optional("labels", e.labels, {.wire = 12});
  v.optional("retry", e.retry, {.wire = 13});
  v.optional("otherRetry", e.other_retry, {.wire = 14});
  v.optional("mode", e.mode, {.wire = 15});
  v.optional("phase", e.phase, {.wire = 16});
}

// Free-form parts exist in JSON only.
struct Open {
  Json raw = {};
  std::vector<Json> patches = {};
};
template <class V>
constexpr void fields(V& v, Open& open) {
  v.optional("raw", open.raw, {.doc = "Anything | at all."});
  v.optional("patches", open.patches, {.any_type = true});
}

// Nests in itself.
struct Chain {
  std::vector<Chain> next = {};
};
template <class V>
constexpr void fields(V& v, Chain& chain) {
  v.optional("next", chain.next, {.wire = 1});
}

}  // namespace amdahl::sample
