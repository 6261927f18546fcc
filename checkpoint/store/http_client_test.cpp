#include "checkpoint/store/http_client.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "base/http_server.hpp"
#include "base/task_group.hpp"
#include "base/test_certificates.hpp"
#include "checkpoint/store/test_fake_server.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

using namespace std::chrono_literals;
RealClock real_clock;

// Says what it was told, and how long that was.
struct Echo final : FakeHandler {
  FakeReply handle(const FakeRequest& request) override {
    if (request.path == "/chunked")
      return {.fields = {{"transfer-encoding", "chunked"}, {"content-length", "0"}},
              .body = "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"};
    if (request.path == "/bytes")
      return {.status = 206, .body = std::string(std::stoull(request.parameter("n")), 'x')};
    return {.body = request.method + " " + request.body};
  }
};

struct Fixture {
  Result<StoreAnswer> ask(const StoreRequest& request, std::span<std::byte> into = {},
                          const StoreCall& call = {}) {
    return client.send(server.endpoint(), request, into, call);
  }
  Echo echo;
  FakeServer server{echo};
  HttpClient client{real_clock, {.times = {.progress = 5000ms}}};
};

TEST_CASE("HttpClient sends pieces and reads answers", "[checkpoint_store]") {
  Fixture fixture;
  const std::string large(3 << 20, 'y');
  const std::vector<Bytes> body{bytes_of("a"), {}, bytes_of(large), bytes_of("b")};
  const auto answer = fixture.ask({.method = "PUT", .target = "/x", .body = body});
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "PUT a" + large + "b");
  CHECK(fixture.ask({.target = "/y"})->body == "GET ");
  const auto head = fixture.ask({.method = "HEAD", .target = "/y"});
  REQUIRE(head);
  CHECK(head->body.empty());
  CHECK(head->field("Content-Length") == "5");
}

TEST_CASE("HttpClient fills a buffer, and takes no more than fits", "[checkpoint_store]") {
  Fixture fixture;
  std::vector<std::byte> into(1 << 20);
  auto answer = fixture.ask({.target = "/bytes?n=1048576"}, into);
  REQUIRE(answer);
  CHECK(answer->filled == into.size());
  CHECK(into.back() == std::byte{'x'});
  answer = fixture.ask({.target = "/bytes?n=1000"}, into);
  REQUIRE(answer);
  CHECK(answer->filled == 1000);
  CHECK(fixture.ask({.target = "/bytes?n=1048577"}, into).error().code == Errc::kTooLarge);
  CHECK(fixture.ask({.target = fmt::format("/bytes?n={}", kAnswerBytesMax + 1)}).error().code ==
        Errc::kTooLarge);
}

TEST_CASE("HttpClient keeps its connection, and does not use one that was closed",
          "[checkpoint_store]") {
  Fixture fixture;
  REQUIRE(fixture.ask({.target = "/1"}));
  REQUIRE(fixture.ask({.target = "/2"}));
  CHECK(fixture.server.connections() == 1);
  fixture.server.set_fault({.at = 0, .kind = FakeFaultKind::kLoseReply});
  CHECK(fixture.ask({.target = "/3"}).error().code == Errc::kIo);
  REQUIRE(fixture.ask({.target = "/4"}));
  CHECK(fixture.server.connections() == 2);
}

TEST_CASE("HttpClient ends at its deadlines and when it is stopped", "[checkpoint_store]") {
  Fixture fixture;
  fixture.server.set_fault({.at = 0, .kind = FakeFaultKind::kSlow, .always = true});
  const Monotonic begin = real_clock.monotonic();
  CHECK(fixture.ask({}, {}, {.deadline = begin + 100ms}).error().code == Errc::kTimeout);
  HttpClient impatient(real_clock, {.times = {.progress = 100ms}});
  CHECK(impatient.send(fixture.server.endpoint(), {}, {}, {}).error().code == Errc::kIo);
  std::stop_source stop;
  Result<StoreAnswer> answer;
  {
    std::jthread asking([&] { answer = fixture.ask({}, {}, {.stop = stop.get_token()}); });
    CHECK(wait_blocking(real_clock, 50ms, {}));
    stop.request_stop();
  }
  CHECK(answer.error().code == Errc::kCancelled);
  CHECK(fixture.ask({}, {}, {.stop = stop.get_token()}).error().code == Errc::kCancelled);
  CHECK(real_clock.monotonic() - begin < 2500ms);
  CHECK(wait_blocking(real_clock, 1h, {.stop = stop.get_token()}).error().code == Errc::kCancelled);
  CHECK(wait_blocking(real_clock, 1h, {.deadline = real_clock.monotonic() + 10ms}).error().code ==
        Errc::kTimeout);
}

TEST_CASE("HttpClient says when nobody is there", "[checkpoint_store]") {
  HttpClient client(real_clock, {});
  const auto refused = client.send({.tls = false, .host = "127.0.0.1", .port = 1}, {}, {}, {});
  CHECK(refused.error().code == Errc::kIo);
  CHECK_THAT(refused.error().context, Catch::Contains("http://127.0.0.1:1"));
  const StoreCall soon{.deadline = real_clock.monotonic() + 300ms};
  CHECK_FALSE(client.send({.tls = false, .host = "no-such-name.invalid", .port = 1}, {}, {}, soon));
}

TEST_CASE("HttpClient refuses what is no HTTP", "[checkpoint_store]") {
  Fixture fixture;
  // A length and chunks at once is how answers are smuggled.
  CHECK_FALSE(fixture.ask({.target = "/chunked"}));
  fixture.server.set_fault({.at = 0, .kind = FakeFaultKind::kCutReply});
  CHECK(fixture.ask({.target = "/x"}).error().code == Errc::kIo);
}

// A server with TLS, on a thread of its own.
class TlsServer {
 public:
  explicit TlsServer(const HttpTlsOptions& tls)
      : server_(io_.get_executor(), clock_, {.tls = tls},
                [](HttpRequest request, HttpResponder& responder) -> Task<void> {
                  (void)co_await responder.respond({.body = "secure " + request.body});
                }) {
    REQUIRE(run_until_complete(io_, server_.start()));
    io_.restart();
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~TlsServer() {
    io_.stop();
    thread_.join();
    io_.restart();
    (void)run_until_complete(io_, server_.stop(clock_.monotonic()));
  }
  std::uint16_t port() const { return server_.port(); }

 private:
  RealClock clock_;
  boost::asio::io_context io_;
  HttpServer server_;
  std::jthread thread_;
};

TEST_CASE("HttpClient speaks TLS with whom it can verify", "[checkpoint_store]") {
  const TestFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  };
  CertificateAuthority authority;
  const Certificate leaf = authority.issue({.addresses = {}});
  const TlsServer server({.certificate_file = write("tls.crt", leaf.certificate_pem),
                          .key_file = write("tls.key", leaf.key_pem)});
  const std::string trusted = write("ca.crt", authority.certificate_pem());
  HttpClient client(real_clock, {.ca_file = trusted});
  const std::string body(2 << 20, 'z');
  const StoreRequest request{.method = "PUT", .target = "/x", .body = {bytes_of("small")}};
  for (int i = 0; i < 2; ++i) {
    const auto answer = client.send({true, "localhost", server.port()}, request, {}, {});
    REQUIRE(answer);
    CHECK(answer->body == "secure small");
  }
  // The certificate has no address in it.
  const auto other_name = client.send({true, "127.0.0.1", server.port()}, request, {}, {});
  CHECK(other_name.error().code == Errc::kTls);
  CertificateAuthority stranger("somebody else");
  HttpClient wary(real_clock, {.ca_file = write("other.crt", stranger.certificate_pem())});
  CHECK(wary.send({true, "localhost", server.port()}, request, {}, {}).error().code == Errc::kTls);
  HttpClient lost(real_clock, {.ca_file = folder.path() + "/absent"});
  CHECK(lost.send({true, "localhost", server.port()}, request, {}, {}).error().code == Errc::kTls);
}

}  // namespace
}  // namespace amdahl::checkpoint
