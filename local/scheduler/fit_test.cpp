// Resources and taints: which node a single pod gets, and what it is told when there is none.
#include "local/scheduler/fit.hpp"

#include <limits>

#include "local/scheduler/test_fit_rows.hpp"

namespace amdahl::local::scheduling {
namespace {

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

TEST_CASE("Cordons and taints keep pods away that do not tolerate them") {
  const std::vector<Row> rows = {
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
