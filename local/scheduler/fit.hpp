// Whether a pod may go to a node, and in words why not. Internal to the pure part.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "local/scheduler/board.hpp"

namespace amdahl::local::scheduling {

// Reasons beyond these are counted together.
inline constexpr std::size_t kReasonsMax = 12;
inline constexpr std::size_t kMessageBytesMax = 1'024;

// How many nodes say no for which reason.
class Unfit {
 public:
  void add(std::string reason) { ++counts_[std::move(reason)]; }
  // "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."
  std::string message(std::size_t nodes) const;

 private:
  std::map<std::string, std::size_t> counts_;
};

// Each adds to `unfit`, which may be null, when the answer is no.
bool fits_resources(const Board& board, const PodRow& pod, const NodeRow& node, Unfit* unfit);
bool tolerates(const PodView& pod, const NodeView& node, Unfit* unfit);
bool matches_node(const PodView& pod, const NodeView& node, Unfit* unfit);

// Soft wishes: the sum of the weights of preferred terms, and taints that are only disliked.
std::int64_t preference(const PodView& pod, const NodeView& node);
std::int64_t disliked_taints(const PodView& pod, const NodeView& node);

// Which places the pods that are there leave to one pod: required affinity and anti-affinity, also
// that of the others against this one.
class Neighbours {
 public:
  Neighbours(const Board& board, const PodRow& pod);
  bool allows(const NodeView& node, Unfit* unfit) const;

 private:
  struct Domains {
    std::string_view key = {};
    std::vector<std::string_view> values = {};  // sorted
    bool contains(const NodeView& node) const;
  };
  static Domains domains_with(const Board& board, const PodTerm& term);
  void forbid(std::string_view key, std::string_view value);

  const PodView& pod_;
  std::vector<Domains> together_;
  std::vector<Domains> apart_;
  std::vector<Domains> others_;
  bool unsupported_ = false;
  bool first_of_its_kind_ = false;
};

// The best node for the pod; none: `why`, if given, says so in a sentence.
std::optional<Index> choose_node(const Board& board, const PodRow& pod, std::string* why);

}  // namespace amdahl::local::scheduling
