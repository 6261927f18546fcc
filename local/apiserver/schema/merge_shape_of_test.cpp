#include "local/apiserver/schema/merge_shape_of.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/schema/training_job_fixture.hpp"

namespace amdahl::local {

TEST_CASE("merge_shape_of tells how each place of a TrainingJob merges") {
  const MergeShapePtr root = merge_shape_of(*training_job_schema());
  REQUIRE(root != nullptr);
  CHECK(root->kind == MergeKind::kObject);
  const MergeShape& spec = *root->fields.at("spec");
  CHECK(spec.kind == MergeKind::kObject);
  CHECK(spec.fields.at("nodes")->kind == MergeKind::kScalar);
  CHECK(spec.fields.at("port")->kind == MergeKind::kScalar);
  CHECK(spec.fields.at("template")->kind == MergeKind::kObject);
  CHECK(spec.fields.at("labels")->kind == MergeKind::kObject);
  CHECK(spec.fields.at("labels")->item->kind == MergeKind::kScalar);
  CHECK(spec.fields.at("zones")->kind == MergeKind::kSetList);
  const MergeShape& volumes = *spec.fields.at("volumes");
  CHECK(volumes.kind == MergeKind::kMapList);
  CHECK(volumes.keys == std::vector<std::string>{"name", "protocol"});
  CHECK(volumes.key_defaults.at("protocol") == "TCP");
  CHECK_FALSE(volumes.key_defaults.contains("name"));
  CHECK(volumes.item->fields.at("size")->kind == MergeKind::kScalar);
}

TEST_CASE("merge_shape_of gives metadata its own shape") {
  const MergeShapePtr root = merge_shape_of(*training_job_schema());
  const MergeShape& meta = *root->fields.at("metadata");
  CHECK(meta.fields.at("labels")->kind == MergeKind::kObject);
  CHECK(meta.fields.at("finalizers")->kind == MergeKind::kSetList);
  CHECK(meta.fields.at("ownerReferences")->keys == std::vector<std::string>{"uid"});
  CHECK(merge_shape_of(*training_job_schema(), false)->fields.at("metadata")->fields.empty());
}

TEST_CASE("Lists are atomic and maps granular unless the schema says otherwise") {
  const MergeShapePtr root = merge_shape_of(*schema_with(R"({"type": "object", "properties": {
    "plain": {"type": "array", "items": {"type": "string"}},
    "atomic": {"type": "object", "x-kubernetes-map-type": "atomic",
               "properties": {"a": {"type": "string"}}},
    "granular": {"type": "object", "x-kubernetes-map-type": "granular",
                 "additionalProperties": {"type": "string"}}}})"));
  const MergeShape& x = *root->fields.at("spec")->fields.at("x");
  CHECK(x.fields.at("plain")->kind == MergeKind::kAtomic);
  CHECK(x.fields.at("atomic")->kind == MergeKind::kAtomic);
  CHECK(x.fields.at("granular")->kind == MergeKind::kObject);
}

TEST_CASE("An object has no other fields unless the schema keeps what it does not know") {
  const MergeShapePtr root = merge_shape_of(*schema_with(R"({"type": "object", "properties": {
    "plain": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "free": {"type": "object"},
    "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "keeps": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
              "below": {"type": "object", "properties": {"a": {"type": "string"}}}}}}})"));
  CHECK(root->closed);
  CHECK(root->fields.at("metadata")->closed);
  const MergeShape& managed = *root->fields.at("metadata")->fields.at("managedFields");
  CHECK(managed.item->closed);
  CHECK(managed.item->fields.at("manager")->scalar == ScalarType::kText);
  const MergeShape& x = *root->fields.at("spec")->fields.at("x");
  CHECK(x.closed);
  CHECK(x.fields.at("plain")->closed);
  CHECK(x.fields.at("plain")->fields.at("a")->scalar == ScalarType::kNumber);
  CHECK_FALSE(x.fields.at("free")->closed);
  CHECK_FALSE(x.fields.at("map")->closed);
  CHECK(x.fields.at("map")->item->scalar == ScalarType::kFlag);
  CHECK_FALSE(x.fields.at("keeps")->closed);
  CHECK_FALSE(x.fields.at("keeps")->fields.at("below")->closed);
  CHECK(x.fields.at("keeps")->fields.at("below")->fields.at("a")->scalar == ScalarType::kText);
}

}  // namespace amdahl::local
