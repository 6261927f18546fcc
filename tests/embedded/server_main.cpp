// The embedded API server as a process, for tests: nothing but the server.
//
//   embedded_server --kubeconfig FILE [--data FILE] [--port N] [--tls DIR]
//
// Plain HTTP, or TLS with server.crt and server.key of DIR, which ca.crt there has signed.
// Writes a kubeconfig with a fresh token, prints "ready" and serves until SIGTERM.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/rng.hpp"
#include "base/task_group.hpp"
#include "local/apiserver/front/front.hpp"
#include "local/apiserver/front/tokens.hpp"
#include "operator/controller/signals.hpp"

namespace amdahl::local {
namespace {

constexpr std::chrono::seconds kStopMax{5};

struct Arguments {
  std::string kubeconfig = {};
  std::string data = ":memory:";
  std::string tls = {};  // a folder; empty: plain HTTP
  std::uint16_t port = 0;
};

Result<Arguments> parse(std::span<char* const> words) {
  Arguments found;
  for (std::size_t at = 1; at + 1 < words.size(); at += 2) {
    const std::string_view name = words[at];
    const std::string_view value = words[at + 1];
    if (name == "--kubeconfig") {
      found.kubeconfig = value;
    } else if (name == "--data") {
      found.data = value;
    } else if (name == "--tls") {
      found.tls = value;
    } else if (name == "--port") {
      std::from_chars(value.data(), value.data() + value.size(), found.port);
    } else {
      return fail(Errc::kInvalid, "unknown argument {}", name);
    }
  }
  if (found.kubeconfig.empty()) return fail(Errc::kInvalid, "--kubeconfig FILE is required");
  return found;
}

std::string cluster_of(const Arguments& arguments, std::uint16_t port) {
  if (arguments.tls.empty()) return fmt::format("server: \"http://127.0.0.1:{}\"", port);
  return fmt::format("server: \"https://127.0.0.1:{}\", certificate-authority: \"{}/ca.crt\"", port,
                     arguments.tls);
}

Result<void> write_kubeconfig(const Arguments& arguments, std::uint16_t port,
                              const std::string& token) {
  const std::string& path = arguments.kubeconfig;
  const std::string text = fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: embedded\n"
      "clusters:\n- name: embedded\n  cluster: {{{}}}\n"
      "users:\n- name: admin\n  user: {{token: \"{}\"}}\n"
      "contexts:\n- name: embedded\n  context: {{cluster: embedded, user: admin}}\n",
      cluster_of(arguments, port), token);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) ::close(file);
  if (!written) return fail(Errc::kIo, "write {}", path);
  return {};
}

HttpServerOptions http_options(const Arguments& arguments, const Log& log) {
  HttpServerOptions options{.port = arguments.port, .log = log};
  if (!arguments.tls.empty())
    options.tls = HttpTlsOptions{.certificate_file = arguments.tls + "/server.crt",
                                 .key_file = arguments.tls + "/server.key"};
  return options;
}

// What a new cluster has; a second start finds it there.
void make_namespaces(ApiServer& server, WallTime now) {
  for (const std::string_view name : {"default", "kube-system"})
    (void)server.handle({.method = "POST",
                         .target = "/api/v1/namespaces",
                         .content_type = "application/json",
                         .user_agent = "embedded",
                         .body = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name)},
                        now);
}

Task<Result<void>> serve(Clock& clock, const Arguments& arguments, Journal& journal) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const std::string admin = random_token();
  Tokens tokens(admin, random_token());
  const BuiltinSchemas schemas;
  ServedKinds rules(schemas, tokens, "127.0.0.1");
  ApiServer server(rules, Rng(static_cast<std::uint64_t>(clock.wall().time_since_epoch().count())));
  const Log log(clock, fd_log_sink(STDERR_FILENO));
  DurableServer durable(executor, clock, server, journal, log);
  CO_TRY(durable.start());
  Front front(executor, clock, durable, tokens, http_options(arguments, log));
  CO_TRY(co_await front.start());
  make_namespaces(server, clock.wall());
  CO_TRY(write_kubeconfig(arguments, front.port(), admin));
  fmt::print("ready {}\n", front.port());
  std::fflush(stdout);
  Notify ended(executor);
  const controller::StopSignals signals(
      executor, [&ended] { ended.notify_all(); }, [] { std::_Exit(EXIT_FAILURE); });
  (void)co_await ended.wait(clock, Monotonic::max());
  const Monotonic deadline = clock.monotonic() + kStopMax;
  CO_TRY(co_await front.stop(deadline));
  co_return co_await durable.stop(deadline);
}

Result<void> start(std::span<char* const> words) {
  TRY(const Arguments arguments, parse(words));
  RealClock clock;
  boost::asio::io_context io(1);
  TRY(const auto journal, Journal::open(arguments.data));
  return run_until_complete(io, serve(clock, arguments, *journal), {.wall = {}});
}

}  // namespace
}  // namespace amdahl::local

int main(int argc, char** argv) {
  const auto done = amdahl::local::start({argv, static_cast<std::size_t>(argc)});
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "embedded_server: {}\n", done.error().context);
  return EXIT_FAILURE;
}
