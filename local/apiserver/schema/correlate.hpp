// Finding in the old object what a value of the new one was before. Inside this library only.
//
// Fields correlate by name, items of a list map by their keys; nothing else does. The rules are
// those of Kubernetes' validation ratcheting: an error in a value that did not change is forgiven.
#pragma once

#include <map>
#include <string>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

// Items of a list map, to be found by the keys of another item.
class ListMapIndex {
 public:
  ListMapIndex(const Schema& list, const Json* items);  // items: null or not a list makes it empty
  const Json* find(const Json& item) const;             // null: no item has these keys

 private:
  const Schema& list_;
  std::map<std::string, const Json*, std::less<>> by_key_ = {};
};

// What tells items of a list map apart, as text; items that are no objects have none.
std::optional<std::string> list_map_key(const Schema& list, const Json& item);

// Whether nothing changed, as far as `schema` knows the fields: an unknown field makes it false.
bool unchanged(const Schema& schema, const Json& now, const Json& before);

}  // namespace amdahl::local
