#include "operator/kube/types.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "base/json_decode.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/wire_envelope.hpp"

namespace amdahl::kube {
namespace {

// Written by Kubernetes' own serializers: testdata/make_fixtures.go.
std::string fixture(const std::string& file) {
  std::ifstream stream("operator/kube/testdata/" + file, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class T>
T from_json(const std::string& name) {
  auto decoded = decode<T>(fixture(name + ".json"));
  INFO(name << ": " << (decoded ? "" : decoded.error().context));
  REQUIRE(decoded);
  return std::move(*decoded);
}

template <class T>
T from_wire(const std::string& name) {
  const std::string bytes = fixture(name + ".pb");
  const auto object = unwrap_object(bytes);
  REQUIRE(object);
  auto decoded = decode_wire<T>(object->raw);
  INFO(name << ": " << (decoded ? "" : decoded.error().context));
  REQUIRE(decoded);
  return std::move(*decoded);
}

WallTime at(std::int64_t seconds) {
  return WallTime{std::chrono::seconds(1'700'000'000 + seconds)};
}
WallTime micro_at(std::int64_t seconds) {
  return at(seconds) + std::chrono::microseconds(123'456);
}

TEST_CASE("Every kind is the same read from JSON and from protobuf", "[C9][L15]") {
  CHECK(from_json<Pod>("pod") == from_wire<Pod>("pod"));
  CHECK(from_json<Node>("node") == from_wire<Node>("node"));
  CHECK(from_json<Namespace>("namespace") == from_wire<Namespace>("namespace"));
  CHECK(from_json<ConfigMap>("configmap") == from_wire<ConfigMap>("configmap"));
  CHECK(from_json<Service>("service") == from_wire<Service>("service"));
  CHECK(from_json<Lease>("lease") == from_wire<Lease>("lease"));
  CHECK(from_json<Event>("event") == from_wire<Event>("event"));
  CHECK(from_json<Status>("status") == from_wire<Status>("status"));
}

TEST_CASE("Pod keeps identity, place, phase and how each container ended", "[L15]") {
  const Pod pod = from_wire<Pod>("pod");
  CHECK(pod.metadata.key() == ObjectKey{"research", "llama-1-0"});
  CHECK(pod.metadata.uid == "8e1c2c0e-7d5a-4c5e-9a52-0a5e3a1f0001");
  CHECK(pod.metadata.version == "123456");
  CHECK(pod.metadata.generation == 3);
  CHECK(pod.metadata.created == at(0));
  CHECK(pod.metadata.deleted == at(100));
  CHECK(pod.metadata.labels ==
        PackedMap{{"amdahl.dev/attempt", "1"}, {"amdahl.dev/job", "llama"}, {"tier", ""}});
  REQUIRE(controller_of(pod.metadata.owners) != nullptr);
  CHECK(*controller_of(pod.metadata.owners) ==
        OwnerReference{"amdahl.dev/v1alpha1", "TrainingJob", "llama", "u-1", true, true});
  CHECK(pod.spec == PodSpec{"gpu-7", "volcano", "high"});
  CHECK(pod.status.phase == PodPhase::kRunning);
  CHECK(pod.status.started == at(5));
  REQUIRE(pod.status.conditions.size() == 3);
  CHECK(pod.status.conditions[1].type == PodConditionType::kReady);
  CHECK(pod.status.conditions[1].status == ConditionStatus::kFalse);
  CHECK(pod.status.conditions[1].reason == "ContainersNotReady");
  CHECK(pod.status.conditions[2].type == PodConditionType::kOther);
  CHECK_FALSE(pod.status.conditions[2].changed);
  REQUIRE(pod.status.containers.size() == 2);
  const ContainerStatus& trainer = pod.status.containers[0];
  CHECK(trainer.ready);
  CHECK(trainer.restarts == 2);
  CHECK(trainer.state.running->started == at(8));
  CHECK(*trainer.last_state.terminated ==
        ContainerTerminated{-1, 9, "OOMKilled", "last words", at(5), at(7)});
  CHECK(pod.status.containers[1].state.waiting->reason == "ImagePullBackOff");
  CHECK(pod.status.init_containers[0].state.terminated->exit_code == 0);
}

TEST_CASE("Node, Service, Lease, Event and Status are read in full", "[L15]") {
  const Node node = from_wire<Node>("node");
  CHECK(node.spec.unschedulable);
  CHECK(node.spec.taints == std::vector<Taint>{{"nvidia.com/gpu", "present", "NoSchedule"}});
  CHECK(node.status.allocatable.at("nvidia.com/gpu") == Quantity::from_integer(8));
  CHECK(node.status.allocatable.at("cpu").to_string() == "207500m");
  CHECK(node.status.conditions[0].status == ConditionStatus::kTrue);
  const Service service = from_wire<Service>("service");
  CHECK(service.spec.cluster_ip == "None");
  CHECK(service.spec.ports[0].target == IntOrString{29500});
  CHECK(service.spec.ports[1].target == IntOrString{"http"});
  const Lease lease = from_wire<Lease>("lease");
  CHECK(lease.spec == LeaseSpec{"a_1", 15, micro_at(1), micro_at(2), 4});
  const Event event = from_wire<Event>("event");
  CHECK(event.time == micro_at(3));
  CHECK(*event.series == EventSeries{12, micro_at(4)});
  CHECK(event.regarding.name == "llama");
  CHECK(event.note == "rank 1 failed");
  const Status status = from_wire<Status>("status");
  CHECK(status.reason == "AlreadyExists");
  CHECK(status.code == 409);
  CHECK(status.details.retry_after_seconds == 3);
  CHECK(status.details.causes == std::vector<StatusCause>{{"FieldValueInvalid", "bad", "spec.x"}});
}

TEST_CASE("A manifest carries its apiVersion and kind and reads back as it was", "[C9]") {
  const auto check = [](const auto& object, std::string_view api_version) {
    const Json manifest = to_manifest(object);
    CHECK(manifest["apiVersion"] == std::string(api_version));
    const auto back = decode<std::remove_cvref_t<decltype(object)>>(manifest.dump());
    REQUIRE(back);
    CHECK(*back == object);
  };
  check(from_json<Lease>("lease"), "coordination.k8s.io/v1");
  check(from_json<Event>("event"), "events.k8s.io/v1");
  check(from_json<ConfigMap>("configmap"), "v1");
  check(from_json<Service>("service"), "v1");
  check(from_json<Node>("node"), "v1");
  CHECK(to_manifest(from_json<Lease>("lease"))["spec"]["renewTime"] ==
        "2023-11-14T22:13:22.123456Z");
}

TEST_CASE("Reviews are written as questions and read as answers") {
  const SelfSubjectAccessReview ask{
      .spec = {.resource =
                   ResourceAttributes{.ns = "research", .verb = "create", .resource = "pods"}}};
  CHECK(
      to_manifest(ask).dump() ==
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"namespace":"research","resource":"pods","verb":"create"}}})");
  const auto access = decode<SubjectAccessReview>(
      R"({"metadata":{"creationTimestamp":null},"spec":{"user":"u","groups":["g"],"extra":{"k":["v"]}},"status":{"allowed":true,"reason":"RBAC"}})");
  REQUIRE(access);
  CHECK(access->status.allowed);
  CHECK(access->spec.extra.at("k") == std::vector<std::string>{"v"});
  const auto token = decode<TokenReview>(
      R"({"spec":{"token":"t"},"status":{"authenticated":true,"user":{"username":"system:serviceaccount:r:s","uid":"1","extra":{"authentication.kubernetes.io/pod-name":["p"]}},"audiences":["amdahl"]}})");
  REQUIRE(token);
  CHECK(token->status.authenticated);
  CHECK(token->status.user.extra.at("authentication.kubernetes.io/pod-name").front() == "p");
}

TEST_CASE("Discovery and PodGroup are read from JSON", "[C10]") {
  const auto groups = decode<ApiGroupList>(
      R"({"kind":"APIGroupList","groups":[{"name":"scheduling.volcano.sh","versions":[{"groupVersion":"scheduling.volcano.sh/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"scheduling.volcano.sh/v1beta1","version":"v1beta1"}}]})");
  REQUIRE(groups);
  CHECK(groups->groups[0].preferred.version == "v1beta1");
  const auto resources = decode<ApiResourceList>(
      R"({"groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"]}]})");
  REQUIRE(resources);
  CHECK(resources->resources[0].verbs.size() == 2);
  const auto group = decode<PodGroup>(
      R"({"metadata":{"name":"g"},"spec":{"minMember":2,"queue":"q","minResources":{"nvidia.com/gpu":"16"}},"status":{"phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True","transitionID":"x","reason":"NotEnoughResources"}]}})");
  REQUIRE(group);
  CHECK(group->spec.members_min == 2);
  CHECK(group->spec.resources_min.at("nvidia.com/gpu").value() == 16);
  CHECK(group->status.phase == PodGroupPhase::kInqueue);
  CHECK(group->status.conditions[0].status == ConditionStatus::kTrue);
}

TEST_CASE("Fixtures cut at every byte are refused or read, never more", "[C8]") {
  const std::string wire = fixture("pod.pb");
  for (std::size_t size = 0; size < wire.size(); ++size) {
    const auto object = unwrap_object(std::string_view(wire).substr(0, size));
    if (!object) continue;
    const auto pod = decode_wire<Pod>(object->raw);
    if (!pod) CHECK_FALSE(pod.error().context.empty());
  }
  const std::string json = fixture("pod.json");
  JsonReader reader;
  for (std::size_t size = 0; size + 2 < json.size(); ++size)
    CHECK_FALSE(decode<Pod>(reader, std::string_view(json).substr(0, size)));
}

}  // namespace
}  // namespace amdahl::kube
