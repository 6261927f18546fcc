#include "local/apiserver/core/garbage.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

using Names = std::vector<std::string>;

struct Owner {
  std::string api_version = "v1";
  std::string kind = "ConfigMap";
  std::string name = {};
  std::string uid = {};
  bool blocks = false;
};

class Family : public TestServer {
 public:
  // Makes a config map and returns a reference to it.
  Owner add(const std::string& name, const std::vector<Owner>& owners = {},
            const std::string& ns = "default") {
    Json object = {{"metadata", {{"name", name}}}};
    for (const Owner& one : owners)
      object["metadata"]["ownerReferences"].push_back({{"apiVersion", one.api_version},
                                                       {"kind", one.kind},
                                                       {"name", one.name},
                                                       {"uid", one.uid},
                                                       {"blockOwnerDeletion", one.blocks}});
    const Got got = make("namespaces/" + ns + "/configmaps", object.dump());
    return {.name = name, .uid = got.body["metadata"]["uid"]};
  }
  void remove(const std::string& name, const std::string& policy = "Background") {
    REQUIRE(call("DELETE", at(name) + "?propagationPolicy=" + policy).status == 200);
  }
  void settle() {
    for (int round = 0; round < 20; ++round) server.tick(now);
    server.committed(server.version());
  }
  Names left() { return names(get("/api/v1/configmaps").body); }
  static std::string at(const std::string& name) {
    return "/api/v1/namespaces/default/configmaps/" + name;
  }
};

Owner blocking(Owner owner) {
  owner.blocks = true;
  return owner;
}

}  // namespace

TEST_CASE("Dependents follow their owner in the background") {
  Family family;
  const Owner root = family.add("root");
  const Owner child = family.add("child", {root});
  family.add("grandchild", {child});
  family.add("stranger");
  family.settle();
  CHECK(family.left().size() == 4);
  family.remove("root");
  CHECK(family.left().size() == 3);
  family.settle();
  CHECK(family.left() == Names{"default/stranger"});
}

TEST_CASE("One owner that stays is enough") {
  Family family;
  const Owner first = family.add("first");
  const Owner second = family.add("second");
  family.add("child", {first, second});
  family.remove("first");
  family.settle();
  CHECK(family.left() == Names{"default/child", "default/second"});
  const Json refs = family.get(Family::at("child")).body["metadata"]["ownerReferences"];
  REQUIRE(refs.size() == 1);
  CHECK(refs[0]["name"] == "second");
}

TEST_CASE("Orphans lose the reference and stay") {
  Family family;
  const Owner root = family.add("root");
  family.add("child", {root});
  family.remove("root", "Orphan");
  CHECK(family.get(Family::at("root")).body["metadata"]["finalizers"] ==
        Json::parse(R"(["orphan"])"));
  family.settle();
  CHECK(family.left() == Names{"default/child"});
  CHECK_FALSE(family.get(Family::at("child")).body["metadata"].contains("ownerReferences"));
}

TEST_CASE("A foreground deletion waits for what blocks it") {
  Family family;
  const Owner root = family.add("root");
  const Owner child = family.add("child", {blocking(root)});
  family.add("grandchild", {blocking(child)});
  Json held = family.get(Family::at("grandchild")).body;
  held["metadata"]["finalizers"] = {"x/y"};
  family.call("PUT", Family::at("grandchild"), held.dump());
  family.remove("root", "Foreground");
  family.settle();
  CHECK(family.left() == Names{"default/child", "default/grandchild", "default/root"});
  CHECK(family.get(Family::at("child")).body["metadata"]["finalizers"] ==
        Json::parse(R"(["foregroundDeletion"])"));
  held = family.get(Family::at("grandchild")).body;
  CHECK(held["metadata"].contains("deletionTimestamp"));
  held["metadata"].erase("finalizers");
  family.call("PUT", Family::at("grandchild"), held.dump());
  family.settle();
  CHECK(family.left().empty());
}

TEST_CASE("A foreground deletion does not wait for what does not block") {
  Family family;
  const Owner root = family.add("root");
  family.add("child", {root});
  family.remove("root", "Foreground");
  family.settle();
  CHECK(family.left().empty());
}

TEST_CASE("Owners in a circle can be deleted in the foreground") {
  Family family;
  const Owner first = family.add("first");
  const Owner second = family.add("second", {blocking(first)});
  Json object = family.get(Family::at("first")).body;
  object["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                            {"kind", "ConfigMap"},
                                            {"name", "second"},
                                            {"uid", second.uid},
                                            {"blockOwnerDeletion", true}}};
  family.call("PUT", Family::at("first"), object.dump());
  family.remove("first", "Foreground");
  family.settle();
  CHECK(family.left().empty());
}

TEST_CASE("An owner is who its UID says") {
  Family family;
  family.add("root");
  struct Row {
    const char* name;
    Owner owner;
    bool stays;
  };
  const Owner real = family.add("real");
  const Owner node = {
      .kind = "Node",
      .name = "n",
      .uid = family.make("nodes", R"({"metadata":{"name":"n"}})").body["metadata"]["uid"]};
  const std::vector<Row> rows = {
      {"good", real, true},
      {"cluster-owner", node, true},
      {"other-uid", {.name = "root", .uid = "gone"}, false},
      {"other-name", {.name = "root", .uid = real.uid}, false},
      {"other-kind", {.kind = "Pod", .name = "real", .uid = real.uid}, false},
      {"unknown-kind", {.api_version = "x/v1", .kind = "Y", .name = "z", .uid = "gone"}, true},
  };
  for (const Row& row : rows) family.add(row.name, {row.owner});
  family.add("far", {real}, "other");
  family.settle();
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK((family.get(Family::at(row.name)).status == 200) == row.stays);
  }
  CHECK(family.get("/api/v1/namespaces/other/configmaps/far").status == 404);
}

TEST_CASE("A cluster object with a namespaced owner is left alone") {
  Family family;
  family.make("nodes", R"({"metadata":{"name":"n","ownerReferences":[{"apiVersion":"v1",
      "kind":"ConfigMap","name":"gone","uid":"gone"}]}})");
  family.settle();
  CHECK(family.get("/api/v1/nodes/n").status == 200);
}

TEST_CASE("One tick does a bounded amount of work") {
  TestServer test(Options{.garbage_per_tick_max = 3});
  const Got root = test.make("namespaces/default/configmaps", R"({"metadata":{"name":"root"}})");
  const std::string uid = root.body["metadata"]["uid"];
  for (int at = 0; at < 10; ++at)
    test.make("namespaces/default/configmaps",
              R"({"metadata":{"name":"c)" + std::to_string(at) +
                  R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"root",)" +
                  R"("uid":")" + uid + R"("}]}})");
  while (test.server.tick(test.now)) {
  }
  test.call("DELETE", "/api/v1/namespaces/default/configmaps/root");
  const std::uint64_t before = test.server.version();
  CHECK(test.server.tick(test.now));
  CHECK(test.server.version() == before + 3);
  while (test.server.tick(test.now)) {
  }
  CHECK(test.server.version() == before + 10);
  test.server.tick(test.now);
  CHECK(test.server.version() == before + 10);
}

TEST_CASE("A definition that goes takes its objects with it") {
  TestServer test;
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  test.call("POST", definitions,
            R"({"metadata":{"name":"widgets.example.com",
                "finalizers":["customresourcecleanup.apiextensions.k8s.io"]}})");
  test.call("POST", widgets,
            R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})");
  test.call("DELETE", definitions + "/widgets.example.com");
  CHECK(test.get(widgets + "/w").status == 200);
  test.server.tick(test.now);
  CHECK(test.get(widgets + "/w").status == 404);
  CHECK(test.get(definitions + "/widgets.example.com").status == 404);
}

TEST_CASE("Events go by themselves an hour after their last write") {
  TestServer test;
  const std::string events = "/api/v1/namespaces/default/events";
  test.make("namespaces/default/events", R"({"metadata":{"name":"a"}})");
  test.make("namespaces/default/events", R"({"metadata":{"name":"b"}})");
  test.now += std::chrono::minutes{50};
  CHECK(
      test.call("PATCH", events + "/b", R"({"count":2})", "application/merge-patch+json").status ==
      200);
  test.now += std::chrono::minutes{11};
  test.server.tick(test.now);
  CHECK(TestServer::names(test.get(events).body) == Names{"default/b"});
  test.now += std::chrono::minutes{50};
  test.server.tick(test.now);
  CHECK(TestServer::names(test.get(events).body).empty());
}

}  // namespace amdahl::local
