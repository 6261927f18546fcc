#include "operator/kube/api.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"
#include "operator/kube/access.hpp"
#include "operator/kube/discovery.hpp"
#include "operator/kube/test_fake_transport.hpp"

namespace amdahl::kube {
namespace {

struct Fixture {
  boost::asio::io_context io;
  ManualClock clock;
  FakeTransport transport{clock};
  Client client{transport, clock, Rng(1)};

  void answer(int status, std::string body) {
    transport.answers.push_back(Response{.status = status,
                                         .headers = {{"Content-Type", "application/json"}},
                                         .body = std::move(body)});
  }
  template <class T>
  T run(Task<T> task) {
    return run_simulated(io, clock, std::move(task));
  }
  std::string line(std::size_t index) const {
    const Request& request = transport.requests.at(index);
    return request.method + " " + request.target;
  }
  Json body(std::size_t index) const { return Json::parse(transport.requests.at(index).body); }
};

template <class T>
concept CanUpdateTyped = requires(Api<T> api, T object) { api.update(object); };
static_assert(!CanUpdateTyped<Pod>, "a projection must not be PUT: it would erase fields");

const Resource kWidgets{
    .group = "example.com", .version = "v1", .plural = "widgets", .kind = "Widget"};

TEST_CASE("Api reads objects as their type and asks for protobuf", "[C9]") {
  Fixture fixture;
  fixture.answer(200, R"({"metadata":{"name":"p","namespace":"r","uid":"u","resourceVersion":"5"},
                          "status":{"phase":"Running"}})");
  const auto pod = fixture.run(Api<Pod>(fixture.client).get({"r", "p"}));
  REQUIRE(pod);
  CHECK(pod->metadata.uid == "u");
  CHECK(fixture.line(0) == "GET /api/v1/namespaces/r/pods/p");
  CHECK(fixture.transport.requests[0].headers.at(0).value ==
        "application/vnd.kubernetes.protobuf, application/json");
}

TEST_CASE("An object that does not parse is an error that names it") {
  for (const char* body : {"", "<html>", R"({"metadata":7})"}) {
    Fixture fixture;
    fixture.answer(200, body);
    const auto pod = fixture.run(Api<Pod>(fixture.client).get({"r", "p"}));
    REQUIRE_FALSE(pod);
    CHECK(pod.error().context.find("get pods r/p: ") == 0);
  }
}

TEST_CASE("A list is read page by page, with a bound", "[L2][C8]") {
  const auto page = [](const std::string& name, const std::string& next) {
    return R"({"metadata":{"resourceVersion":"9","continue":")" + next +
           R"("},"items":[{"metadata":{"name":")" + name + R"("}}]})";
  };
  SECTION("all pages") {
    Fixture fixture;
    fixture.answer(200, page("a", "t1"));
    fixture.answer(200, page("b", ""));
    const auto list = fixture.run(DynamicApi(fixture.client, kWidgets).list_all({.ns = "r"}));
    REQUIRE(list);
    REQUIRE(list->items.size() == 2);
    CHECK(list->items[1]["metadata"]["name"] == "b");
    CHECK(list->version == "9");
    CHECK(fixture.line(0) == "GET /apis/example.com/v1/namespaces/r/widgets?limit=500");
    CHECK(fixture.line(1) == "GET /apis/example.com/v1/namespaces/r/widgets?limit=500&continue=t1");
  }
  SECTION("one page") {
    Fixture fixture;
    fixture.answer(200, page("a", "t1"));
    const auto list = fixture.run(DynamicApi(fixture.client, kWidgets).list({.limit = 1}));
    REQUIRE(list);
    CHECK(list->next_page == "t1");
    CHECK(fixture.transport.requests.size() == 1);
  }
  SECTION("a token that expired begins again, once") {
    Fixture fixture;
    fixture.answer(200, page("a", "t1"));
    fixture.answer(410, R"({"reason":"Expired"})");
    fixture.answer(200, page("a", "t2"));
    fixture.answer(200, page("b", ""));
    const auto list = fixture.run(DynamicApi(fixture.client, kWidgets).list_all());
    REQUIRE(list);
    CHECK(list->items.size() == 2);
    CHECK(fixture.line(2) == "GET /apis/example.com/v1/widgets?limit=500");
  }
  SECTION("too many pages") {
    Fixture fixture;
    fixture.answer(200, page("a", "again"));
    const auto list = fixture.run(DynamicApi(fixture.client, kWidgets).list_all({}, 3));
    REQUIRE_FALSE(list);
    CHECK(list.error().code == Errc::kTooLarge);
    CHECK(fixture.transport.requests.size() == 3);
  }
}

TEST_CASE("Writes go where the manifest says", "[W4][W5][W11]") {
  Fixture fixture;
  fixture.answer(200, R"({"metadata":{"name":"w"}})");
  const DynamicApi widgets(fixture.client, kWidgets);
  const Json fresh = {{"metadata", {{"name", "w"}, {"namespace", "r"}}}};
  Json read = fresh;
  read["metadata"]["resourceVersion"] = "7";
  REQUIRE(fixture.run(widgets.create(fresh, "me")));
  REQUIRE(fixture.run(widgets.update(read, "me")));
  REQUIRE(fixture.run(widgets.update_status(read)));
  REQUIRE(fixture.run(widgets.apply(fresh, {.field_manager = "me", .force = true})));
  REQUIRE(fixture.run(widgets.patch({"r", "w"}, Json{{"spec", 1}}, {.subresource = "status"})));
  REQUIRE(fixture.run(widgets.remove({"r", "w"}, {.uid = "u"})));
  const std::string all = "/apis/example.com/v1/namespaces/r/widgets";
  CHECK(fixture.line(0) == "POST " + all + "?fieldManager=me&fieldValidation=Strict");
  CHECK(fixture.line(1) == "PUT " + all + "/w?fieldManager=me&fieldValidation=Strict");
  CHECK(fixture.line(2) == "PUT " + all + "/w/status?fieldValidation=Strict");
  CHECK(fixture.line(3) == "PATCH " + all + "/w?fieldManager=me&fieldValidation=Strict&force=true");
  CHECK(fixture.line(4) == "PATCH " + all + "/w/status?fieldValidation=Strict");
  CHECK(fixture.line(5) == "DELETE " + all + "/w");
  CHECK(fixture.body(5)["preconditions"]["uid"] == "u");

  const auto unread = fixture.run(widgets.update(fresh));
  REQUIRE_FALSE(unread);
  CHECK(unread.error().code == Errc::kInvalid);
  CHECK_FALSE(fixture.run(widgets.create(Json("no object"))));
  CHECK(fixture.transport.requests.size() == 6);  // neither was sent
}

TEST_CASE("A typed object is sent with its apiVersion and kind") {
  Fixture fixture;
  fixture.answer(201, R"({"metadata":{"name":"l","namespace":"r"}})");
  Lease lease;
  lease.metadata.name = "l";
  lease.metadata.ns = "r";
  lease.spec.holder = "me";
  REQUIRE(fixture.run(Api<Lease>(fixture.client).create(lease)));
  CHECK(fixture.body(0)["apiVersion"] == "coordination.k8s.io/v1");
  CHECK(fixture.body(0)["kind"] == "Lease");
  CHECK(fixture.body(0)["spec"]["holderIdentity"] == "me");
}

TEST_CASE("Strings that are no UTF-8 do not throw on their way out") {
  Fixture fixture;
  fixture.answer(200, R"({"metadata":{}})");
  const Json bad = {{"metadata", {{"name", "w"}, {"namespace", "r"}}}, {"text", "caf\xe9"}};
  CHECK(fixture.run(DynamicApi(fixture.client, kWidgets).create(bad)));
}

TEST_CASE("Rights are asked for by review, and a doubt is a no") {
  struct Row {
    std::string status;
    bool allowed;
    std::string reason;
  };
  for (const Row& row :
       {Row{R"({"allowed":true})", true, ""},
        Row{R"({"allowed":false,"reason":"no rule"})", false, "no rule"},
        Row{R"({"allowed":true,"denied":true})", false, ""},
        Row{R"({"evaluationError":"broken"})", false, "broken"}, Row{"{}", false, ""}}) {
    Fixture fixture;
    fixture.answer(201, R"({"spec":{},"status":)" + row.status + "}");
    const auto mine = fixture.run(can_i(fixture.client, access_to("create", kWidgets, "r")));
    REQUIRE(mine);
    CHECK(mine->allowed == row.allowed);
    CHECK(mine->reason == row.reason);
    UserInfo ann;
    ann.username = "ann";
    ann.groups = {"dev"};
    NonResourceAttributes metrics;
    metrics.path = "/metrics";
    metrics.verb = "get";
    CHECK(fixture.run(can_user(fixture.client, ann, access_to("get", kWidgets)))->allowed ==
          row.allowed);
    CHECK(fixture.run(can_user_path(fixture.client, ann, metrics))->allowed == row.allowed);
    CHECK(fixture.line(0) == "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    CHECK(fixture.body(0)["spec"]["resourceAttributes"] == Json{{"group", "example.com"},
                                                                {"version", "v1"},
                                                                {"resource", "widgets"},
                                                                {"verb", "create"},
                                                                {"namespace", "r"}});
    CHECK(fixture.body(1)["spec"]["user"] == "ann");
    CHECK(fixture.body(2)["spec"]["nonResourceAttributes"]["path"] == "/metrics");
  }
}

TEST_CASE("A token is reviewed for its audience and never shown") {
  const std::string token = "opaque-token-0123456789";
  const auto review = [&](int status, const std::string& body) {
    Fixture fixture;
    fixture.answer(status, body);
    auto user = fixture.run(review_token(fixture.client, token, {"amdahl"}));
    CHECK(fixture.body(0)["spec"]["token"] == token);
    if (!user) CHECK(user.error().context.find(token) == std::string::npos);
    return user;
  };
  const auto good = review(201, R"({"spec":{},"status":{"authenticated":true,"audiences":["amdahl"],
      "user":{"username":"system:serviceaccount:r:trainer","groups":["g"]}}})");
  REQUIRE(good);
  CHECK(good->username == "system:serviceaccount:r:trainer");
  for (const std::string& status :
       {std::string(R"({"authenticated":false,"error":"bad )" + token + R"("})"),
        std::string(R"({"authenticated":true,"audiences":["others"]})"),
        std::string(R"({"authenticated":true})"), std::string("{}")}) {
    const auto bad = review(201, R"({"spec":{},"status":)" + status + "}");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code == Errc::kUnauthorized);
  }
  CHECK_FALSE(review(403, R"({"message":"cannot review )" + token + R"("})"));
  CHECK_FALSE(review(500, "you sent " + token));
}

TEST_CASE("Discovery finds the version that serves a kind, and asks once", "[C10]") {
  const std::string groups = R"({"groups":[{"name":"scheduling.volcano.sh",
    "versions":[{"groupVersion":"scheduling.volcano.sh/v1alpha2","version":"v1alpha2"},
                {"groupVersion":"scheduling.volcano.sh/v1beta1","version":"v1beta1"}],
    "preferredVersion":{"groupVersion":"scheduling.volcano.sh/v1beta1","version":"v1beta1"}}]})";
  const std::string resources = R"({"groupVersion":"scheduling.volcano.sh/v1beta1","resources":[
    {"name":"podgroups/status","kind":"PodGroup","namespaced":true},
    {"name":"podgroups","kind":"PodGroup","namespaced":true},
    {"name":"queues","kind":"Queue","namespaced":false}]})";
  Fixture fixture;
  fixture.answer(200, groups);
  fixture.answer(200, resources);
  Discovery discovery(fixture.client);
  const auto group = fixture.run(discovery.find("scheduling.volcano.sh", "PodGroup"));
  REQUIRE(group);
  CHECK(*group == Resource{.group = "scheduling.volcano.sh",
                           .version = "v1beta1",
                           .plural = "podgroups",
                           .kind = "PodGroup"});
  CHECK_FALSE(
      fixture.run(discovery.find("scheduling.volcano.sh", "Queue", {"v1beta1"}))->namespaced);
  CHECK(*fixture.run(discovery.versions_of("scheduling.volcano.sh")) ==
        std::vector<std::string>{"v1beta1", "v1alpha2"});
  CHECK(fixture.transport.requests.size() == 2);

  for (const auto& missing :
       {fixture.run(discovery.find("no.such.group", "X")),
        fixture.run(discovery.find("scheduling.volcano.sh", "PodGroup", {"v9"}))}) {
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == Errc::kNotFound);
  }
  discovery.forget();
  fixture.transport.answers.clear();
  fixture.answer(200, R"({"groups":[]})");
  CHECK_FALSE(fixture.run(discovery.find("scheduling.volcano.sh", "PodGroup")));
  CHECK(fixture.line(2) == "GET /apis");
}

TEST_CASE("Discovery reads the server's version", "[C10]") {
  Fixture fixture;
  fixture.answer(
      200, R"({"major":"1","minor":"34+","gitVersion":"v1.34.4-gke.1","platform":"linux/amd64"})");
  const auto version = fixture.run(Discovery(fixture.client).version());
  REQUIRE(version);
  CHECK(version->git_version == "v1.34.4-gke.1");
  CHECK(fixture.line(0) == "GET /version");
}

}  // namespace
}  // namespace amdahl::kube
