// Selectors and affinity: which nodes a pod may go to, and beside whom.
#include <utility>

#include "local/scheduler/test_fit_rows.hpp"

namespace amdahl::local::scheduling {
namespace {

using kube::SelectorOperator;

NodeTerm label_is(std::string key, std::string value) {
  return {.labels = {
              {.key = std::move(key), .op = SelectorOperator::kIn, .values = {std::move(value)}}}};
}

TEST_CASE("Selectors and affinity choose among nodes") {
  const std::string no_match =
      "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";
  const std::vector<Row> rows = {
      {"node selector", [](auto&, auto& p) { p.node_selector = {{"zone", "west"}}; }, "b", ""},
      {"no such label", [](auto&, auto& p) { p.node_selector = {{"zone", "north"}}; }, "",
       no_match},
      {"required affinity, one of two terms",
       [](auto&, auto& p) {
         p.node_terms.emplace({label_is("zone", "north"), label_is("gen", "5")});
       },
       "b", ""},
      {"required affinity without terms matches nothing",
       [](auto&, auto& p) { p.node_terms.emplace(); }, "", no_match},
      {"a term without requirements matches nothing",
       [](auto&, auto& p) { p.node_terms.emplace({NodeTerm{}}); }, "", no_match},
      {"a broken requirement",
       [](auto&, auto& p) { p.node_terms.emplace({NodeTerm{.never = true}}); }, "", no_match},
      {"greater than",
       [](auto&, auto& p) {
         p.node_terms.emplace({NodeTerm{
             .labels = {{.key = "gen", .op = SelectorOperator::kGreater, .values = {"4"}}}}});
       },
       "b", ""},
      {"by the name of the node",
       [](auto&, auto& p) {
         p.node_terms.emplace({NodeTerm{
             .fields = {{.key = "metadata.name", .op = SelectorOperator::kIn, .values = {"b"}}}}});
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

TEST_CASE("Pods stay together as they ask") {
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
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("Pods stay apart as they ask, and as others ask of them") {
  const std::string alone = "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) ";
  const std::vector<Row> rows = {
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

}  // namespace
}  // namespace amdahl::local::scheduling
