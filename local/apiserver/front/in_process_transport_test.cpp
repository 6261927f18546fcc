#include "local/apiserver/front/in_process_transport.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "local/apiserver/front/test_front.hpp"

namespace amdahl::local {
namespace {

const kube::Resource kMaps{.version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

struct Fence final : kube::WriteFence {
  bool may_write(Monotonic /*now*/) const override { return open; }
  bool open = true;
};

struct InProcess : TestFront {
  InProcessTransport wire{*durable, clock, {.name = "system:kube-scheduler"}};

  InProcess() {
    const kube::Resource spaces{
        .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
    REQUIRE(create(spaces, "", R"({"metadata":{"name":"default"}})").status == 201);
  }
  Result<kube::Response> make(const std::string& name) {
    const Json map{{"metadata", {{"name", name}}}, {"data", {{"k", "v"}}}};
    auto request = kube::create_request(kMaps, "default", "", map.dump());
    return run_until_complete(io, wire.send(*std::move(request), soon()));
  }
};

TEST_CASE("InProcessTransport writes what clients over HTTP see, under its user's name") {
  InProcess server;
  const auto made = server.make("one");
  REQUIRE(made);
  CHECK(made->status == 201);
  const auto seen = server.send(*kube::get_request(kMaps, {.ns = "default", .name = "one"}));
  CHECK(seen.status == 200);
  CHECK(Json::parse(seen.body)["metadata"]["managedFields"][0]["manager"] ==
        "system:kube-scheduler");
}

TEST_CASE("InProcessTransport asks the fence before a write, and lets reads pass") {
  InProcess server;
  Fence fence;
  fence.open = false;
  server.wire.set_fence(&fence);
  const auto refused = server.make("one");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kFenced);
  const auto read = run_until_complete(
      server.io, server.wire.send(*kube::list_request(kMaps, {}), server.soon()));
  REQUIRE(read);
  CHECK(Json::parse(read->body)["items"].empty());
}

TEST_CASE("InProcessTransport streams a watch in pieces of any size, and ends a wait in time") {
  InProcess server;
  auto opened = run_until_complete(
      server.io, server.wire.open(*kube::watch_request(kMaps, {.ns = "default"}), server.soon()));
  REQUIRE(opened);
  REQUIRE(opened->body);
  REQUIRE(server.make("one"));
  std::string seen;
  std::array<char, 7> piece{};
  while (!seen.ends_with('\n')) {
    const auto read = run_until_complete(server.io, opened->body->read(piece, server.soon()));
    REQUIRE(read);
    seen.append(piece.data(), *read);
  }
  CHECK(Json::parse(seen)["type"] == "ADDED");
  const auto late = run_until_complete(
      server.io,
      opened->body->read(piece, server.clock.monotonic() + std::chrono::milliseconds{20}));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::kTimeout);
}

}  // namespace
}  // namespace amdahl::local
