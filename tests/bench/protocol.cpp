#include "tests/bench/protocol.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "base/rng.hpp"
#include "operator/kube/environment.hpp"
#include "operator/kube/types_core.hpp"
#include "tests/bench/pod_manifest.hpp"

namespace amdahl::bench {
namespace {
struct Flag {
  std::string_view name = {};
  bool Arguments::* member = nullptr;
};
struct Number {
  std::string_view name = {};
  std::int64_t Arguments::* member = nullptr;
};
constexpr std::array kFlags = {Flag{"--strip", &Arguments::strip},
                               Flag{"--quiet", &Arguments::quiet},
                               Flag{"--json", &Arguments::json}};
constexpr std::array kNumbers = {
    Number{"--pods", &Arguments::pods},       Number{"--count", &Arguments::count},
    Number{"--rate", &Arguments::rate},       Number{"--first-seq", &Arguments::first_seq},
    Number{"--clients", &Arguments::clients}, Number{"--jobs", &Arguments::jobs}};

Result<std::int64_t> parse_number(std::string_view word, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1)
    return fail(Errc::kInvalid, "{} needs a whole number above zero, not '{}'", word, text);
  return number;
}

Result<void> set_value(Arguments& into, std::string_view word, std::string_view value) {
  if (word == "--kubeconfig") {
    into.kubeconfig = value;
    return {};
  }
  if (word == "--kind") {
    into.kind = value;
    return {};
  }
  for (const Number& number : kNumbers) {
    if (number.name != word) continue;
    TRY(into.*number.member, parse_number(word, value));
    return {};
  }
  return fail(Errc::kInvalid, "unknown argument {}", word);
}

bool set_flag(Arguments& into, std::string_view word) {
  for (const Flag& flag : kFlags) {
    if (flag.name != word) continue;
    into.*flag.member = true;
    return true;
  }
  return false;
}

// A line of /proc/self/status, such as "VmRSS:     1234 kB".
std::uint64_t status_kb(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  return 0;
}

std::int64_t micros(const timeval& time) {
  return time.tv_sec * 1'000'000 + time.tv_usec;
}
}  // namespace

Result<Arguments> parse_arguments(std::span<char* const> words) {
  Arguments found;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (set_flag(found, word)) continue;
    if (!word.starts_with("--")) {
      found.verb = word;
    } else if (at + 1 < words.size()) {
      TRY(set_value(found, word, words[++at]));
    } else {
      return fail(Errc::kInvalid, "{} is unknown or needs a value", word);
    }
  }
  if (found.kubeconfig.empty()) return fail(Errc::kInvalid, "--kubeconfig PATH is required");
  return found;
}

Result<std::unique_ptr<kube::Session>> connect(boost::asio::io_context& io, Clock& clock,
                                               const std::string& kubeconfig) {
  const kube::Environment environment = kube::process_environment();
  TRY(const kube::Config config, kube::load_config({.kubeconfig = kubeconfig}, environment));
  // Any seed will do: it spreads retries, of which a benchmark has none.
  return kube::Session::make(io.get_executor(), clock, Rng(static_cast<std::uint64_t>(getpid())),
                             config, environment, {.user_agent = "amdahl-bench"});
}

Task<Result<void>> make_namespaces(kube::Client& client) {
  for (std::uint32_t number = 0; number < kNamespaces; ++number) {
    const std::string name = namespace_name(number);
    const std::string body = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name);
    CO_TRY(auto request, kube::create_request(kube::kNamespaces, "", name, body));
    const auto made = co_await client.send(std::move(request));
    if (!made && made.error().code != Errc::kAlreadyExists)
      co_return std::unexpected<Error>(made.error());
  }
  co_return Result<void>{};
}

void emit(Monotonic at, std::string_view event, std::string_view fields) {
  const std::string line =
      fmt::format(R"({{"ev":"{}","t_ns":{}{}{}}})"
                  "\n",
                  event, at.time_since_epoch().count(), fields.empty() ? "" : ",", fields);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::string usage_fields(std::uint64_t events) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return fmt::format(R"("utime_us":{},"stime_us":{},"rss_kb":{},"hwm_kb":{},"events":{})",
                     micros(used.ru_utime), micros(used.ru_stime), status_kb("VmRSS:"),
                     status_kb("VmHWM:"), events);
}

}  // namespace amdahl::bench
