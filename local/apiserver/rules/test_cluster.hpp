// The whole embedded API server without I/O, with short ways to call it.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "local/apiserver/core/api_server.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {

class OneIdentity final : public Identities {
 public:
  std::optional<Owner> owner_of(std::string_view token, WallTime) const override {
    if (token != "good") return std::nullopt;
    return Owner{.user = {.name = "somebody", .groups = {"people"}},
                 .audiences = {kApiAudience, "reports"}};
  }
  std::optional<Issued> issue(const Wish& wish, WallTime now) override {
    std::string token = wish.ns + ":" + wish.account + ":" + wish.pod + ":" + wish.pod_uid;
    for (const std::string& audience : wish.audiences) token += ":" + audience;
    return Issued{.token = std::move(token), .expires = now + std::chrono::seconds{wish.seconds}};
  }
};

class TestCluster {
 public:
  TestCluster() { create("/api/v1/namespaces", R"({"metadata":{"name":"default"}})"); }

  struct Got {
    int status = 0;
    Json body = {};
    std::string text = {};
  };
  Got call(Call call) {
    const Reply reply = server.handle(call, now);
    server.committed(server.version());
    return {.status = reply.status,
            .body = Json::parse(reply.body, nullptr, false),
            .text = reply.body};
  }
  Got get(std::string target, std::string accept = "application/json") {
    return call({.method = "GET", .target = std::move(target), .accept = std::move(accept)});
  }
  Got post(std::string target, std::string body) {
    return call({.method = "POST",
                 .target = std::move(target),
                 .content_type = "application/json",
                 .user_agent = "test/1",
                 .body = std::move(body)});
  }
  Got patch(std::string target, std::string type, std::string body) {
    return call({.method = "PATCH",
                 .target = std::move(target),
                 .content_type = std::move(type),
                 .user_agent = "test/1",
                 .body = std::move(body)});
  }
  Json create(std::string target, std::string body) {
    const Got got = post(std::move(target), std::move(body));
    INFO(got.text);
    REQUIRE(got.status == 201);
    return got.body;
  }

  WallTime now{std::chrono::seconds{1'800'000'000}};
  BuiltinSchemas schemas;
  OneIdentity identities;
  ServedKinds rules{schemas, identities, "127.0.0.1:6443"};
  ApiServer server{rules, Rng(7)};
};

}  // namespace amdahl::local
