// Random histories against a naive model that keeps every state it ever had.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

using State = std::map<std::string, std::string>;  // key -> version, as a client sees it

struct Viewer {  // somebody who lists once and then only watches
  std::unique_ptr<WatchStream> stream = {};
  State state = {};
  std::uint64_t version = 0;
  bool picky = false;  // sees only what has the label g=1
  bool lost = false;
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : rng_(seed), test_(small_history()) {
    test_.durable = false;
    test_.server.committed(test_.server.version());
    states_[test_.server.version()] = {};
  }

  void run(int steps) {
    for (int at = 0; at < steps; ++at) {
      one_step();
      if (rng_.chance(0.5)) test_.server.committed(test_.server.version());
      if (rng_.chance(0.3)) read_streams(0.7);
      if (rng_.chance(0.1)) check_pages();
    }
    test_.server.committed(test_.server.version());
    read_streams(1.0);
    for (const Viewer& viewer : viewers_)
      if (!viewer.lost) CHECK(viewer.state == seen_by(viewer, states_.rbegin()->second));
    CHECK(current() == states_.rbegin()->second);
  }
  int watched = 0;
  int paged = 0;

 private:
  static Options small_history() { return {.history = {.events_max = 60}}; }
  static std::string path(const std::string& key) {
    const std::size_t slash = key.find('/');
    return "/api/v1/namespaces/" + key.substr(0, slash) + "/configmaps" + key.substr(slash);
  }
  std::string any_key() {
    const std::string ns = rng_.chance(0.5) ? "default" : "other";
    return ns + "/m" + std::to_string(rng_.below(12));
  }

  void one_step() {
    const std::string key = any_key();
    const std::size_t kind = rng_.below(10);
    if (kind < 4)
      create(key);
    else if (kind < 7)
      update(key);
    else if (kind < 9)
      remove(key);
    else if (viewers_.size() < 6)
      open_viewer();
  }
  // What the server says has to be what the model says, and a version is never seen twice.
  void wrote(const std::string& key, const Got& got, bool removed) {
    State next = states_.rbegin()->second;
    const std::uint64_t version = test_.server.version();
    REQUIRE(version > states_.rbegin()->first);
    if (removed)
      next.erase(key);
    else
      next[key] = text_at(got.body["metadata"], "resourceVersion");
    if (!removed) CHECK(next[key] == std::to_string(version));
    CHECK(got.reply.wait_version == version);
    labelled_[std::to_string(version)] =
        !removed && text_at(got.body["metadata"].value("labels", Json()), "g") == "1";
    states_[version] = std::move(next);
  }
  State seen_by(const Viewer& viewer, State state) const {
    if (viewer.picky)
      std::erase_if(state, [&](const auto& one) { return !labelled_.at(one.second); });
    return state;
  }
  std::string any_labels() { return rng_.chance(0.5) ? R"({"g":"1"})" : R"({"g":"2"})"; }
  void create(const std::string& key) {
    const std::string name = key.substr(key.find('/') + 1);
    const std::string target = path(key);
    const Got got =
        test_.call("POST", target.substr(0, target.rfind('/')),
                   R"({"metadata":{"name":")" + name + R"(","labels":)" + any_labels() + "}}");
    if (states_.rbegin()->second.contains(key))
      CHECK(got.status == 409);
    else {
      REQUIRE(got.status == 201);
      wrote(key, got, false);
    }
  }
  void update(const std::string& key) {
    const State& now = states_.rbegin()->second;
    const auto found = now.find(key);
    const std::string version = found == now.end() || rng_.chance(0.2) ? "1" : found->second;
    const std::string body = R"({"metadata":{"name":")" + key.substr(key.find('/') + 1) +
                             R"(","labels":)" + any_labels() + R"(,"resourceVersion":")" + version +
                             R"("},"data":{"n":")" + std::to_string(++counter_) + R"("}})";
    const Got got = test_.call("PUT", path(key), body);
    if (found == now.end())
      CHECK(got.status == 404);
    else if (version != found->second)
      CHECK(got.status == 409);
    else {
      REQUIRE(got.status == 200);
      wrote(key, got, false);
    }
  }
  void remove(const std::string& key) {
    const bool there = states_.rbegin()->second.contains(key);
    const Got got = test_.call("DELETE", path(key));
    REQUIRE(got.status == (there ? 200 : 404));
    if (there) wrote(key, got, true);
  }

  State current() {
    State state;
    for (const Json& item : test_.get("/api/v1/configmaps").body["items"])
      state[text_at(item["metadata"], "namespace") + "/" + text_at(item["metadata"], "name")] =
          text_at(item["metadata"], "resourceVersion");
    return state;
  }
  void open_viewer() {
    Viewer viewer{.picky = rng_.chance(0.5)};
    std::string query = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    if (rng_.chance(0.5)) {
      const Got list = test_.get("/api/v1/configmaps");
      viewer.version = std::stoull(text_at(list.body["metadata"], "resourceVersion"));
      viewer.state = seen_by(viewer, states_.at(viewer.version));
      query = "?watch=1&resourceVersion=" + std::to_string(viewer.version);
    }
    if (viewer.picky) query += "&labelSelector=g%3D1";
    Got got = test_.get("/api/v1/configmaps" + query);
    REQUIRE(got.reply.stream);
    viewer.stream = std::move(got.reply.stream);
    viewers_.push_back(std::move(viewer));
  }
  // After every event of a live watch the viewer's state is the one the model had then.
  void read_streams(double share) {
    for (Viewer& viewer : viewers_) {
      if (viewer.lost || !rng_.chance(share)) continue;
      for (const Json& event : TestServer::drain(*viewer.stream)) {
        if (event["type"] == "ERROR") {
          CHECK(event["object"]["code"] == 410);
          viewer.lost = true;
          break;
        }
        follow(viewer, event);
      }
    }
  }
  void follow(Viewer& viewer, const Json& event) {
    const Json& meta = event["object"]["metadata"];
    const std::string version = text_at(meta, "resourceVersion");
    const std::string key = text_at(meta, "namespace") + "/" + text_at(meta, "name");
    const std::uint64_t number = std::stoull(version);
    REQUIRE(number <= test_.server.durable());
    if (event["type"] == "DELETED") {
      CHECK(viewer.state.erase(key) == 1);
    } else {
      CHECK(viewer.state.contains(key) == (event["type"] == "MODIFIED"));
      viewer.state[key] = version;
    }
    // Initial events come by key and not by version; what follows them is in order.
    const bool live = number > viewer.version && viewer.version != 0;
    if (live) CHECK(viewer.state == seen_by(viewer, states_.at(number)));
    if (live || event["type"] != "ADDED") viewer.version = number;
    ++watched;
  }
  void check_pages() {
    const std::uint64_t version = test_.server.version();
    const State expected = states_.rbegin()->second;
    State seen;
    std::string token;
    do {
      const Got page =
          test_.get("/api/v1/configmaps?limit=3" + (token.empty() ? "" : "&continue=" + token));
      if (page.status == 410) return;
      REQUIRE(page.status == 200);
      CHECK(text_at(page.body["metadata"], "resourceVersion") == std::to_string(version));
      for (const Json& item : page.body["items"])
        seen[text_at(item["metadata"], "namespace") + "/" + text_at(item["metadata"], "name")] =
            text_at(item["metadata"], "resourceVersion");
      token = text_at(page.body["metadata"], "continue");
      if (rng_.chance(0.7)) one_step();
    } while (!token.empty());
    CHECK(seen == expected);
    ++paged;
  }

  Rng rng_;
  TestServer test_;
  std::map<std::uint64_t, State> states_;  // after every version
  std::map<std::string, bool> labelled_;   // by version: has g=1
  std::vector<Viewer> viewers_;
  int counter_ = 0;
};

}  // namespace

TEST_CASE("Random histories are what a naive model says") {
  int watched = 0;
  int paged = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Model model(seed);
    model.run(120);
    watched += model.watched;
    paged += model.paged;
  }
  CHECK(watched > 1'000);
  CHECK(paged > 100);
}

}  // namespace amdahl::local
