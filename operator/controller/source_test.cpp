#include "operator/controller/source.hpp"

#include <catch2/catch.hpp>

#include "operator/kube/types.hpp"

namespace amdahl::controller {
namespace {

TEST_CASE("The self-trigger guard looks at generation, labels, finalizers and deletion", "[Q7]") {
  kube::ConfigMap before;
  before.metadata.generation = 3;
  before.metadata.version = "10";
  const auto changed = [&](auto change) {
    kube::ConfigMap now = before;
    now.metadata.version = "11";
    change(now.metadata);
    return changed_for_reconcile(before, now);
  };
  CHECK_FALSE(changed([](kube::ObjectMeta&) {}));
  CHECK_FALSE(changed([](kube::ObjectMeta& meta) { meta.annotations = {{"a", "b"}}; }));
  CHECK(changed([](kube::ObjectMeta& meta) { meta.generation = 4; }));
  CHECK(changed([](kube::ObjectMeta& meta) { meta.labels = {{"a", "b"}}; }));
  CHECK(changed([](kube::ObjectMeta& meta) { meta.finalizers = {"x/y"}; }));
  CHECK(changed([](kube::ObjectMeta& meta) { meta.deleted = WallTime{}; }));
  before.metadata.generation = 0;  // a kind that counts none
  CHECK(changed([](kube::ObjectMeta& meta) { meta.generation = 0; }));
}

TEST_CASE("The controller of an object is the one owner that says so", "[W9]") {
  kube::Pod pod;
  CHECK_FALSE(controller_of(pod));
  pod.metadata.owners = {
      {.api_version = "v1", .kind = "Node", .name = "n", .uid = "1"},
      {.api_version = "batch/v1", .kind = "Job", .name = "j", .uid = "2", .controller = true}};
  CHECK(controller_of(pod) == Owner{.kind = "Job", .name = "j", .uid = "2"});
}

}  // namespace
}  // namespace amdahl::controller
