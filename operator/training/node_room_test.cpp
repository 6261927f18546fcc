#include "operator/training/node_room.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"

namespace amdahl::training {
namespace {

NodePtr node(const char* text) {
  return std::make_shared<kube::Node>(*decode<kube::Node>(text));
}

constexpr const char* kReady = R"("conditions":[{"type":"Ready","status":"True"}])";

NodePtr plain(const std::string& name, const std::string& spec = "{}",
              const std::string& labels = "{}") {
  return node((R"({"metadata":{"name":")" + name + R"(","resourceVersion":"1","labels":)" + labels +
               R"(},"spec":)" + spec +
               R"(,"status":{"allocatable":{"cpu":"64","nvidia.com/gpu":"8"},)" + kReady + "}}")
                  .c_str());
}

std::vector<std::string> usable(const char* pod_template, const NodesSeen& seen) {
  std::vector<std::string> names;
  for (const NodeRoom& room : rooms_for(Json::parse(pod_template), seen))
    if (room.schedulable) names.push_back(room.name);
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("Room on nodes: what our own pods hold is taken off, and only of GPUs") {
  const NodesSeen seen{.nodes = {plain("a"), plain("b")}, .gpus_held = {{"b", 6}, {"gone", 1}}};
  const auto rooms = rooms_for(Json::parse(R"({"spec":{}})"), seen);
  REQUIRE(rooms.size() == 2);
  CHECK(rooms[0].free.at("nvidia.com/gpu").value() == 8);
  CHECK(rooms[1].free.at("nvidia.com/gpu").value() == 2);
  CHECK(rooms[1].free.at("cpu").value() == 64);
}

TEST_CASE("Room on nodes: cordoned, not ready, tainted and unselected ones are not usable") {
  const NodesSeen seen{
      .nodes = {
          plain("a"), plain("cordoned", R"({"unschedulable":true})"),
          plain("tainted", R"({"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]})"),
          plain("preferred", R"({"taints":[{"key":"x","effect":"PreferNoSchedule"}]})"),
          plain("zone", "{}", R"({"zone":"z1"})"),
          node(R"({"metadata":{"name":"silent","resourceVersion":"1"},"status":{}})")}};
  CHECK(usable(R"({"spec":{}})", seen) == Names{"a", "preferred", "zone"});
  CHECK(usable(R"({"spec":{"nodeSelector":{"zone":"z1"}}})", seen) == Names{"zone"});
  CHECK(usable(R"({"spec":{"tolerations":[{"key":"gpu","operator":"Exists"}]}})", seen) ==
        Names{"a", "tainted", "preferred", "zone"});
  CHECK(usable(R"({"spec":{"tolerations":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]}})",
               seen) == Names{"a", "tainted", "preferred", "zone"});
  CHECK(usable(R"({"spec":{"tolerations":[{"key":"gpu","value":"no"}]}})", seen) ==
        Names{"a", "preferred", "zone"});
  CHECK(usable(R"({"spec":{"tolerations":[{"operator":"Exists"}]}})", seen) ==
        Names{"a", "tainted", "preferred", "zone"});
  CHECK(usable(R"({"spec":{"tolerations":7,"nodeSelector":"x"}})", seen) ==
        Names{"a", "preferred", "zone"});
}

std::string with_terms(const std::string& terms) {
  return R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
         R"({"nodeSelectorTerms":)" +
         terms + "}}}}}";
}

struct AffinityRow {
  const char* terms;
  Names usable;
};

TEST_CASE("Room on nodes: required node affinity", "[D10]") {
  const NodesSeen seen{.nodes = {plain("a", "{}", R"({"gpu":"a100","rank":"3"})"),
                                 plain("b", "{}", R"({"gpu":"h100","rank":"12"})"), plain("c")}};
  const Names all{"a", "b", "c"};
  const std::vector<AffinityRow> rows = {
      {R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["h100","b200"]}]}])", {"b"}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["b200"]}]}])", {}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"NotIn","values":["a100"]}]}])",
       {"b", "c"}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"}]}])", {"a", "b"}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"DoesNotExist"}]}])", {"c"}},
      {R"([{"matchExpressions":[{"key":"rank","operator":"Gt","values":["3"]}]}])", {"b"}},
      {R"([{"matchExpressions":[{"key":"rank","operator":"Lt","values":["12"]}]}])", {"a"}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"Gt","values":["3"]}]}])", {}},
      {R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["c"]}]}])", {"c"}},
      {R"([{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["c"]}]}])",
       {"a", "b"}},
      // All of a term, any of the terms.
      {R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"},
                                {"key":"rank","operator":"Gt","values":["5"]}]}])",
       {"b"}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"In","values":["a100"]}]},
           {"matchFields":[{"key":"metadata.name","operator":"In","values":["c"]}]}])",
       {"a", "c"}},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"}],
            "matchFields":[{"key":"metadata.name","operator":"In","values":["c"]}]}])",
       {}},
      {R"([{}])", {}},
      // What is not understood keeps no node out.
      {"[]", all},
      {"7", all},
      {R"(["x"])", all},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"Near","values":["h100"]}]}])", all},
      {R"([{"matchExpressions":[{"key":"gpu","operator":"In"}]}])", all},
      {R"([{"matchExpressions":[{"key":5,"operator":"In","values":["h100"]}]}])", all},
      {R"([{"matchExpressions":[{"key":"rank","operator":"Gt","values":["many"]}]}])", all},
      {R"([{"matchExpressions":[{"key":"rank","operator":"Gt","values":[5]}]}])", all},
      {R"([{"matchExpressions":[7]}])", all},
      {R"([{"matchFields":[{"key":"spec.x","operator":"In","values":["c"]}]}])", all},
  };
  for (const AffinityRow& row : rows) {
    CAPTURE(row.terms);
    CHECK(usable(with_terms(row.terms).c_str(), seen) == row.usable);
  }
  CHECK(usable(R"({"spec":{"affinity":7}})", seen) == all);
  // What will never fit, and not only does not now.
  const auto rooms = rooms_for(
      Json::parse(with_terms(R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"}]}])")),
      seen);
  CHECK(rooms[0].suitable);
  CHECK_FALSE(rooms[2].suitable);
}

}  // namespace
}  // namespace amdahl::training
