#include "local/apiserver/core/api_server.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kWidgets = "/apis/example.com/v1/namespaces/default/widgets";
const std::string kWidget = R"({"apiVersion":"example.com/v1","kind":"Widget",)";

}  // namespace

TEST_CASE("create fills in what the server owns") {
  TestServer test;
  const Got got = test.call("POST", kMaps, R"({"metadata":{"name":"a","uid":"mine",
      "creationTimestamp":"2000-01-01T00:00:00Z","generation":9},"data":{"k":"v"}})");
  REQUIRE(got.status == 201);
  const Json& meta = got.body["metadata"];
  CHECK(got.body["kind"] == "ConfigMap");
  CHECK(got.body["apiVersion"] == "v1");
  CHECK(meta["namespace"] == "default");
  CHECK(meta["resourceVersion"] == "3");
  CHECK(meta["creationTimestamp"] == "2023-11-14T22:13:20Z");
  CHECK(meta["uid"].get<std::string>().size() == 36);
  CHECK(meta["uid"].get<std::string>()[14] == '4');
  CHECK_FALSE(meta.contains("generation"));
  CHECK(test.get(kMaps + "/a").body == got.body);
  CHECK(got.reply.wait_version == 3);
}

TEST_CASE("a custom object's kind is judged when it has a name and what it replaces is there") {
  TestServer test;
  const std::string other = R"({"apiVersion":"example.com/v1","kind":"Other","metadata":)";
  const Got made = test.call("POST", kWidgets, other + R"({"generateName":"a-"}})");
  CHECK(made.status == 422);
  CHECK(made.message().starts_with("Other.example.com \"a-"));
  const Got missing = test.call("PUT", kWidgets + "/b", other + R"({"name":"b"}})");
  CHECK(missing.status == 404);
  const Got made_well =
      test.call("POST", kWidgets, kWidget + R"("metadata":{"name":"c"},"spec":{"size":1}})");
  const std::string version = made_well.body["metadata"]["resourceVersion"];
  const Got kept = test.call(
      "PUT", kWidgets + "/c",
      other + R"({"name":"c","resourceVersion":")" + version + R"("},"spec":{"size":-1}})");
  CHECK(kept.message() ==
        "Other.example.com \"c\" is invalid: kind: Invalid value: \"Other\": must be Widget");
}

TEST_CASE("lists of metadata are read item by item") {
  TestServer test;
  const auto refusal = [&](const std::string& meta) {
    return test
        .call("POST", "/api/v1/namespaces/default/configmaps",
              R"({"metadata":{"name":"a",)" + meta + "}}")
        .message();
  };
  CHECK_THAT(refusal(R"("finalizers":{})"),
             Catch::EndsWith("object into Go struct field ObjectMeta.metadata.finalizers of type "
                             "[]string"));
  CHECK_THAT(refusal(R"("finalizers":["x/y",[]])"),
             Catch::EndsWith("array into Go struct field ObjectMeta.metadata.finalizers of type "
                             "string"));
  CHECK_THAT(refusal(R"("managedFields":[1])"),
             Catch::EndsWith("number into Go struct field ObjectMeta.metadata.managedFields of "
                             "type v1.ManagedFieldsEntry"));
}

TEST_CASE("create refuses with Kubernetes' texts") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"taken"}})");
  test.call("DELETE", "/api/v1/namespaces/other");
  struct Row {
    std::string target;
    std::string body;
    int code;
    std::string reason;
    std::string message;
  };
  const std::vector<Row> rows = {
      {kMaps, R"({"metadata":{"name":"taken"}})", 409, "AlreadyExists",
       "configmaps \"taken\" already exists"},
      {"/api/v1/namespaces/none/configmaps", R"({"metadata":{"name":"a"}})", 404, "NotFound",
       "namespaces \"none\" not found"},
      {"/api/v1/namespaces/other/configmaps", R"({"metadata":{"name":"a"}})", 403, "Forbidden",
       "configmaps \"a\" is forbidden: unable to create new content in namespace other because it "
       "is being terminated"},
      {kMaps, R"({"metadata":{"name":"a","namespace":"b"}})", 400, "BadRequest",
       "the namespace of the provided object does not match the namespace sent on the request"},
      {kMaps, R"({"metadata":{}})", 422, "Invalid",
       "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
       "required"},
      {kMaps, R"({"metadata":{"name":"a/b"}})", 422, "Invalid",
       "ConfigMap \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": may not contain '/'"},
      {kMaps, R"({"metadata":{"name":"a","resourceVersion":"5"}})", 500, "",
       "resourceVersion should not be set on objects to be created"},
      {kMaps, R"({"apiVersion":"v2","metadata":{"name":"a"}})", 400, "BadRequest",
       "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is "
       "registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:110\""},
      {kMaps, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})", 400, "BadRequest",
       "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to "
       "(core.ConfigMap): unknown conversion"},
      {kWidgets, R"({"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"a"}})", 422,
       "Invalid",
       "Other.example.com \"a\" is invalid: kind: Invalid value: \"Other\": must be Widget"},
      {kMaps, R"({"metadata":{"name":5}})", 400, "BadRequest",
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
       "number into Go struct field ObjectMeta.metadata.name of type string"},
      {kMaps, "[]", 400, "BadRequest",
       "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
       "version/kind; json parse error: not an object (5b5d)"},
      {kMaps, "", 400, "BadRequest",
       "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
       "version/kind; json parse error: unexpected end of JSON input (<empty>)"},
      {kWidgets, R"({"metadata":{"name":"a"}})", 400, "BadRequest", ""},
      {kWidgets, kWidget + R"("metadata":{"name":"a"},"spec":{"size":-1}})", 422, "Invalid",
       "Widget.example.com \"a\" is invalid: spec.size: Invalid value: -1: must not be negative"},
      {kMaps + "?fieldValidation=Strict", R"({"metadata":{"name":"a"},"bogus":1,"x":1,"x":2})", 400,
       "BadRequest",
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
       "duplicate field \"x\", unknown field \"bogus\""},
      {"/api/v1/configmaps", R"({"metadata":{"name":"a"}})", 405, "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
  };
  const std::uint64_t before = test.server.version();
  for (const Row& row : rows) {
    INFO(row.target << " " << row.body);
    const Got got = test.call("POST", row.target, row.body);
    CHECK(got.status == row.code);
    CHECK(got.reason() == row.reason);
    if (!row.message.empty()) CHECK(got.message() == row.message);
    CHECK(got.body["kind"] == "Status");
    CHECK(got.body["code"] == row.code);
  }
  CHECK(test.server.version() == before);
}

TEST_CASE("A refusal has details") {
  TestServer test;
  const Got gone = test.get(kWidgets + "/a");
  CHECK(gone.body == Json::parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},
      "status":"Failure","message":"widgets.example.com \"a\" not found","reason":"NotFound",
      "details":{"name":"a","group":"example.com","kind":"widgets"},"code":404})"));
  test.call("DELETE", "/api/v1/namespaces/other");
  const Got ending =
      test.call("POST", "/api/v1/namespaces/other/pods", R"({"metadata":{"name":"a"}})");
  CHECK(ending.body["details"]["causes"] == Json::parse(R"([{"reason":"NamespaceTerminating",
      "message":"namespace other is being terminated","field":"metadata.namespace"}])"));
}

TEST_CASE("generateName makes names with Kubernetes' alphabet") {
  TestServer test;
  const Got got = test.make("namespaces/default/pods", R"({"metadata":{"generateName":"train-"}})");
  const std::string name = got.body["metadata"]["name"];
  CHECK(name.size() == 11);
  CHECK(name.starts_with("train-"));
  CHECK(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 6) == std::string::npos);
  CHECK(got.body["metadata"]["generateName"] == "train-");
}

TEST_CASE("A dry run leaves no trace") {
  TestServer test;
  const Got made =
      test.call("POST", kMaps + "?dryRun=All", R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  CHECK(made.status == 201);
  CHECK_FALSE(made.body["metadata"].contains("resourceVersion"));
  CHECK(made.body["metadata"].contains("uid"));
  CHECK(test.get(kMaps + "/a").status == 404);
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  CHECK(test.call("POST", kMaps + "?dryRun=All", R"({"metadata":{"name":"a"}})").status == 409);
  const std::uint64_t before = test.server.version();
  CHECK(test.call("PUT", kMaps + "/a?dryRun=All", R"({"metadata":{"name":"a"},"data":{"k":"w"}})")
            .body["data"]["k"] == "w");
  CHECK(test.call("DELETE", kMaps + "/a?dryRun=All").status == 200);
  CHECK(test.server.version() == before);
  CHECK_FALSE(test.get(kMaps + "/a").body.contains("data"));
}

TEST_CASE("update holds to the version it names") {
  TestServer test;
  const Got made = test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  Json object = made.body;
  object["data"] = {{"k", "v"}};
  const Got first = test.call("PUT", kMaps + "/a", object.dump());
  CHECK(first.status == 200);
  CHECK(first.body["metadata"]["resourceVersion"] == "4");
  CHECK(first.body["metadata"]["uid"] == made.body["metadata"]["uid"]);
  const Got stale = test.call("PUT", kMaps + "/a", object.dump());
  CHECK(stale.status == 409);
  CHECK(stale.reason() == "Conflict");
  CHECK(stale.message() ==
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
        "apply your changes to the latest version and try again");
  const Got blind = test.call("PUT", kMaps + "/a", R"({"metadata":{"name":"a"},"data":{"k":"w"}})");
  CHECK(blind.status == 200);
  const Got same = test.call("PUT", kMaps + "/a", blind.body.dump());
  CHECK(same.body == blind.body);
  CHECK(test.server.version() == 5);
}

TEST_CASE("update refuses what does not fit") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  CHECK(test.call("PUT", kMaps + "/b", R"({"metadata":{"name":"b"}})").status == 404);
  const Got renamed = test.call("PUT", kMaps + "/a", R"({"metadata":{"name":"c"}})");
  CHECK(renamed.status == 400);
  CHECK(renamed.message() == "the name of the object (c) does not match the name on the URL (a)");
  const Got other = test.call("PUT", kMaps + "/a", R"({"metadata":{"name":"a","uid":"x"}})");
  CHECK(other.status == 409);
  CHECK(other.message().find("Precondition failed: UID in precondition: x") != std::string::npos);
  REQUIRE(test.call("POST", kWidgets, kWidget + R"("metadata":{"name":"w"}})").status == 201);
  const Got blind = test.call("PUT", kWidgets + "/w", kWidget + R"("metadata":{"name":"w"}})");
  CHECK(blind.status == 422);
  CHECK(blind.message() ==
        "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must "
        "be specified for an update");
}

TEST_CASE("update creates where the kind allows it") {
  TestServer test;
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";
  CHECK(test.call("PUT", lease, R"({"metadata":{"name":"a"}})").status == 201);
  CHECK(test.get(lease).status == 200);
}

TEST_CASE("Times of managed fields alone are no change") {
  TestServer test;
  const std::string body = R"({"metadata":{"name":"a"}})";
  test.call("POST", kMaps + "?fieldManager=timekeeper", body);
  test.now += std::chrono::seconds{5};
  const std::uint64_t before = test.server.version();
  CHECK(test.call("PUT", kMaps + "/a?fieldManager=timekeeper", body).status == 200);
  CHECK(test.server.version() == before);
}

TEST_CASE("status and spec are written through different doors") {
  TestServer test;
  Json object = test.call("POST", kWidgets, kWidget + R"("metadata":{"name":"w"},
      "spec":{"size":1},"status":{"x":1}})")
                    .body;
  CHECK_FALSE(object.contains("status"));
  object["status"] = {{"ready", true}};
  object["spec"]["size"] = 2;
  const Got status = test.call("PUT", kWidgets + "/w/status", object.dump());
  CHECK(status.body["spec"]["size"] == 1);
  CHECK(status.body["status"]["ready"] == true);
  CHECK(status.body["metadata"]["generation"] == 1);
  object = status.body;
  object["spec"]["size"] = 3;
  object["status"]["ready"] = false;
  const Got spec = test.call("PUT", kWidgets + "/w", object.dump());
  CHECK(spec.body["spec"]["size"] == 3);
  CHECK(spec.body["status"]["ready"] == true);
  CHECK(spec.body["metadata"]["generation"] == 2);
  CHECK(test.call("GET", kWidgets + "/w/status").status == 200);
  CHECK(test.call("DELETE", kWidgets + "/w/status").status == 405);
}

TEST_CASE("Every served version shows the same object in its own words") {
  TestServer test;
  const std::string v2 = "/apis/example.com/v2/namespaces/default/widgets";
  const Got made = test.call("POST", v2, R"({"apiVersion":"example.com/v2","kind":"Widget",
      "metadata":{"name":"w"},"spec":{"color":"red"}})");
  CHECK(made.body["apiVersion"] == "example.com/v2");
  CHECK(made.body["spec"]["color"] == "red");
  const Got first = test.get(kWidgets + "/w");
  CHECK(first.body["apiVersion"] == "example.com/v1");
  CHECK(first.body["spec"] == Json::parse(R"({"colour":"red"})"));
  CHECK(test.get(v2).body["items"][0]["spec"] == Json::parse(R"({"color":"red"})"));
  const Got same = test.call("PUT", v2 + "/w", made.body.dump());
  CHECK(same.body == made.body);
  const Got patched =
      test.call("PATCH", v2 + "/w", R"({"spec":{"color":"blue"}})", "application/merge-patch+json");
  CHECK(patched.body["spec"]["color"] == "blue");
  CHECK(patched.body["metadata"]["resourceVersion"] == "4");
  CHECK(test.get(kWidgets + "/w").body["spec"]["colour"] == "blue");
  CHECK(test.server.take_mutations().back().object->text.find("colour") != std::string::npos);
}

TEST_CASE("get follows resourceVersion") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  CHECK(test.get(kMaps + "/a?resourceVersion=0").status == 200);
  CHECK(test.get(kMaps + "/a?resourceVersion=1").status == 200);
  const Got early = test.get(kMaps + "/a?resourceVersion=99");
  CHECK(early.status == 504);
  CHECK(early.body == Json::parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},
      "status":"Failure","message":"Timeout: Too large resource version: 99, current: 3",
      "reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge",
      "message":"Too large resource version"}],"retryAfterSeconds":1},"code":504})"));
  CHECK(test.get(kMaps + "/a?resourceVersion=x").status == 500);
}

}  // namespace amdahl::local
