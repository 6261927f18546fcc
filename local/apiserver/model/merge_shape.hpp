// How values at one place of an object merge: the part of a schema that patches need.
//
// Server-side apply reads kind, keys and key_defaults; strategic merge reads the patch_ members.
// Built from a CRD's structural schema or from the OpenAPI of a built-in kind. Plain values,
// immutable once shared; any thread. Cycles are not possible: where a schema refers to itself, the
// inner place is kUntyped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace amdahl::local {

struct MergeShape;
using MergeShapePtr = std::shared_ptr<const MergeShape>;  // null means kUntyped

enum class MergeKind : std::uint8_t {
  kUntyped,  // deduced from the value: objects merge by key, lists are atomic
  kScalar,   // replaced
  kObject,   // a struct or a map: merges by key
  kAtomic,   // an object or a list that is one value
  kSetList,  // a list of scalars; each item is one field
  kMapList,  // a list of objects told apart by `keys`
};

// What an applied configuration may have at a kScalar. kUnchecked: only the kind itself can say.
enum class ScalarType : std::uint8_t { kAny, kNumber, kText, kFlag, kUnchecked };

struct MergeShape {
  MergeKind kind = MergeKind::kUntyped;
  ScalarType scalar = ScalarType::kAny;
  bool closed = false;  // of an object, also of one that is kAtomic: there are no other fields
  bool list = false;    // of kAtomic: a list
  std::map<std::string, MergeShapePtr, std::less<>> fields = {};  // of an object: the known names
  MergeShapePtr item = {};  // of a list's items, or of a map's values under any other name
  std::vector<std::string> keys = {};                       // of kMapList
  std::map<std::string, nlohmann::json> key_defaults = {};  // a key left out has this value
  std::string patch_merge_key = {};  // strategic merge of a list by this key; "" and patch_merge:
  bool patch_merge = false;          // ... a list of scalars that is united
  bool patch_retain_keys = false;    // strategic merge drops what $retainKeys does not name
};

}  // namespace amdahl::local
