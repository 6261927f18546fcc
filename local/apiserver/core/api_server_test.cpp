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
       "the API version in the data (v2) does not match the expected API version (v1)"},
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
       "POST is not supported on resources of kind \"configmaps\""},
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
        "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must "
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

TEST_CASE("Every served version shows the same object") {
  TestServer test;
  test.call("POST", kWidgets, kWidget + R"("metadata":{"name":"w"}})");
  const Got other = test.get("/apis/example.com/v2/namespaces/default/widgets/w");
  CHECK(other.body["apiVersion"] == "example.com/v2");
  CHECK(test.get("/apis/example.com/v2/widgets").body["items"][0]["apiVersion"] ==
        "example.com/v2");
  CHECK(test.get(kWidgets + "/w").body["apiVersion"] == "example.com/v1");
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
  CHECK(test.get(kMaps + "/a?resourceVersion=x").status == 400);
}

TEST_CASE("Bodies may be YAML and are bounded") {
  TestServer test;
  const Got yaml =
      test.call("POST", kMaps, "metadata: {name: y}\ndata: {k: v}\n", "application/yaml");
  CHECK(yaml.status == 201);
  CHECK(yaml.body["data"]["k"] == "v");
  const Got odd = test.call("POST", kMaps, "{}", "text/plain");
  CHECK(odd.status == 415);
  CHECK(odd.reason() == "UnsupportedMediaType");
  const Got big = test.call("POST", kMaps, std::string(kBodyBytesMax + 1, ' '));
  CHECK(big.status == 413);
  CHECK(big.message() == "Request entity too large: limit is 3145728");
}

TEST_CASE("Warnings tell about unknown fields") {
  TestServer test;
  const Got got = test.call("POST", kMaps, R"({"metadata":{"name":"a"},"bogus":1})");
  CHECK(got.status == 201);
  REQUIRE(got.reply.headers.size() == 1);
  CHECK(got.reply.headers[0].second == R"(299 - "unknown field \"bogus\"")");
  const Got quiet = test.call("POST", kMaps + "?fieldValidation=Ignore",
                              R"({"metadata":{"name":"b"},"bogus":1})");
  CHECK(quiet.reply.headers.empty());
}

TEST_CASE("Other forms of an object") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  const auto ask = [&](const std::string& target, const std::string& as) {
    return test.call({.method = "GET",
                      .target = target,
                      .accept = "application/json;as=" + as + ";v=v1;g=meta.k8s.io"});
  };
  const Got meta = ask(kMaps + "/a", "PartialObjectMetadata");
  CHECK(meta.body["kind"] == "PartialObjectMetadata");
  CHECK_FALSE(meta.body.contains("data"));
  CHECK(ask(kMaps, "PartialObjectMetadataList").body["items"][0]["metadata"]["name"] == "a");
  const Got table = ask(kMaps, "Table");
  CHECK(table.body["kind"] == "Table");
  CHECK(table.body["metadata"]["resourceVersion"] == "3");
  CHECK(table.body["columnDefinitions"][0]["name"] == "Name");
  CHECK(table.body["rows"][0]["cells"] == Json::parse(R"(["a"])"));
  CHECK(table.body["rows"][0]["object"]["kind"] == "PartialObjectMetadata");
  CHECK(ask(kMaps + "?includeObject=Object", "Table").body["rows"][0]["object"]["data"]["k"] ==
        "v");
  CHECK_FALSE(ask(kMaps + "?includeObject=None", "Table").body["rows"][0].contains("object"));
  CHECK(test.get(kMaps + "/a?pretty=true").reply.body.find("\n  \"data\"") != std::string::npos);
}

TEST_CASE("Paths that are no resources") {
  TestServer test;
  CHECK(test.get("/healthz").reply.body == "ok");
  CHECK(test.get("/version").body["minor"] == "34");
  CHECK(test.get("/apis/none").status == 404);
  CHECK(test.get("/apis/none/v1/things").reply.body == "404 page not found\n");
  CHECK(test.get("/api/v1/namespaces/default/nodes").status == 404);
  CHECK(test.get("/metrics")
            .reply.body.find("apiserver_storage_objects{resource=\"namespaces\"} 2") !=
        std::string::npos);
  CHECK(test.call("POST", "/version").status == 405);
  CHECK(test.call("PUT", kMaps).status == 405);
  CHECK(test.get(kMaps + "/a/log").status == 404);
  const Got review = test.call(Call{.method = "POST",
                                    .target = "/apis/authentication.k8s.io/v1/tokenreviews",
                                    .body = R"({"spec":{"token":"x"}})",
                                    .user = {.name = "me"}});
  CHECK(review.status == 201);
  CHECK(review.body["status"]["user"]["username"] == "me");
}

TEST_CASE("Kinds hear about the objects that define them") {
  TestServer test;
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  CHECK(test.call("POST", path, R"({"metadata":{"name":"a.b"}})").status == 201);
  CHECK(test.call("DELETE", path + "/a.b").status == 200);
  CHECK(test.rules.seen == std::vector<std::string>{"+a.b", "-a.b"});
}

TEST_CASE("load restores objects and never reuses a version") {
  TestServer first;
  first.make("namespaces/default/configmaps", R"({"metadata":{"name":"a","labels":{"x":"y"}}})");
  first.make("namespaces/default/configmaps", R"({"metadata":{"name":"b"}})");
  first.call("DELETE", kMaps + "/b");
  std::map<std::string, Restored> kept;
  std::uint64_t last = 0;
  for (const Mutation& one : first.server.take_mutations()) {
    CHECK(one.version == last + 1);
    last = one.version;
    const std::string at = one.storage + ":" + one.key;
    if (one.object)
      kept[at] = {.storage = one.storage, .text = one.object->text};
    else
      kept.erase(at);
  }
  CHECK(first.server.take_mutations().empty());
  std::vector<Restored> objects;
  for (const auto& [at, object] : kept) objects.push_back(object);
  TestKindRules rules;
  ApiServer second(rules, Rng(1));
  REQUIRE(second.load(objects, last));
  CHECK(second.version() == 5);
  CHECK(second.durable() == 5);
  const Reply list = second.handle({.method = "GET", .target = kMaps + "?labelSelector=x%3Dy"}, {});
  CHECK(Json::parse(list.body)["items"].size() == 1);
  const Reply made = second.handle(
      {.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"c"}})"}, {});
  CHECK(Json::parse(made.body)["metadata"]["resourceVersion"] == "6");
  CHECK(made.wait_version == 6);
  CHECK(second.durable() == 5);
  const Restored broken{.storage = "configmaps", .text = "{"};
  TestKindRules more;
  ApiServer third(more, Rng(1));
  CHECK_FALSE(third.load(std::vector<Restored>{broken}, 1));
}

}  // namespace amdahl::local
