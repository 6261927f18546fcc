// Which node a single pod gets, and what it is told when there is none.
#include "local/scheduler/fit.hpp"

#include <functional>

#include "local/scheduler/test_world.hpp"

namespace amdahl::local::scheduling {
namespace {

using kube::Requirement;
using kube::SelectorOperator;

NodeTerm label_is(std::string key, std::string value) {
  return {.labels = {
              {.key = std::move(key), .op = SelectorOperator::kIn, .values = {std::move(value)}}}};
}

// Three nodes: a and b with GPUs in zones east and west, c with cpu only.
ClusterView three_nodes() {
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

void check(const Row& row) {
  INFO(row.what);
  ClusterView world = three_nodes();
  PodView asks = pod("p", {{kGpu, 1}});
  row.change(world, asks);
  world.pods.push_back(asks);
  const Plan plan = settle(world);
  CHECK(bound(plan) == (row.node.empty() ? "" : "p=" + row.node));
  CHECK(message_for(plan, "p") == row.message);
}

TEST_CASE("A pod goes to a node that has what it asks for, the tightest first") {
  const std::vector<Row> rows = {
      {"the tighter of two", [](auto&, auto&) {}, "a", ""},
      {"all of a node", [](auto&, auto& p) { p.requests = {{kGpu, 4}}; }, "b", ""},
      {"more than any node has", [](auto&, auto& p) { p.requests = {{kGpu, 5}}; }, "",
       "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."},
      {"nothing at all: the fullest by number of pods, then the name",
       [](auto&, auto& p) { p.requests = {}; }, "a", ""},
      {"two resources short on one node are two reasons",
       [](auto&, auto& p) { p.requests = {{kGpu, 3}, {"cpu", 64'001}}; }, "",
       "0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 3 Insufficient cpu."},
      {"a resource nobody has", [](auto&, auto& p) { p.requests = {{"example.com/fpga", 1}}; }, "",
       "0/3 nodes are available: 3 Insufficient example.com/fpga."},
      {"no nodes", [](auto& w, auto&) { w.nodes.clear(); }, "",
       "no nodes available to schedule pods"},
      {"what others hold counts, finished ones do not",
       [](auto& w, auto& p) {
         w.pods.push_back(pod("held", {{kGpu, 2}}));
         w.pods.back().node = "a";
         w.pods.push_back(pod("done", {{kGpu, 4}}));
         w.pods.back().node = "b";
         w.pods.back().phase = kube::PodPhase::kSucceeded;
         p.requests = {{kGpu, 2}};
       },
       "b", ""},
      {"one that is being deleted holds its place until it is gone",
       [](auto& w, auto& p) {
         w.nodes.resize(1);
         w.pods.push_back(pod("leaving", {{kGpu, 4}}));
         w.pods.back().node = "b";
         w.pods.back().deleting = true;
         p.requests = {{kGpu, 1}};
       },
       "", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."},
      {"a node full of pods",
       [](auto& w, auto& p) {
         for (auto& one : w.nodes) one.allocatable["pods"] = 0;
         p.requests = {};
       },
       "", "0/3 nodes are available: 3 Too many pods."},
      {"without a number of pods there is no limit",
       [](auto& w, auto&) { w.nodes[2].allocatable.erase("pods"); }, "a", ""},
      {"pods of other schedulers are left alone", [](auto&, auto& p) { p.scheduler = "mine"; }, "",
       ""},
      {"gates hold a pod back without a word", [](auto&, auto& p) { p.gated = true; }, "", ""},
      {"an amount beyond the bound",
       [](auto&, auto& p) { p.requests = {{"memory", std::numeric_limits<Amount>::max()}}; }, "",
       "0/3 nodes are available: 3 Insufficient memory."},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("Selectors, affinity and taints choose among nodes") {
  const std::string no_match =
      "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";
  const std::vector<Row> rows = {
      {"node selector", [](auto&, auto& p) { p.node_selector = {{"zone", "west"}}; }, "b", ""},
      {"no such label", [](auto&, auto& p) { p.node_selector = {{"zone", "north"}}; }, "",
       no_match},
      {"required affinity, one of two terms",
       [](auto&, auto& p) { p.node_terms = {{label_is("zone", "north"), label_is("gen", "5")}}; },
       "b", ""},
      {"required affinity without terms matches nothing",
       [](auto&, auto& p) { p.node_terms.emplace(); }, "", no_match},
      {"a term without requirements matches nothing",
       [](auto&, auto& p) { p.node_terms = {{NodeTerm{}}}; }, "", no_match},
      {"a broken requirement", [](auto&, auto& p) { p.node_terms = {{NodeTerm{.never = true}}}; },
       "", no_match},
      {"greater than",
       [](auto&, auto& p) {
         p.node_terms = {{NodeTerm{
             .labels = {{.key = "gen", .op = SelectorOperator::kGreater, .values = {"4"}}}}}};
       },
       "b", ""},
      {"by the name of the node",
       [](auto&, auto& p) {
         p.node_terms = {{NodeTerm{
             .fields = {{.key = "metadata.name", .op = SelectorOperator::kIn, .values = {"b"}}}}}};
       },
       "b", ""},
      {"preferred wins over tight",
       [](auto&, auto& p) { p.preferred_nodes = {{.weight = 10, .term = label_is("gen", "5")}}; },
       "b", ""},
      {"preferred does not make a node fit",
       [](auto&, auto& p) {
         p.preferred_nodes = {{.weight = 10, .term = label_is("zone", "north")}};
       },
       "a", ""},
      {"cordoned", [](auto& w, auto&) { w.nodes[2].unschedulable = true; }, "b", ""},
      {"a cordon that is tolerated",
       [](auto& w, auto& p) {
         w.nodes[2].unschedulable = true;
         p.tolerations = {{.key = "node.kubernetes.io/unschedulable", .op = "Exists"}};
       },
       "a", ""},
      {"not ready",
       [](auto& w, auto& p) {
         w.nodes[0].ready = w.nodes[2].ready = false;
         p.requests = {{kGpu, 1}};
       },
       "",
       "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint "
       "{node.kubernetes.io/not-ready: }."},
      {"tainted",
       [](auto& w, auto&) {
         w.nodes[2].taints = {{.key = "team", .value = "x", .effect = "NoSchedule"}};
         w.nodes[0].taints = {{.key = "team", .value = "y", .effect = "NoExecute"}};
       },
       "",
       "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint "
       "{team: x}, 1 node(s) had untolerated taint {team: y}."},
      {"tolerated by value",
       [](auto& w, auto& p) {
         w.nodes[2].taints = {{.key = "team", .value = "x", .effect = "NoSchedule"}};
         w.nodes[0].taints = {{.key = "team", .value = "y", .effect = "NoSchedule"}};
         p.tolerations = {{.key = "team", .value = "y", .effect = "NoSchedule"}};
       },
       "b", ""},
      {"another effect is not tolerated",
       [](auto& w, auto& p) {
         w.nodes[2].taints = {{.key = "team", .value = "x", .effect = "NoSchedule"}};
         p.tolerations = {{.key = "team", .value = "x", .effect = "NoExecute"}};
       },
       "b", ""},
      {"everything is tolerated",
       [](auto& w, auto& p) {
         w.nodes[2].taints = {{.key = "team", .value = "x", .effect = "NoSchedule"}};
         p.tolerations = {{.op = "Exists"}};
       },
       "a", ""},
      {"an empty key tolerates only with Exists",
       [](auto& w, auto& p) {
         w.nodes[2].taints = {{.key = "team", .value = "", .effect = "NoSchedule"}};
         p.tolerations = {{.op = "Equal"}};
       },
       "b", ""},
      {"PreferNoSchedule only dislikes",
       [](auto& w, auto&) {
         w.nodes[2].taints = {{.key = "team", .value = "x", .effect = "PreferNoSchedule"}};
       },
       "b", ""},
  };
  for (const Row& row : rows) check(row);
}

PodTerm near(std::string value, std::string topology_key) {
  return {.labels = {{.key = "app", .op = SelectorOperator::kIn, .values = {std::move(value)}}},
          .namespaces = {"ns"},
          .topology_key = std::move(topology_key)};
}

void add_neighbour(ClusterView& world, std::string app, std::string on) {
  PodView other = pod("other-" + app + on, {});
  other.labels = {{"app", app}};
  other.node = std::move(on);
  world.pods.push_back(std::move(other));
}

TEST_CASE("Pods stay together or apart as they ask") {
  const std::string alone = "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) ";
  const std::vector<Row> rows = {
      {"with a pod in the same zone",
       [](auto& w, auto& p) {
         add_neighbour(w, "x", "c");
         p.together = {near("x", "zone")};
       },
       "b", ""},
      {"on the same host, which needs no label",
       [](auto& w, auto& p) {
         add_neighbour(w, "x", "b");
         p.together = {near("x", "kubernetes.io/hostname")};
       },
       "b", ""},
      {"nobody to be with", [](auto&, auto& p) { p.together = {near("x", "zone")}; }, "",
       alone + "didn't match pod affinity rules."},
      {"the first of its kind may start",
       [](auto&, auto& p) {
         p.labels = {{"app", "x"}};
         p.together = {near("x", "zone")};
       },
       "a", ""},
      {"but not where the topology is unknown",
       [](auto&, auto& p) {
         p.labels = {{"app", "x"}};
         p.together = {near("x", "rack")};
       },
       "", alone + "didn't match pod affinity rules."},
      {"apart from a zone",
       [](auto& w, auto& p) {
         add_neighbour(w, "x", "a");
         p.apart = {near("x", "zone")};
       },
       "b", ""},
      {"apart from all",
       [](auto& w, auto& p) {
         add_neighbour(w, "x", "a");
         add_neighbour(w, "x", "b");
         p.apart = {near("x", "zone")};
       },
       "", alone + "didn't match pod anti-affinity rules."},
      {"others keep this one away",
       [](auto& w, auto& p) {
         for (const char* on : {"a", "b"}) {
           add_neighbour(w, "x", on);
           w.pods.back().apart = {near("p", "zone")};
         }
         p.labels = {{"app", "p"}};
       },
       "", alone + "didn't satisfy existing pods anti-affinity rules."},
      {"pods of another namespace do not count",
       [](auto& w, auto& p) {
         add_neighbour(w, "x", "a");
         w.pods.back().key.ns = "else";
         p.apart = {near("x", "zone")};
       },
       "a", ""},
      {"unless all namespaces are meant",
       [](auto& w, auto& p) {
         add_neighbour(w, "x", "a");
         w.pods.back().key.ns = "else";
         p.apart = {near("x", "zone")};
         p.apart[0].all_namespaces = true;
       },
       "b", ""},
      {"a selector of namespaces is refused, not ignored",
       [](auto&, auto& p) {
         p.apart = {near("x", "zone")};
         p.apart[0].unsupported = true;
       },
       "", alone + "not looked at: pod affinity by namespace labels is not supported."},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("A message has an end, however many reasons there are") {
  Unfit unfit;
  for (int i = 0; i < 100; ++i)
    unfit.add(fmt::format("node(s) had untolerated taint {{k{}: }}", i));
  const std::string text = unfit.message(100);
  CHECK(text.size() <= kMessageBytesMax);
  CHECK(text.ends_with("and 88 more reasons."));
}

}  // namespace
}  // namespace amdahl::local::scheduling
