// Patch bodies of all four kinds. What applies stays within the depth bound; applying a merge patch
// or a configuration again changes nothing; FieldsV1 that is read is written in one form.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "local/apiserver/patch/apply.hpp"
#include "local/apiserver/patch/json_patch.hpp"
#include "local/apiserver/patch/merge_patch.hpp"
#include "local/apiserver/patch/strategic_merge.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace {

using amdahl::local::Json;

const Json& document() {
  static const Json stored = Json::parse(R"({"apiVersion":"x/v1","kind":"Thing",
      "metadata":{"name":"one","labels":{"a":"1"},"finalizers":["f","g"],"managedFields":[
        {"manager":"m","operation":"Apply","apiVersion":"x/v1","fieldsType":"FieldsV1",
         "fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}},"f:finalizers":{"v:\"f\"":{}}},
           "f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{
             "k:{\"name\":\"b\"}":{".":{},"f:name":{},"f:image":{}}}}}}}}]},
      "spec":{"replicas":1,"paused":false,"template":{"spec":{"containers":[
        {"name":"a","ports":[{"containerPort":80}]},{"name":"b","image":"x"}]}}}})");
  return stored;
}

const amdahl::local::MergeShape* shape() {
  static const amdahl::local::MergeShapePtr deployment = amdahl::local::test::deployment();
  return deployment.get();
}

void check_depth_of(const Json& value) {
  AMDAHL_CHECK(amdahl::local::depth_of(value) <= amdahl::local::kDepthMax);
}

void try_merge_patch(const Json& body) {
  const auto once = amdahl::local::apply_merge_patch(document(), body);
  if (!once) return;
  check_depth_of(*once);
  AMDAHL_CHECK(amdahl::local::apply_merge_patch(*once, body).value() == *once);
}

void try_strategic_merge(const Json& body) {
  const auto once = amdahl::local::apply_strategic_merge(document(), body, shape());
  if (once) check_depth_of(*once);
}

void try_apply(const Json& body, const amdahl::local::MergeShape* given) {
  using amdahl::WallTime;
  const amdahl::local::FieldRules rules{.shape = given};
  amdahl::local::FieldWriter writer{.manager = "m", .api_version = "x/v1"};
  writer.now = WallTime{std::chrono::seconds{1}};
  const auto once = amdahl::local::server_side_apply(rules, writer, &document(), body, true);
  if (!once) return;
  writer.now = WallTime{std::chrono::seconds{2}};
  const auto twice = amdahl::local::server_side_apply(rules, writer, &once->object, body, false);
  AMDAHL_CHECK(twice.has_value() && !twice->conflict);
  AMDAHL_CHECK(twice->object == once->object);
}

void try_fields(const Json& body) {
  const auto set = amdahl::local::FieldSet::from_fields_v1(body);
  if (!set) return;
  const auto again = amdahl::local::FieldSet::from_fields_v1(set->to_fields_v1());
  AMDAHL_CHECK(again.has_value() && *again == *set);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Json body = Json::parse(text.begin(), text.end(), nullptr, false);
  if (body.is_discarded()) return 0;
  const auto patched = amdahl::local::apply_json_patch(document(), body);
  if (patched) check_depth_of(*patched);
  try_merge_patch(body);
  try_strategic_merge(body);
  try_apply(body, shape());
  try_apply(body, nullptr);
  try_fields(body);
  const amdahl::local::FieldWriter writer{.manager = "u", .api_version = "x/v1"};
  Json written = body;
  const auto tracked =
      amdahl::local::track_update({.shape = shape()}, writer, &document(), written);
  AMDAHL_CHECK(tracked.has_value() || !body.is_object() ||
               amdahl::local::depth_of(body) > amdahl::local::kDepthMax);
  return 0;
}
