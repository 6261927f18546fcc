#include <catch2/catch.hpp>

#include <map>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

}  // namespace

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

TEST_CASE("Bodies of built-in kinds may be protobuf") {
  using std::string_literals::operator""s;
  TestServer test;
  const std::string type = "application/vnd.kubernetes.protobuf";
  // Only the raw object: its metadata with a name.
  const std::string named = "k8s\0\x12\x05\x0a\x03\x0a\x01"s + "a";
  const Got made = test.call("POST", kMaps, named, type);
  CHECK(made.status == 201);
  CHECK(made.body["kind"] == "ConfigMap");
  CHECK(made.body["metadata"]["name"] == "a");
  const Got broken = test.call("POST", kMaps, "k8s\0\x12\x05"s, type);
  CHECK(broken.status == 400);
  CHECK(broken.message() ==
        "the object provided is unrecognized (must be of type ConfigMap): field 2: truncated field "
        "(6b3873001205)");
  const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  const Got custom = test.call("POST", widgets, named, type);
  CHECK(custom.status == 415);
  CHECK(custom.message() ==
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml");
  const std::string widget =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})";
  CHECK(test.call("POST", widgets, widget).status == 201);
  // DeleteOptions are built in, whatever they are for: propagationPolicy Sideways.
  const Got options = test.call("DELETE", widgets + "/w", "k8s\0\x12\x0a\x22\x08Sideways"s, type);
  CHECK(options.status == 422);
  CHECK(test.call("DELETE", widgets + "/w", "k8s\0"s, type).status == 200);
}

TEST_CASE("Answers are JSON, also for those who would like protobuf better") {
  TestServer test;
  const auto ask = [&](const std::string& accept) {
    return test.call({.method = "GET", .target = kMaps, .accept = accept});
  };
  const Got got = ask("application/vnd.kubernetes.protobuf,application/json");
  CHECK(got.status == 200);
  CHECK(got.reply.content_type == "application/json");
  CHECK(ask("application/vnd.kubernetes.protobuf").status == 406);
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
