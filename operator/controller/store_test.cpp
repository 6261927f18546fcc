#include "operator/controller/store.hpp"

#include <catch2/catch.hpp>

#include "operator/kube/types.hpp"

namespace amdahl::controller {
namespace {
using kube::EventKind;
using kube::Pod;

std::string pod(std::string_view name, std::string_view uid, std::string_view version,
                std::string_view extra = "") {
  return fmt::format(
      R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"a","uid":"{}","resourceVersion":"{}"{}}}}})",
      name, uid, version, extra);
}

// A store that is fed by hand and notes what its handlers are told.
struct Fed {
  Store<Pod> store;
  std::vector<std::string> told;

  Fed() {
    store.subscribe([this](const Change& change) {
      const char* type = change.type == ChangeType::kAdded     ? "+"
                         : change.type == ChangeType::kUpdated ? "~"
                                                               : "-";
      told.push_back(fmt::format("{}{}/{}{}", type, change.key.name, change.uid,
                                 change.is_initial ? " initial" : ""));
    });
  }
  void decode(const std::string& json) {
    std::string padded = json + std::string(kJsonPadding, ' ');
    REQUIRE(store.decode({.bytes = std::string_view(padded).substr(0, json.size())}));
  }
  void list(std::vector<std::string> pods, std::string_view version) {
    store.begin_stage();
    for (const std::string& json : pods) {
      decode(json);
      store.stage();
    }
    store.publish(version);
  }
  void event(EventKind kind, const std::string& json) {
    decode(json);
    store.apply(kind);
  }
  std::vector<std::string> take() {
    std::ranges::sort(told);
    return std::exchange(told, {});
  }
};

TEST_CASE("Store shows nothing of a list before it is published", "[L1][L10][L14]") {
  Fed fed;
  fed.store.begin_stage();
  fed.decode(pod("p1", "u1", "5"));
  fed.store.stage();
  CHECK(fed.store.size() == 0);
  CHECK_FALSE(fed.store.synced());
  fed.store.publish("10");
  CHECK(fed.store.size() == 1);
  CHECK(fed.store.synced());
  CHECK(fed.store.version() == "10");
  CHECK(fed.take() == std::vector<std::string>{"+p1/u1 initial"});
}

TEST_CASE("Store is not synced until its handlers have had the whole first set", "[L14]") {
  Store<Pod> store;
  std::vector<bool> synced_when_told;
  store.subscribe([&](const Change&) { synced_when_told.push_back(store.synced()); });
  Fed feeder;
  const std::string json = pod("p1", "u1", "5") + std::string(kJsonPadding, ' ');
  store.begin_stage();
  REQUIRE(store.decode({.bytes = std::string_view(json).substr(0, json.size() - kJsonPadding)}));
  store.stage();
  store.publish("10");
  CHECK(synced_when_told == std::vector<bool>{false});
  CHECK(store.synced());
}

TEST_CASE("A relist is one replace that tells of what vanished behind a dead watch", "[L10]") {
  Fed fed;
  fed.list({pod("kept", "u1", "1"), pod("changed", "u2", "2"), pod("gone", "u3", "3")}, "10");
  fed.take();
  fed.list({pod("kept", "u1", "1"), pod("changed", "u2", "15"), pod("new", "u4", "16")}, "20");
  CHECK(fed.take() ==
        std::vector<std::string>{"+new/u4 initial", "-gone/u3 initial", "~changed/u2 initial"});
  CHECK(fed.store.find({"a", "gone"}) == nullptr);
}

TEST_CASE("A delete that was only found by absence says that the end was not seen", "[L10][L16]") {
  Store<Pod> store;
  std::vector<std::string> deleted;
  store.subscribe([&](const Change& change) {
    if (change.type != ChangeType::kDeleted) {
      CHECK_FALSE(change.final_state_unknown);
      return;
    }
    deleted.push_back(fmt::format("{}/{} of {}{}", change.key.name, change.uid,
                                  change.controller ? change.controller->name : "nobody",
                                  change.final_state_unknown ? ", end unknown" : ""));
  });
  const auto feed = [&](const std::string& json) {
    const std::string padded = json + std::string(kJsonPadding, ' ');
    REQUIRE(store.decode({.bytes = std::string_view(padded).substr(0, json.size())}));
  };
  const std::string owned =
      R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Job","name":"j","uid":"o","controller":true}])";
  const auto list = [&](const std::vector<std::string>& pods, std::string_view version) {
    store.begin_stage();
    for (const std::string& json : pods) {
      feed(json);
      store.stage();
    }
    store.publish(version);
  };
  list({pod("gone", "u1", "1", owned), pod("again", "u2", "2"), pod("seen", "u3", "3"),
        pod("swap", "u4", "4")},
       "10");
  feed(pod("seen", "u3", "11"));
  store.apply(EventKind::kDeleted);
  CHECK(std::exchange(deleted, {}) == std::vector<std::string>{"seen/u3 of nobody"});
  feed(pod("swap", "u5", "12"));
  store.apply(EventKind::kAdded);
  CHECK(std::exchange(deleted, {}) == std::vector<std::string>{"swap/u4 of nobody, end unknown"});
  list({pod("again", "u6", "15"), pod("swap", "u5", "12")}, "20");
  std::ranges::sort(deleted);
  CHECK(deleted ==
        std::vector<std::string>{"again/u2 of nobody, end unknown", "gone/u1 of j, end unknown"});
}

TEST_CASE("An object is its UID: a recreated name is a new object", "[L11]") {
  Fed fed;
  fed.list({pod("p", "old", "1")}, "10");
  fed.take();
  SECTION("seen as a change of UID") {
    fed.event(EventKind::kModified, pod("p", "new", "12"));
    CHECK(fed.take() == std::vector<std::string>{"+p/new", "-p/old"});
  }
  SECTION("hidden behind a relist") {
    fed.list({pod("p", "new", "12")}, "20");
    CHECK(fed.take() == std::vector<std::string>{"+p/new initial", "-p/old initial"});
  }
  SECTION("the late delete of the old one leaves the new one alone") {
    fed.event(EventKind::kAdded, pod("p", "new", "12"));
    fed.take();
    fed.event(EventKind::kDeleted, pod("p", "old", "13"));
    CHECK(fed.take().empty());
    CHECK(fed.store.find({"a", "p"})->metadata.uid == "new");
  }
}

TEST_CASE("Bookmarks move the version and nothing else", "[L6][W2]") {
  Fed fed;
  fed.list({pod("p", "u", "1")}, "10");
  fed.take();
  fed.store.advance("30");
  CHECK(fed.store.version() == "30");
  CHECK(fed.take().empty());
}

TEST_CASE("An event that brings nothing new tells nobody", "[Q7]") {
  Fed fed;
  fed.list({pod("p", "u", "5")}, "10");
  fed.take();
  fed.event(EventKind::kAdded, pod("p", "u", "5"));
  CHECK(fed.take().empty());
}

TEST_CASE("Snapshots stay as they were when the store moves on", "[L10]") {
  Fed fed;
  fed.list({pod("p", "u", "5")}, "10");
  const auto before = fed.store.find({"a", "p"});
  fed.event(EventKind::kModified, pod("p", "u", "12"));
  CHECK(before->metadata.version == "5");
  CHECK(fed.store.find({"a", "p"})->metadata.version == "12");
}

TEST_CASE("An index follows adds, changes, deletes and relists") {
  Fed fed;
  fed.store.add_index("job", [](const Pod& p) -> std::vector<std::string> {
    const auto job = p.metadata.labels.find("job");
    if (!job) return {};
    return {std::string(*job)};
  });
  const auto in = [&](std::string_view job) { return fed.store.by_index("job", job).size(); };
  fed.list({pod("p1", "u1", "1", R"(,"labels":{"job":"x"})"),
            pod("p2", "u2", "2", R"(,"labels":{"job":"x"})"), pod("p3", "u3", "3")},
           "10");
  CHECK(in("x") == 2);
  fed.event(EventKind::kModified, pod("p1", "u1", "11", R"(,"labels":{"job":"y"})"));
  CHECK((in("x") == 1 && in("y") == 1));
  fed.event(EventKind::kDeleted, pod("p2", "u2", "12", R"(,"labels":{"job":"x"})"));
  CHECK(in("x") == 0);
  fed.list({pod("p3", "u3", "13", R"(,"labels":{"job":"y"})")}, "20");
  CHECK(in("y") == 1);
}

TEST_CASE("An object that left the label selector is told as deleted with its last state",
          "[L16]") {
  Fed fed;
  fed.list({pod("p", "u", "5")}, "10");
  fed.take();
  fed.event(EventKind::kDeleted,
            pod("p", "u", "12"));  // the server's word for "no longer in your view"
  CHECK(fed.take() == std::vector<std::string>{"-p/u"});
}

TEST_CASE("An object without a name or a version is refused", "[L7]") {
  Store<Pod> store;
  for (const char* bad : {R"({"metadata":{"name":"p"}})", R"({"metadata":{"resourceVersion":"1"}})",
                          "{}", "[]", "7", ""}) {
    const std::string padded = bad + std::string(kJsonPadding, ' ');
    CHECK_FALSE(
        store.decode({.bytes = std::string_view(padded).substr(0, std::string_view(bad).size())}));
  }
}

TEST_CASE("Store keeps what can be read of an object that cannot be read as a whole", "[A1]") {
  const auto parts_of = [](const std::string& json) {
    Store<kube::PodGroup> store;
    std::string padded = json + std::string(kJsonPadding, ' ');
    const kube::RawObject raw{.bytes = std::string_view(padded).substr(0, json.size())};
    CHECK_FALSE(store.decode(raw));
    if (!store.decode_parts(raw)) return std::shared_ptr<const kube::PodGroup>();
    store.apply(EventKind::kAdded);
    return store.find({.ns = "a", .name = "g"});
  };
  const std::string who = R"("name":"g","namespace":"a","uid":"u","resourceVersion":"5")";
  const auto spec = parts_of(fmt::format(
      R"({{"metadata":{{{},"labels":{{"k":"v"}}}},"spec":{{"minMember":3,"minResources":{{"cpu":"x"}}}},"status":{{"running":2}}}})",
      who));
  REQUIRE(spec);
  CHECK(spec->spec == kube::PodGroupSpec{});  // all of a part, or nothing
  CHECK(spec->status.running == 2);
  CHECK(spec->metadata.labels.find("k") == "v");
  const auto metadata =
      parts_of(fmt::format(R"({{"spec":{{"minMember":3}},"metadata":{{{},"labels":5}}}})", who));
  REQUIRE(metadata);
  CHECK(metadata->metadata.uid == "u");
  CHECK(metadata->metadata.version == "5");
  CHECK(metadata->spec.members_min == 3);
  CHECK_FALSE(parts_of(R"({"metadata":{"name":7}})"));
  CHECK_FALSE(parts_of(R"({"metadata":{"name":"g"}})"));  // without a version
  CHECK_FALSE(parts_of("{"));
}

// Go's protobuf takes any bytes as a string, so a tenant can store them in an annotation.
TEST_CASE("Store keeps an object whose protobuf has text that is not UTF-8", "[A1]") {
  const auto field = [](int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  const std::string metadata = field(1, "s") + field(3, "a") + field(5, "u") + field(6, "5") +
                               field(12, field(1, "k") + field(2, "\xff"));
  const std::string spec = field(2, field(3, "None"));
  const std::string bytes = field(1, metadata) + spec;
  Store<kube::Service> store;
  const kube::RawObject raw{.bytes = bytes, .encoding = kube::Encoding::kProtobuf};
  CHECK_FALSE(store.decode(raw));
  REQUIRE(store.decode_parts(raw));
  store.apply(EventKind::kAdded);
  const auto found = store.find({.ns = "a", .name = "s"});
  REQUIRE(found);
  CHECK(found->metadata.annotations.empty());
  CHECK(found->spec.cluster_ip == "None");
}

}  // namespace
}  // namespace amdahl::controller
