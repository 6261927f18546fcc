// One version of one object as the server keeps it: its JSON text, and what selection needs.
//
// Immutable and shared: a list, a watch and the history hold the same bytes. There is no tree in
// memory; whoever changes an object parses its text. Thread: any, once made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/packed_map.hpp"
#include "local/apiserver/core/status.hpp"

namespace amdahl::local {

inline constexpr std::string_view kFinalizerForeground = "foregroundDeletion";
inline constexpr std::string_view kFinalizerOrphan = "orphan";

struct OwnerRef {
  std::string uid = {};
  std::string api_version = {};
  std::string kind = {};
  std::string name = {};
  bool blocks = false;  // blockOwnerDeletion
  bool operator==(const OwnerRef&) const = default;
};

struct StoredObject : std::enable_shared_from_this<StoredObject> {
  std::string key = {};  // "namespace/name", or "name": the order of lists
  std::string uid = {};
  std::uint64_t version = 0;
  std::string text = {};  // with metadata.resourceVersion inside
  PackedMap labels = {};
  PackedMap fields = {};
  std::vector<OwnerRef> owners = {};
  bool deleting = false;
  bool foreground = false;  // has the finalizer
  bool orphan = false;      // has the finalizer
  bool finalizers = false;  // has any

  std::string_view ns() const;
  std::string_view name() const;
  std::size_t bytes() const;  // of memory, about
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

std::string object_key(std::string_view ns, std::string_view name);

// Writes the version into the object and keeps its text. metadata was checked (metadata.hpp).
ObjectPtr make_object(Json object, std::uint64_t version, PackedMap fields);
// As it was kept: `text` is what make_object() once wrote, and `object` what it says.
ObjectPtr restored_object(const Json& object, std::string text, std::uint64_t version,
                          PackedMap fields);
// The same object as a new version says it: what a DELETED event carries.
ObjectPtr with_version(const StoredObject& object, std::uint64_t version);
Json parsed(const StoredObject& object);
std::string json_text(const Json& json);  // never throws: bytes that are no UTF-8 are replaced

}  // namespace amdahl::local
