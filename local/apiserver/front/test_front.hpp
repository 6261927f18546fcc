// An embedded API server on loopback, and our own client to it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/task_group.hpp"
#include "local/apiserver/front/front.hpp"
#include "local/apiserver/front/tokens.hpp"
#include "operator/kube/credentials.hpp"
#include "operator/kube/http_transport.hpp"

namespace amdahl::local {

class TokenCredentials final : public kube::Credentials {
 public:
  explicit TokenCredentials(std::string token) : token_(std::move(token)) {}
  Task<Result<std::vector<kube::Header>>> headers(Monotonic /*deadline*/) override {
    std::vector<kube::Header> headers;
    if (!token_.empty()) headers.push_back({"Authorization", "Bearer " + token_});
    co_return headers;
  }
  void rejected(Monotonic /*request_start*/) override {}

 private:
  std::string token_;
};

// One life of a server; several may follow each other on one file.
class TestFront {
 public:
  explicit TestFront(const std::string& file = ":memory:", HttpServerOptions http = {},
                     Options options = {})
      : server(rules, Rng(7), options) {
    auto opened = Journal::open(file);
    REQUIRE(opened);
    journal = *std::move(opened);
    durable = std::make_unique<DurableServer>(io.get_executor(), clock, server, *journal);
    REQUIRE(durable->start());
    front = std::make_unique<Front>(io.get_executor(), clock, *durable, tokens, std::move(http));
    REQUIRE(run_until_complete(io, front->start()));
    transport = connect(credentials);
  }
  ~TestFront() {
    transport.reset();
    (void)run_until_complete(io, front->stop(clock.monotonic() + std::chrono::seconds{5}));
    (void)run_until_complete(io, durable->stop(clock.monotonic() + std::chrono::seconds{5}));
  }

  std::unique_ptr<kube::HttpTransport> connect(kube::Credentials& who) {
    return std::make_unique<kube::HttpTransport>(
        io.get_executor(), clock,
        kube::HttpTransportOptions{.server = kube::Url{.scheme = "http",
                                                       .host = "127.0.0.1",
                                                       .port = front->port(),
                                                       .base_path = "",
                                                       .user = "",
                                                       .password = ""},
                                   .credentials = &who});
  }
  Monotonic soon() const { return clock.monotonic() + std::chrono::seconds{10}; }
  kube::Response send(kube::Request request) {
    auto response = run_until_complete(io, transport->send(std::move(request), soon()));
    INFO((response ? "" : response.error().context));
    REQUIRE(response);
    return *std::move(response);
  }
  kube::Response create(const kube::Resource& resource, std::string ns, std::string body) {
    return send(*kube::create_request(resource, ns, "", std::move(body)));
  }

  const std::string admin = std::string(64, 'a');
  boost::asio::io_context io;
  RealClock clock;
  BuiltinSchemas schemas;
  Tokens tokens{admin, std::string(64, 's')};
  ServedKinds rules{schemas, tokens, "127.0.0.1"};
  ApiServer server;
  TokenCredentials credentials{admin};
  std::unique_ptr<Journal> journal;
  std::unique_ptr<DurableServer> durable;
  std::unique_ptr<Front> front;
  std::unique_ptr<kube::HttpTransport> transport;
};

}  // namespace amdahl::local
