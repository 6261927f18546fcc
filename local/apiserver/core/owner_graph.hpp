// Who owns whom, by UID, and which objects the garbage collector has to look at.
//
// Kept by the ObjectTable with every write. Thread: the server's. Failure: none.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "local/apiserver/core/stored_object.hpp"

namespace amdahl::local {

using ResourceId = std::uint32_t;

struct ObjectPlace {
  ResourceId resource = 0;
  std::string key = {};
  bool operator==(const ObjectPlace&) const = default;
};

class OwnerGraph {
 public:
  void written(ResourceId resource, const StoredObject& now, const StoredObject* before);
  void removed(const StoredObject& last);

  std::optional<ObjectPlace> find(std::string_view uid) const;
  // UIDs of the objects that name this one as an owner.
  const std::set<std::string>& dependents(const std::string& uid) const;

  void touch(const std::string& uid);         // look at it (again)
  std::optional<std::string> take_touched();  // the oldest one
  bool idle() const { return queue_.empty(); }

 private:
  void link(const StoredObject& object);
  void unlink(const StoredObject& object);

  std::unordered_map<std::string, ObjectPlace> places_;
  std::unordered_map<std::string, std::set<std::string>> dependents_;
  std::deque<std::string> queue_;
  std::unordered_set<std::string> queued_;
};

}  // namespace amdahl::local
