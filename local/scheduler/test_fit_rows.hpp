// One pod before three nodes: where it goes, or what it is told.
#pragma once

#include <functional>

#include "local/scheduler/test_world.hpp"

namespace amdahl::local::scheduling {

// Three nodes: a and b with GPUs in zones east and west, c with cpu only.
inline ClusterView three_nodes() {
  ClusterView world;
  world.nodes = {node("b", 4), node("c", 0, 8'000), node("a", 2)};
  world.nodes[0].labels = {{"zone", "west"}, {"gen", "5"}};
  world.nodes[1].labels = {{"zone", "west"}};
  world.nodes[2].labels = {{"zone", "east"}, {"gen", "3"}};
  return world;
}

struct Row {
  const char* what;
  std::function<void(ClusterView&, PodView&)> change;
  std::string node;     // empty: none
  std::string message;  // when there is none
};

inline void check(const Row& row) {
  INFO(row.what);
  ClusterView world = three_nodes();
  PodView asks = pod("p", {{kGpu, 1}});
  row.change(world, asks);
  world.pods.push_back(asks);
  const Plan plan = settle(world);
  CHECK(bound(plan) == (row.node.empty() ? "" : "p=" + row.node));
  CHECK(message_for(plan, "p") == row.message);
}

}  // namespace amdahl::local::scheduling
