#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "base/http_server.hpp"
#include "base/test_http_site.hpp"

namespace amdahl {
namespace {
using Catch::EndsWith;
using Catch::StartsWith;

// Clients whose connections are kept, each vouched for under a name.
class Crowd {
 public:
  explicit Crowd(HttpLimits limits) : test_({.limits = limits}) {}

  RawClient& connect() {
    clients_.push_back(std::make_unique<RawClient>(test_.io, test_.server->port()));
    return *clients_.back();
  }
  RawClient& connect_as(std::string_view owner) {
    RawClient& client = connect();
    CHECK_THAT(ask(client, owner), EndsWith("hello"));
    return client;
  }
  std::string ask(RawClient& client, std::string_view owner) {
    client.received().clear();
    client.send(fmt::format("GET /vouch?as={} HTTP/1.1\r\nHost: x\r\n\r\n", owner));
    return client.receive_until("hello");
  }
  bool closes(RawClient& client) {
    return test_.until([&] { return client.closed(); });
  }
  bool settles_at(std::size_t connections) {
    return test_.until([&] { return test_.server->connections() == connections; });
  }
  HttpFixture& test() { return test_; }

 private:
  HttpFixture test_;
  std::vector<std::unique_ptr<RawClient>> clients_;
};

TEST_CASE("HttpServer closes the oldest connection of an owner that has too many", "[A6]") {
  Crowd crowd({.strangers_per_peer_max = 8, .connections_per_owner_max = 3});
  RawClient& other = crowd.connect_as("other");
  std::vector<RawClient*> greedy;
  for (int i = 0; i < 20; ++i) greedy.push_back(&crowd.connect_as("greedy"));
  for (std::size_t i = 0; i < 17; ++i) CHECK(crowd.closes(*greedy[i]));
  CHECK(crowd.settles_at(4));
  for (std::size_t i = 17; i < 20; ++i)
    CHECK_THAT(crowd.ask(*greedy[i], "greedy"), EndsWith("hello"));
  CHECK_THAT(crowd.ask(other, "other"), EndsWith("hello"));
}

TEST_CASE("HttpServer counts a connection for the first owner that was named", "[A6]") {
  Crowd crowd({.connections_per_owner_max = 2});
  RawClient& first = crowd.connect_as("first");
  RawClient& second = crowd.connect_as("second");
  CHECK_THAT(crowd.ask(first, "second"), EndsWith("hello"));
  RawClient& third = crowd.connect_as("second");
  CHECK(crowd.settles_at(3));
  for (RawClient* client : {&first, &second, &third})
    CHECK_THAT(crowd.ask(*client, "second"), EndsWith("hello"));
}

TEST_CASE("HttpServer: a connection that has ended does not count for its owner", "[A6]") {
  Crowd crowd({.connections_per_owner_max = 2});
  RawClient& first = crowd.connect_as("one");
  for (std::size_t i = 0; i < 5; ++i) {
    crowd.connect_as("one").socket().close();
    CHECK(crowd.settles_at(1));
  }
  CHECK_THAT(crowd.ask(first, "one"), EndsWith("hello"));
}

TEST_CASE("HttpServer: an owner of several makes room when all places are taken", "[A6]") {
  Crowd crowd({.connections_max = 6, .strangers_per_peer_max = 6, .connections_per_owner_max = 4});
  std::vector<RawClient*> greedy;
  for (int i = 0; i < 4; ++i) greedy.push_back(&crowd.connect_as("greedy"));
  std::vector<RawClient*> honest;
  for (int i = 0; i < 5; ++i) {
    honest.push_back(&crowd.connect_as(fmt::format("honest-{}", i)));
    CHECK(crowd.settles_at(std::min<std::size_t>(6, 5 + static_cast<std::size_t>(i))));
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(crowd.closes(*greedy[i]));
  // Each owner has one: nobody is left that would have to go.
  CHECK_THAT(crowd.test().connect().receive_all(), StartsWith("HTTP/1.1 503 "));
  CHECK_THAT(crowd.ask(*greedy[3], "greedy"), EndsWith("hello"));
  for (std::size_t i = 0; i < honest.size(); ++i)
    CHECK_THAT(crowd.ask(*honest[i], fmt::format("honest-{}", i)), EndsWith("hello"));
}

TEST_CASE("HttpServer cuts off an owner whose connections are all busy", "[A6]") {
  Crowd crowd({.connections_per_owner_max = 1});
  RawClient& busy = crowd.connect_as("greedy");
  busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(crowd.test().until([&] { return crowd.test().site.seen.size() == 2; }));
  RawClient& next = crowd.connect_as("greedy");
  CHECK(crowd.closes(busy));
  crowd.test().site.go_on.notify_all();
  CHECK(crowd.settles_at(1));
  CHECK_THAT(crowd.ask(next, "greedy"), EndsWith("hello"));
}

}  // namespace
}  // namespace amdahl
