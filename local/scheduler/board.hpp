// The cluster as a pass of the scheduler works on it: what is free where, who is already placed.
// Internal to the pure part of this folder.
//
// Everything is sorted by name, and resources are numbered, so that walking is fast and the same
// every time. Lifetime: the view outlives it. Failure: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/scheduler/cluster_view.hpp"

namespace amdahl::local::scheduling {

using Index = std::uint32_t;
inline constexpr Index kNoIndex = 0xffffffffU;

struct Want {
  Index resource = 0;
  Amount amount = 0;
};

struct NodeRow {
  const NodeView* view = nullptr;
  std::vector<Amount> total = {};  // by resource
  std::vector<Amount> free = {};   // may be below zero when somebody bound too much
  std::vector<Index> pods = {};    // those that hold something here
};

struct PodRow {
  const PodView* view = nullptr;
  std::vector<Want> wants = {};
  Index node = kNoIndex;   // where it is, or where this pass puts it; a lost node has no row
  Index group = kNoIndex;  // the row of its PodGroup
  Index queue = kNoIndex;  // what it is counted against
  bool planned = false;    // this pass put it there
  std::string why = {};    // of one that waits: what the last round found
};

struct QueueRow {
  std::string name = {};
  const QueueView* view = nullptr;  // null: it does not exist
  std::vector<std::optional<Amount>> limit = {};
  std::vector<Amount> allocated = {};
  std::vector<Amount> reserved = {};  // for groups that are let in and have nothing placed yet
  bool open() const;
  bool exists() const { return view != nullptr || name == kDefaultQueue; }
};

struct GroupRow {
  const GroupView* view = nullptr;
  std::vector<Index> members = {};
  std::vector<Want> resources_min = {};
  Index queue = kNoIndex;
  std::int32_t priority = 0;
  std::size_t holding = 0;  // members that hold a place
  bool admitted = false;    // Inqueue or beyond
  std::string reason = {};  // of one that waits: what the last round found
  std::string why = {};
};

class Board {
 public:
  explicit Board(const ClusterView& seen);

  // Takes from the node and the queue, and gives back again.
  void place(Index pod, Index node);
  void take_back(Index pod);
  void admit(Index group);  // counts its minResources as reserved until something is placed

  std::string_view resource_name(Index resource) const { return names_[resource]; }
  std::size_t resources() const { return names_.size(); }

  std::vector<NodeRow> nodes;
  std::vector<PodRow> pods;
  std::vector<GroupRow> groups;
  std::vector<QueueRow> queues;
  std::vector<Amount> total;      // of the nodes that are ready
  std::vector<Amount> used;       // of these
  std::vector<Amount> reserved;   // for groups that are let in and have nothing placed yet
  std::vector<Index> keep_apart;  // pods with required anti-affinity, placed or not

 private:
  void number_resources(const ClusterView& seen);
  void add_nodes(const ClusterView& seen);
  void add_queues(const ClusterView& seen);
  void add_groups(const ClusterView& seen);
  void add_pods(const ClusterView& seen);
  void place_bound_pods();
  void admit_known_groups();
  Index node_named(std::string_view name) const;
  std::vector<Want> wants_of(const Resources& resources) const;
  Index queue_named(const std::string& name);
  void count(Index pod, Index node, Amount sign);
  void reserve(const GroupRow& group, Amount sign);

  std::vector<std::string> names_;
  std::map<std::string, Index, std::less<>> queue_index_;
  std::map<ObjectKey, Index> group_index_;
};

bool is_served(const PodView& pod);    // by one of our two scheduler names
bool is_finished(const PodView& pod);  // Succeeded or Failed
bool is_bound(const PodRow& pod);      // by somebody, or by this pass
bool holds(const PodRow& pod);         // bound and not finished
// Served here, alive, without gates, not bound.
bool waits(const PodRow& pod);

}  // namespace amdahl::local::scheduling
