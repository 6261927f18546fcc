// What the tests of the transport share: a server to script, a transport to it, fake credentials.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task_group.hpp"
#include "operator/kube/credentials.hpp"
#include "operator/kube/http_transport.hpp"
#include "tests/kit/scripted_server.hpp"

namespace amdahl::kube {

inline constexpr std::string_view kSecret = "s3cr3t-t0ken-that-nobody-may-see";

inline const Resource kPodResource{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};

inline Request get_pod() {
  return *get_request(kPodResource, {"research", "llama-0"});
}
inline Request list_pods() {
  return *list_request(kPodResource, {.ns = "research"});
}
inline Request watch_pods() {
  return *watch_request(kPodResource, {.ns = "research"});
}
inline Request create_pod() {
  return *create_request(kPodResource, "research", "llama-0", R"({"kind":"Pod"})");
}

// Gives out one token after another.
class FakeCredentials final : public Credentials {
 public:
  std::vector<std::string> tokens{std::string(kSecret)};
  std::size_t current = 0;
  std::size_t rejections = 0;

  Task<Result<std::vector<Header>>> headers(Monotonic /*deadline*/) override {
    co_return std::vector<Header>{{"Authorization", "Bearer " + tokens[current]}};
  }
  void rejected(Monotonic /*request_start*/) override {
    ++rejections;
    if (current + 1 < tokens.size()) ++current;
  }
};

class FakeFence final : public WriteFence {
 public:
  bool open = true;
  bool may_write(Monotonic /*now*/) const override { return open; }
};

struct TransportFixture {
  boost::asio::io_context io;
  RealClock clock;
  testkit::ScriptedServer server{io, clock};
  FakeCredentials credentials;
  HttpTransportOptions options{.server = Url{.scheme = "http",
                                             .host = "127.0.0.1",
                                             .port = server.port(),
                                             .base_path = "",
                                             .user = "",
                                             .password = ""},
                               .credentials = &credentials};
  std::unique_ptr<HttpTransport> made;

  HttpTransport& transport() {
    if (!made) made = std::make_unique<HttpTransport>(io.get_executor(), clock, options);
    return *made;
  }
  Monotonic in(std::chrono::milliseconds delay) const { return clock.monotonic() + delay; }
  Result<Response> send(Request request,
                        std::chrono::milliseconds limit = std::chrono::seconds{5}) {
    return run_until_complete(io, transport().send(std::move(request), in(limit)));
  }
  Result<StreamResponse> open(Request request,
                              std::chrono::milliseconds limit = std::chrono::seconds{5}) {
    return run_until_complete(io, transport().open(std::move(request), in(limit)));
  }
  Result<std::string> read(BodyStream& body, std::size_t room = 65536,
                           std::chrono::milliseconds limit = std::chrono::seconds{5}) {
    std::string text(room, '\0');
    TRY(const auto size, run_until_complete(io, body.read(text, in(limit))));
    text.resize(size);
    return text;
  }
};

}  // namespace amdahl::kube
