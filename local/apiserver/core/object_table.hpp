// All objects, one increasing version, and the state of any resource at any version still known.
//
// A write takes effect at once and is queued for a journal; what readers may be shown is bounded by
// the version the journal has reported as durable. Thread: the server's. Failure: none; keys and
// versions that do not fit are bugs (AMDAHL_CHECK).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/function_ref.hpp"
#include "local/apiserver/core/history.hpp"
#include "local/apiserver/core/owner_graph.hpp"
#include "local/apiserver/core/stored_object.hpp"

namespace amdahl::local {

// One write as a journal keeps it.
struct Mutation {
  std::uint64_t version = 0;
  std::string storage = {};
  std::string key = {};
  ObjectPtr object = {};  // null: removed
};

struct PageQuery {
  std::string_view prefix = {};  // "" or "namespace/"
  std::string_view start = {};   // the first key that counts; "" for all
  std::uint64_t version = 0;     // the state at this version; readable()
  std::size_t limit = 0;         // 0: all
  bool count_rest = true;        // false: Page::remaining is not needed
};

struct Page {
  std::vector<ObjectPtr> items = {};
  std::string next = {};      // where the rest starts; "" when this was all
  std::size_t remaining = 0;  // keys from `next` on, whether they match or not
};

class ObjectTable {
 public:
  using Objects = std::map<std::string, ObjectPtr, std::less<>>;
  using Filter = function_ref<bool(const StoredObject&)>;

  explicit ObjectTable(HistoryLimits limits) : history_(limits) {}

  ResourceId resource(std::string_view storage);  // made when it is new
  const std::string& storage(ResourceId id) const { return storages_[id]; }
  std::size_t resources() const { return storages_.size(); }

  std::uint64_t version() const { return version_; }
  std::uint64_t durable() const { return durable_; }
  ObjectPtr get(ResourceId id, std::string_view key) const;
  const Objects& objects(ResourceId id) const { return objects_[id]; }
  const History& history() const { return history_; }
  OwnerGraph& owners() { return owners_; }
  const OwnerGraph& owners() const { return owners_; }

  // The object's version is version() + 1.
  void put(ResourceId id, const ObjectPtr& object);
  // `last` is the final state with version() + 1.
  void remove(ResourceId id, const ObjectPtr& last);

  bool readable(ResourceId id, std::uint64_t version) const {
    return version <= version_ && history_.readable(id, version);
  }
  Page page(ResourceId id, const PageQuery& query, Filter matches) const;

  std::vector<Mutation> take_mutations();
  void committed(std::uint64_t version);
  void restore(ResourceId id, const ObjectPtr& object);
  void restored(std::uint64_t last_version);  // after the last restore()
  void compact(std::uint64_t version) { history_.drop_through(version); }

 private:
  using Overlay = std::map<std::string_view, const StoredObject*>;
  Overlay changed_since(ResourceId id, const PageQuery& query) const;

  std::unordered_map<std::string, ResourceId> ids_;
  std::vector<std::string> storages_;  // by ResourceId
  std::vector<Objects> objects_;       // by ResourceId
  History history_;
  OwnerGraph owners_;
  std::vector<Mutation> mutations_;
  std::uint64_t version_ = 0;
  std::uint64_t durable_ = 0;
};

}  // namespace amdahl::local
