// Reads an object part by part, for an object that cannot be read as a whole.
//
// A tenant can store an object that our types refuse: a number beyond 32 bits, a quantity that is
// too large, text that is not UTF-8. Each member of the object's table is read alone; one that
// cannot be read keeps its default. Metadata that cannot be read is reduced to what the API server
// itself wrote, so the cache still knows that the object exists. Pure. Failure: not even the
// identity can be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_decode.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/raw_object.hpp"

namespace amdahl::controller {
namespace parts_detail {

// A table with one field, named at run time.
template <class M>
struct Part {
  std::string_view name = {};
  std::uint32_t wire = 0;
  M value = {};
};
template <class V, class M>
constexpr void fields(V& v, Part<M>& part) {
  v.optional(part.name, part.value, {.wire = part.wire});
}

struct Identity {
  std::string name = {};
  std::string ns = {};
  std::string uid = {};
  std::string version = {};
  std::optional<WallTime> created = {};
  std::optional<WallTime> deleted = {};
};
template <class V>
constexpr void fields(V& v, Identity& identity) {
  v.optional("name", identity.name, {.wire = 1});
  v.optional("namespace", identity.ns, {.wire = 3});
  v.optional("uid", identity.uid, {.wire = 5});
  v.optional("resourceVersion", identity.version, {.wire = 6});
  v.optional("creationTimestamp", identity.created, {.wire = 8});
  v.optional("deletionTimestamp", identity.deleted, {.wire = 9});
}

template <class T>
Result<void> read_any(JsonReader& reader, const kube::RawObject& object, T& into) {
  if (object.encoding == kube::Encoding::kProtobuf) return read_wire(object.bytes, into);
  return reader.read_padded(object.bytes, [&](JsonValue& root) { return read_json(root, into); });
}

struct ReadParts : FieldVisitor {
  JsonReader& reader;
  const kube::RawObject& object;

  ReadParts(JsonReader& json, const kube::RawObject& from) : reader(json), object(from) {}

  template <class M>
  void required(std::string_view name, M& member, const FieldRules& rules = {}) {
    take(name, member, rules.wire);
  }
  template <class M>
  void optional(std::string_view name, M& member, const FieldRules& rules = {}) {
    take(name, member, rules.wire);
  }
  template <class M, class D>
  void defaulted(std::string_view name, M& member, const D&, const FieldRules& rules = {}) {
    take(name, member, rules.wire);
  }

 private:
  template <class M>
  void take(std::string_view name, M& member, std::uint32_t wire) {
    Part<M> part{.name = name, .wire = wire, .value = member};
    if (read_any(reader, object, part)) member = std::move(part.value);
  }
};

}  // namespace parts_detail

// Fills a fresh object.
template <class T>
Result<void> read_parts(JsonReader& reader, const kube::RawObject& object, T& into) {
  apply_defaults(into);
  parts_detail::ReadParts parts(reader, object);
  fields(parts, into);
  if (!into.metadata.name.empty()) return {};
  parts_detail::Part<parts_detail::Identity> who{.name = "metadata", .wire = 1};
  TRY(parts_detail::read_any(reader, object, who));
  into.metadata.name = who.value.name;
  into.metadata.ns = who.value.ns;
  into.metadata.uid = who.value.uid;
  into.metadata.version = who.value.version;
  into.metadata.created = who.value.created;
  into.metadata.deleted = who.value.deleted;
  return {};
}

}  // namespace amdahl::controller
