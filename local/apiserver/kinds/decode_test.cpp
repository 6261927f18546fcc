#include "local/apiserver/kinds/decode.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/kinds/recorded_test.hpp"
#include "local/apiserver/kinds/text_forms.hpp"

namespace amdahl::local {
namespace {

const TypeNode& type_of(const BuiltinSchemas& schemas, const char* group, const char* kind) {
  const TypeNode* type = schemas.type(group, "v1", kind);
  REQUIRE(type != nullptr);
  return *type;
}

// The texts are kube-apiserver 1.34.4's.
TEST_CASE("decode refuses wrong types in Go's words") {
  const BuiltinSchemas schemas;
  struct Row {
    const char* kind;
    const char* body;
    const char* error;
  };
  const Row rows[] = {
      {"Pod", R"({"spec": {"containers": "x"}})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {"Pod", R"({"spec": {"containers": {}}})",
       "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {"Pod", R"({"spec": {"containers": [{"name": 1}]}})",
       "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type "
       "string"},
      {"Pod", R"({"spec": {"containers": [{"args": [1]}]}})",
       "json: cannot unmarshal number into Go struct field Container.spec.containers.args of type "
       "string"},
      {"Pod", R"({"spec": {"hostNetwork": "x"}})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"},
      {"Pod", R"({"spec": {"priority": 1.5}})",
       "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type "
       "int32"},
      {"Pod", R"({"spec": {"priority": 99999999999}})",
       "json: cannot unmarshal number 99999999999 into Go struct field PodSpec.spec.priority of "
       "type int32"},
      {"Pod", R"({"spec": {"nodeSelector": {"a": 1}}})",
       "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeSelector of type "
       "string"},
      {"Pod", R"({"spec": {"nodeSelector": [1]}})",
       "json: cannot unmarshal array into Go struct field PodSpec.spec.nodeSelector of type "
       "map[string]string"},
      {"Pod", R"({"spec": {"affinity": 1}})",
       "json: cannot unmarshal number into Go struct field PodSpec.spec.affinity of type "
       "v1.Affinity"},
      {"Pod", R"({"metadata": {"creationTimestamp": "x"}})",
       R"(parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006")"},
      {"Pod", R"({"metadata": {"creationTimestamp": 1}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp "
       "of type string"},
      {"Pod", R"({"metadata": 1})",
       "json: cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta"},
      {"Pod", R"({"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}})",
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"Pod", R"({"spec": {"containers": [{"livenessProbe": {"httpGet": {"port": true}}}]}})",
       "json: cannot unmarshal bool into Go struct field "
       "HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32"},
      {"Secret", R"({"data": {"a": "%%"}})", "illegal base64 data at input byte 0"},
      {"Secret", R"({"data": {"a": "x"}})", "illegal base64 data at input byte 0"},
      {"Secret", R"({"data": {"a": "abcdefg"}})", "illegal base64 data at input byte 4"},
      {"Secret", R"({"data": {"a": 1}})",
       "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"},
      {"ConfigMap", "[1]", "json: cannot unmarshal array into Go value of type v1.ConfigMap"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    const auto decoded = decode(type_of(schemas, "", row.kind), Json::parse(row.body));
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().context == row.error);
  }
}

TEST_CASE("decode asks for microseconds where Kubernetes does") {
  const BuiltinSchemas schemas;
  const TypeNode& lease = type_of(schemas, "coordination.k8s.io", "Lease");
  const auto bad = decode(lease, Json::parse(R"({"spec": {"renewTime": "2026-01-01T00:00:00Z"}})"));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().context ==
        R"(parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot )"
        R"(parse "Z" as ".000000")");
  const auto good =
      decode(lease, Json::parse(R"({"spec": {"renewTime": "2026-01-01T01:00:00.500000+01:00"}})"));
  REQUIRE(good);
  CHECK(good->object["spec"]["renewTime"] == "2026-01-01T00:00:00.500000Z");
}

TEST_CASE("decode drops and names unknown fields") {
  const BuiltinSchemas schemas;
  const auto decoded = decode(type_of(schemas, "", "Pod"), Json::parse(R"({
      "metadata": {"name": "t", "foo": 1}, "x": 1,
      "spec": {"containers": [{"name": "x", "zz": 1, "env": [{"name": "A", "valu": "x"}]}]}})"));
  REQUIRE(decoded);
  CHECK(decoded->unknown_fields == std::vector<std::string>{"metadata.foo",
                                                            "spec.containers[0].env[0].valu",
                                                            "spec.containers[0].zz", "x"});
  CHECK_FALSE(decoded->object.contains("x"));
  CHECK_FALSE(decoded->object["metadata"].contains("foo"));
  CHECK(strict_error({"spec.foo", "x"}) ==
        R"(strict decoding error: unknown field "spec.foo", unknown field "x")");
}

TEST_CASE("decode writes values in the server's form") {
  const BuiltinSchemas schemas;
  const auto decoded = decode(type_of(schemas, "", "Pod"), Json::parse(R"({
      "metadata": {"labels": {}, "annotations": null},
      "spec": {"hostNetwork": false, "nodeName": "", "tolerations": [], "shareProcessNamespace": false,
               "containers": [{"name": "x", "resources": {"limits": {"cpu": 0.5, "memory": "1024Ki"}}}]},
      "status": {"conditions": [{"type": "Ready", "status": "True"}]}})"));
  REQUIRE(decoded);
  CHECK(decoded->object == Json::parse(R"({
      "metadata": {},
      "spec": {"shareProcessNamespace": false,
               "containers": [{"name": "x", "resources": {"limits": {"cpu": "500m", "memory": "1Mi"}}}]},
      "status": {"conditions": [{"type": "Ready", "status": "True", "lastProbeTime": null,
                                 "lastTransitionTime": null}]}})"));
}

TEST_CASE("decode bounds the depth of a definition's schema") {
  const BuiltinSchemas schemas;
  Json schema = Json::object();
  for (int i = 0; i < 200; ++i) schema = {{"not", std::move(schema)}};
  const Json crd = {
      {"spec", {{"versions", Json::array({{{"schema", {{"openAPIV3Schema", schema}}}}})}}}};
  const TypeNode& type = type_of(schemas, "apiextensions.k8s.io", "CustomResourceDefinition");
  CHECK_FALSE(decode(type, crd));
}

TEST_CASE("Merge shapes carry list types and patch keys") {
  const BuiltinSchemas schemas;
  const KindTable table;
  const MergeShapePtr pod = schemas.merge_shape(*table.find("", "v1", "pods"));
  REQUIRE(pod != nullptr);
  const MergeShapePtr spec = pod->fields.at("spec");
  const MergeShapePtr containers = spec->fields.at("containers");
  CHECK(containers->kind == MergeKind::kMapList);
  CHECK(containers->keys == std::vector<std::string>{"name"});
  CHECK(containers->patch_merge_key == "name");
  CHECK(containers->patch_merge);
  const MergeShapePtr ports = containers->item->fields.at("ports");
  CHECK(ports->keys == std::vector<std::string>{"containerPort", "protocol"});
  CHECK(ports->key_defaults.at("protocol") == "TCP");
  CHECK(spec->fields.at("nodeSelector")->kind == MergeKind::kAtomic);
  CHECK(spec->fields.at("volumes")->patch_retain_keys);
  CHECK(pod->fields.at("metadata")->fields.at("finalizers")->kind == MergeKind::kSetList);
  CHECK(pod->fields.at("metadata")->fields.at("finalizers")->patch_merge);
  CHECK(pod->fields.at("metadata")->fields.at("ownerReferences")->item->kind == MergeKind::kAtomic);
  CHECK(schemas.merge_shape(Kind{.group = "example.com", .version = "v1", .kind = "X"}) == nullptr);
  const Json resolved = schemas.resolved_schema(*table.find("", "v1", "pods"));
  CHECK(resolved["properties"]["spec"]["properties"]["containers"]["items"]["type"] == "object");
  CHECK(resolved.dump().find("$ref") == std::string::npos);
}

TEST_CASE("empty lists that are always written read back null") {
  const BuiltinSchemas schemas;
  const auto kept = [&](const char* group, const char* kind, const char* body) {
    Json object = Json::parse(body);
    forget_empty_lists(type_of(schemas, group, kind), object);
    return object;
  };
  constexpr const char* kGroup = "rbac.authorization.k8s.io";
  CHECK(kept(kGroup, "Role", R"({"rules":[]})") == Json::parse(R"({"rules":null})"));
  const char* role = R"({"rules":[{"verbs":["get"],"resources":["pods"]}]})";
  CHECK(kept(kGroup, "Role", role) == Json::parse(role));
  CHECK(kept("", "Pod", R"({"spec":{"volumes":[{"projected":{"sources":[]}}]}})") ==
        Json::parse(R"({"spec":{"volumes":[{"projected":{"sources":null}}]}})"));
  CHECK(kept("", "ConfigMap", R"({"data":{}})") == Json::parse(R"({"data":{}})"));
}

TEST_CASE("base64 is checked and written as Go does") {
  CHECK(check_base64("Yg=="));
  CHECK(check_base64("YW\nJj"));
  CHECK_FALSE(check_base64("Yg="));
  CHECK_FALSE(check_base64("Y"));
  CHECK_FALSE(check_base64("Yg==Yg=="));
  CHECK_FALSE(check_base64("===="));
}

}  // namespace
}  // namespace amdahl::local
