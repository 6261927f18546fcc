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

}  // namespace
}  // namespace amdahl::training
