#include "tests/simulation/sim_wire.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/simulation/sim_stream.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::uint64_t kLatencyMaxUs = 20'000;
constexpr double kSlowChance = 0.02;
constexpr std::uint64_t kSlowMaxUs = 1'500'000;

std::string header(const kube::Request& request, std::string_view name) {
  const auto found = std::ranges::find(request.headers, name, &kube::Header::name);
  return found == request.headers.end() ? std::string() : found->value;
}

kube::Response response_of(local::Reply& reply) {
  kube::Response response{.status = reply.status,
                          .headers = {{.name = "Content-Type", .value = reply.content_type}},
                          .body = std::move(reply.body)};
  for (auto& [name, value] : reply.headers)
    response.headers.push_back({.name = name, .value = std::move(value)});
  return response;
}

kube::Response refusal(std::int64_t status, bool write) {
  if (status == 409 && !write) status = 500;  // nothing conflicts with a read
  const std::string_view reason = status == 409   ? "Conflict"
                                  : status == 429 ? "TooManyRequests"
                                  : status == 503 ? "ServiceUnavailable"
                                  : status == 504 ? "Timeout"
                                                  : "InternalError";
  const Json body = {{"kind", "Status"}, {"apiVersion", "v1"},    {"status", "Failure"},
                     {"reason", reason}, {"message", "injected"}, {"code", status}};
  kube::Response response{.status = static_cast<int>(status),
                          .headers = {{.name = "Content-Type", .value = "application/json"}},
                          .body = body.dump()};
  if (status == 429 || status == 503)
    response.headers.push_back({.name = "Retry-After", .value = "1"});
  return response;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

}  // namespace

// One request under way and its answer.
struct SimWire::Exchange {
  explicit Exchange(const boost::asio::any_io_executor& executor) : done(executor) {}
  std::optional<Result<kube::Response>> answer;
  Notify done;
};

SimWire::SimWire(WireWorld world, ProcessClock& clock, Rng rng, Options options)
    : world_(std::move(world)), clock_(clock), rng_(rng), options_(std::move(options)) {}

std::chrono::nanoseconds SimWire::latency() {
  const std::uint64_t most = rng_.chance(kSlowChance) ? kSlowMaxUs : kLatencyMaxUs;
  return std::chrono::microseconds{100 + rng_.below(most)};
}

Error SimWire::lost(const kube::Request& request, Errc code, std::string_view why) const {
  return {.code = code,
          .context = fmt::format("{} {}: {}", name(request.verb), request.subject, why)};
}

local::Call SimWire::call_of(const kube::Request& request) const {
  return {.method = request.method,
          .target = request.target,
          .accept = header(request, "Accept"),
          .content_type = header(request, "Content-Type"),
          .user_agent = "operator",
          .body = request.body,
          .user = {.name = "operator"}};
}

Task<Result<kube::Response>> SimWire::send(kube::Request request, Monotonic deadline) {
  const auto no = [&](Errc code, std::string_view why) {
    return std::unexpected<Error>(lost(request, code, why));
  };
  const bool write = is_write(request.verb);
  const bool lease = request.lane == kube::Lane::kLease;
  const Fault* crash = write && !lease && !dead_ ? world_.book.at_write() : nullptr;
  if (crash != nullptr && crash->kind == FaultKind::kFreezeAtWrite) freeze(*crash);
  if (dead_ || !co_await clock_.sleep_until(clock_.monotonic() + latency()) || dead_)
    co_return no(Errc::kCancelled, "cancelled");
  if (clock_.monotonic() >= deadline && crash == nullptr)
    co_return no(Errc::kTimeout, "deadline passed");
  const bool guarded = fence_ != nullptr && request.fenced && write;
  if (guarded && !fence_->may_write(clock_.monotonic()))
    co_return no(Errc::kFenced, "the lease may be lost");
  const Fault* fault = world_.book.at_request();
  if (crash != nullptr && crash->kind == FaultKind::kCrashBeforeSend) {
    options_.crash();
    co_return no(Errc::kCancelled, "crashed");
  }
  if (fault != nullptr)
    world_.trace.add(clock_.monotonic(), "fault {} hits {} {}", to_text(*fault),
                     options_.actor.name, request.subject);
  const auto exchange = std::make_shared<Exchange>(world_.executor);
  std::erase_if(exchanges_, [](const auto& weak) { return weak.expired(); });
  exchanges_.push_back(exchange);
  std::string context = fmt::format("{} {}", name(request.verb), request.subject);
  depart(exchange, std::move(request), fault);
  if (crash != nullptr && crash->kind == FaultKind::kCrashAfterSend) options_.crash();
  auto answer = co_await receive(exchange, deadline, std::move(context));
  if (crash != nullptr && crash->kind == FaultKind::kCrashAfterReply) {
    options_.crash();
    co_return fail(Errc::kCancelled, "crashed");
  }
  co_return answer;
}

// The code after the next await runs when the process is continued.
void SimWire::freeze(const Fault& fault) {
  world_.trace.add(clock_.monotonic(), "fault {} stops {}", to_text(fault), options_.actor.name);
  clock_.freeze();
  world_.agenda.in(std::chrono::milliseconds{fault.for_ms}, [this] { clock_.resume(); });
}

void SimWire::depart(const std::shared_ptr<Exchange>& exchange, kube::Request request,
                     const Fault* fault) {
  if (fault != nullptr && fault->kind == FaultKind::kResetBefore) {
    world_.agenda.in(latency(), [exchange, error = lost(request, Errc::kIo, "connection reset")] {
      exchange->answer = std::unexpected<Error>(error);
      exchange->done.notify_all();
    });
    return;
  }
  // `this` may be gone when it arrives; a process is kept until the end of its world.
  world_.agenda.in(latency(), [this, exchange, fault, request = std::move(request)] {
    arrive(exchange, request, fault);
  });
}

void SimWire::arrive(const std::shared_ptr<Exchange>& exchange, const kube::Request& request,
                     const Fault* fault) {
  Result<kube::Response> answer;
  if (fault != nullptr && fault->kind == FaultKind::kRefuse) {
    answer = refusal(fault->arg, is_write(request.verb));
  } else {
    local::Reply reply = world_.server.handle(options_.actor, call_of(request));
    answer = response_of(reply);
  }
  world_.trace.add(world_.agenda.now(), "{} {} {} -> {}", options_.actor.name, request.method,
                   request.target, answer->status);
  if (fault != nullptr && fault->kind == FaultKind::kLoseReply) return;
  if (fault != nullptr && fault->kind == FaultKind::kResetAfter)
    answer = std::unexpected<Error>(lost(request, Errc::kIo, "connection reset"));
  world_.agenda.in(latency(), [exchange, answer = std::move(answer)] {
    exchange->answer = answer;
    exchange->done.notify_all();
  });
}

Task<Result<kube::Response>> SimWire::receive(std::shared_ptr<Exchange> exchange,
                                              Monotonic deadline, std::string context) {
  while (!exchange->answer && !dead_) {
    const auto waited = co_await exchange->done.wait(clock_, deadline);
    if (!waited && !exchange->answer)
      co_return fail(waited.error().code, "{}: {}", context, waited.error().context);
  }
  if (dead_ || !co_await clock_.sleep_until(clock_.monotonic()) || dead_)
    co_return fail(Errc::kCancelled, "{}: cancelled", context);
  co_return std::move(*exchange->answer);
}

Task<Result<kube::StreamResponse>> SimWire::open(kube::Request request, Monotonic head_deadline) {
  const auto no = [&](Errc code, std::string_view why) {
    return std::unexpected<Error>(lost(request, code, why));
  };
  if (dead_ || !co_await clock_.sleep_until(clock_.monotonic() + latency()) || dead_)
    co_return no(Errc::kCancelled, "cancelled");
  if (clock_.monotonic() >= head_deadline) co_return no(Errc::kTimeout, "deadline passed");
  const Fault* fault = world_.book.at_request();
  if (fault != nullptr && fault->kind == FaultKind::kRefuse)
    co_return kube::StreamResponse{.head = refusal(fault->arg, false)};
  if (fault != nullptr) co_return no(Errc::kIo, "connection reset");
  if (world_.book.open(FaultKind::kDeafStreams, options_.replica, clock_.monotonic()) != nullptr)
    co_return no(Errc::kIo, "network unreachable");
  const Fault* stale =
      world_.book.open(FaultKind::kStaleStart, options_.replica, clock_.monotonic());
  std::string initial;
  if (stale != nullptr && request.target.find("resourceVersion=0") != std::string::npos)
    initial = stale_list(request, *stale);
  local::Reply reply = world_.server.handle(options_.actor, call_of(request));
  world_.trace.add(clock_.monotonic(), "{} WATCH {} -> {}", options_.actor.name, request.target,
                   reply.status);
  kube::StreamResponse response{.head = response_of(reply)};
  if (!reply.stream) co_return response;
  const auto state = std::make_shared<StreamState>(world_.executor, world_.agenda, world_.book,
                                                   rng_.split(), options_.replica);
  std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
  streams_.push_back(state);
  if (!initial.empty()) {
    state->take(std::move(initial));
    state->hold_until(FaultBook::end(*stale));
  }
  world_.server.follow(std::move(reply.stream), state);
  response.body = std::make_unique<SimStream>(state, clock_);
  co_return response;
}

// What a replica of the server that is behind by some versions would begin with. The request goes
// on from there.
std::string SimWire::stale_list(kube::Request& request, const Fault& stale) {
  const std::uint64_t now = world_.server.version();
  const std::uint64_t then = now - std::min(now - 1, static_cast<std::uint64_t>(stale.arg));
  const std::string version = std::to_string(then);
  const std::string path = request.target.substr(0, request.target.find('?'));
  const Json list = world_.server.read(
      fmt::format("{}?resourceVersion={}&resourceVersionMatch=Exact&limit=500", path, version));
  if (list.value("kind", "") == "Status") return {};  // compacted: the replica is not that old
  std::string lines;
  for (const Json& item : list["items"])
    lines += fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", item.dump());
  lines += fmt::format(
      R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}","annotations":)"
      R"({{"k8s.io/initial-events-end":"true"}}}}}}}})",
      version);
  lines += '\n';
  replace(request.target, "resourceVersion=0", "resourceVersion=" + version);
  replace(request.target, "&sendInitialEvents=true", "");
  replace(request.target, "sendInitialEvents=true&", "");
  replace(request.target, "&resourceVersionMatch=NotOlderThan", "");
  replace(request.target, "resourceVersionMatch=NotOlderThan&", "");
  world_.trace.add(clock_.monotonic(), "{} begins with version {} of {}", options_.actor.name,
                   version, now);
  return lines;
}

void SimWire::cut() {
  dead_ = true;
  for (const auto& weak : exchanges_)
    if (const auto exchange = weak.lock()) exchange->done.notify_all();
  break_streams();
}

void SimWire::break_streams() {
  for (const auto& weak : streams_)
    if (const auto state = weak.lock()) state->break_now();
}

}  // namespace amdahl::simulation
