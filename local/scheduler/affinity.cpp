// Node selectors and affinity, and the affinity of pods to each other.
#include <algorithm>

#include "local/scheduler/fit.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr std::string_view kHostName = "kubernetes.io/hostname";

bool all_match(const std::vector<kube::Requirement>& requirements, const PackedMap& labels) {
  return std::ranges::all_of(requirements, [&](const auto& one) { return one.matches(labels); });
}

bool term_matches(const NodeTerm& term, const NodeView& node) {
  if (term.never || (term.labels.empty() && term.fields.empty())) return false;
  if (!all_match(term.labels, node.labels)) return false;
  return term.fields.empty() || all_match(term.fields, PackedMap{{"metadata.name", node.name}});
}

// A node is its own host, also when nobody labelled it so.
std::optional<std::string_view> topology_of(const NodeView& node, std::string_view key) {
  const auto value = node.labels.find(key);
  return value || key != kHostName ? value : std::string_view(node.name);
}

bool chooses(const PodTerm& term, const PodView& pod) {
  if (term.never || term.unsupported) return false;
  if (!term.all_namespaces &&
      std::ranges::find(term.namespaces, pod.key.ns) == term.namespaces.end())
    return false;
  return all_match(term.labels, pod.labels);
}

bool refuse(Unfit* unfit, std::string_view reason) {
  if (unfit != nullptr) unfit->add(std::string(reason));
  return false;
}

}  // namespace

bool matches_node(const PodView& pod, const NodeView& node, Unfit* unfit) {
  const bool selected = std::ranges::all_of(pod.node_selector, [&](const auto& entry) {
    return node.labels.find(entry.first) == entry.second;
  });
  const bool chosen =
      !pod.node_terms || std::ranges::any_of(*pod.node_terms, [&](const NodeTerm& term) {
        return term_matches(term, node);
      });
  return (selected && chosen) || refuse(unfit, "node(s) didn't match Pod's node affinity/selector");
}

std::int64_t preference(const PodView& pod, const NodeView& node) {
  std::int64_t sum = 0;
  for (const PreferredNode& wish : pod.preferred_nodes)
    if (term_matches(wish.term, node)) sum += wish.weight;
  return sum;
}

bool Neighbours::Domains::contains(const NodeView& node) const {
  const auto value = topology_of(node, key);
  return value && std::ranges::binary_search(values, *value);
}

Neighbours::Domains Neighbours::domains_with(const Board& board, const PodTerm& term) {
  Domains domains{.key = term.topology_key};
  for (const NodeRow& node : board.nodes) {
    const auto value = topology_of(*node.view, term.topology_key);
    if (!value) continue;
    const bool present = std::ranges::any_of(
        node.pods, [&](Index pod) { return chooses(term, *board.pods[pod].view); });
    if (present) domains.values.push_back(*value);
  }
  std::ranges::sort(domains.values);
  return domains;
}

Neighbours::Neighbours(const Board& board, const PodRow& pod) : pod_(*pod.view) {
  const auto unsupported = [](const PodTerm& term) { return term.unsupported; };
  unsupported_ = std::ranges::any_of(pod_.together, unsupported) ||
                 std::ranges::any_of(pod_.apart, unsupported);
  for (const PodTerm& term : pod_.together) together_.push_back(domains_with(board, term));
  for (const PodTerm& term : pod_.apart) apart_.push_back(domains_with(board, term));
  // The first of pods that want to be with their like has nobody to go to, and may go anywhere.
  first_of_its_kind_ =
      std::ranges::all_of(together_, [](const Domains& one) { return one.values.empty(); }) &&
      std::ranges::all_of(pod_.together, [&](const PodTerm& term) { return chooses(term, pod_); });
  for (const Index other : board.keep_apart) {
    const PodRow& row = board.pods[other];
    if (row.node == kNoIndex) continue;
    for (const PodTerm& term : row.view->apart) {
      const auto value = topology_of(*board.nodes[row.node].view, term.topology_key);
      if (value && chooses(term, pod_)) forbid(term.topology_key, *value);
    }
  }
  for (Domains& one : others_) std::ranges::sort(one.values);
}

void Neighbours::forbid(std::string_view key, std::string_view value) {
  auto place = std::ranges::find(others_, key, &Domains::key);
  if (place == others_.end()) place = others_.insert(place, {.key = key});
  place->values.push_back(value);
}

bool Neighbours::allows(const NodeView& node, Unfit* unfit) const {
  if (unsupported_)
    return refuse(unfit,
                  "node(s) not looked at: pod affinity by namespace labels is not supported");
  const auto has_key = [&](const Domains& one) { return topology_of(node, one.key).has_value(); };
  const auto inside = [&](const Domains& one) { return one.contains(node); };
  const bool together = std::ranges::all_of(together_, inside) ||
                        (first_of_its_kind_ && std::ranges::all_of(together_, has_key));
  if (!together) return refuse(unfit, "node(s) didn't match pod affinity rules");
  if (std::ranges::any_of(apart_, inside))
    return refuse(unfit, "node(s) didn't match pod anti-affinity rules");
  if (std::ranges::any_of(others_, inside))
    return refuse(unfit, "node(s) didn't satisfy existing pods anti-affinity rules");
  return true;
}

}  // namespace amdahl::local::scheduling
