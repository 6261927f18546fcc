#include "local/scheduler/volcano_crds.hpp"

#include "local/scheduler/test_local_cluster.hpp"

namespace amdahl::local {
namespace {
using scheduling::cached::kQueues;

TEST_CASE("volcano_crds has PodGroup and Queue under Volcano's names") {
  const auto crds = volcano_crd_manifests();
  REQUIRE(crds.size() == 2);
  CHECK(crds[0]["metadata"]["name"] == "podgroups.scheduling.volcano.sh");
  CHECK(crds[0]["spec"]["names"]["shortNames"][0] == "pg");
  CHECK_FALSE(crds[0]["spec"]["versions"][0].contains("subresources"));
  CHECK(crds[1]["metadata"]["name"] == "queues.scheduling.volcano.sh");
  CHECK(crds[1]["spec"]["names"]["shortNames"][0] == "q");
  CHECK(crds[1]["spec"]["versions"][0]["subresources"].contains("status"));
  CHECK(crds[1]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
            ["properties"]["deserved"]["additionalProperties"]["x-kubernetes-int-or-string"] ==
        true);
}

Task<void> served(LocalCluster& cluster) {
  const Json group = co_await cluster.create(
      kube::kPodGroups, {{"metadata", {{"name", "g"}, {"namespace", "ns"}}},
                         {"spec",
                          {{"minMember", 2},
                           {"minTaskMember", {{"head", 1}}},
                           {"minResources", {{"nvidia.com/gpu", 2}, {"memory", "1Gi"}}},
                           {"networkTopology", {{"mode", "soft"}, {"highestTierAllowed", 2}}}}}});
  CHECK(group["spec"]["queue"] == "default");
  const kube::DynamicApi groups(*cluster.admin, kube::kPodGroups);
  const Json wrong{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                   {"kind", "PodGroup"},
                   {"metadata", {{"name", "bad"}, {"namespace", "ns"}}},
                   {"spec", {{"minMember", "two"}}}};
  const auto refused = co_await groups.create(wrong);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kInvalid);
  const Json queue = co_await cluster.get(kQueues, {.ns = "", .name = "default"});
  CHECK(queue["spec"]["weight"] == 1);
  auto request = kube::list_request(kube::kPodGroups, {.ns = "ns"});
  request->headers = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  const auto table = co_await cluster.admin->send(*std::move(request));
  REQUIRE(table);
  std::string columns;
  for (const Json& column : Json::parse(table->body)["columnDefinitions"])
    columns += column["name"].get<std::string>() + " ";
  CHECK(columns == "Name STATUS minMember RUNNINGS AGE QUEUE ");
}

TEST_CASE("The embedded API server serves Volcano's kinds") {
  LocalCluster cluster;
  cluster.run(served);
}

}  // namespace
}  // namespace amdahl::local
