// What happened, newest last, one queue for each resource, bounded over all of them.
//
// Watches hold only a version and search here, so a reader costs nothing. What falls out at the
// old end moves the resource's floor: state and events are known for versions >= floor. Thread:
// the server's. Failure: none; who asks below the floor is told so by `readable`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "local/apiserver/core/owner_graph.hpp"
#include "local/apiserver/core/stored_object.hpp"

namespace amdahl::local {

struct HistoryLimits {
  std::size_t events_max = 100'000;
  std::size_t bytes_max = std::size_t{128} << 20;
};

struct Event {
  std::uint64_t version = 0;
  ObjectPtr now = {};     // of a removal: the last state, with the removal's version
  ObjectPtr before = {};  // null: the object is new
  bool removed = false;
};

class History {
 public:
  explicit History(HistoryLimits limits) : limits_(limits) {}

  void add(ResourceId resource, Event event);
  // Nothing older than this is known of any resource: after a restart.
  void reset(std::uint64_t floor);
  void drop_through(std::uint64_t version);  // compaction by hand

  std::uint64_t floor(ResourceId resource) const;
  bool readable(ResourceId resource, std::uint64_t version) const {
    return version >= floor(resource);
  }
  // The first event after `version`; events from there on are contiguous in the queue.
  const std::deque<Event>& events(ResourceId resource) const;
  std::size_t first_after(ResourceId resource, std::uint64_t version) const;
  std::size_t size() const { return order_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Mark {
    std::uint64_t version = 0;
    ResourceId resource = 0;
    std::size_t bytes = 0;
  };
  struct Lane {
    std::deque<Event> events = {};
    std::uint64_t floor = 0;
  };
  void drop_oldest();

  HistoryLimits limits_;
  std::vector<Lane> lanes_;  // by ResourceId
  std::deque<Mark> order_;   // over all resources
  std::size_t bytes_ = 0;
  std::uint64_t floor_ = 0;  // of lanes that do not exist yet
};

}  // namespace amdahl::local
