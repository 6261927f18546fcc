#include "tests/simulation/sim_wire.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "tests/simulation/sim_stream.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::uint64_t kLatencyMaxUs = 20'000, kSlowMaxUs = 1'500'000;
constexpr double kSlowChance = 0.02;

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
  const std::string_view reason = status == 401   ? "Unauthorized"
                                  : status == 409 ? "Conflict"
                                  : status == 422 ? "Invalid"
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

local::Call call_of(kube::Request&& request) {
  std::string accept = header(request, "Accept");
  std::string type = header(request, "Content-Type");
  return {.method = std::move(request.method),
          .target = std::move(request.target),
          .accept = std::move(accept),
          .content_type = std::move(type),
          .user_agent = "operator",
          .body = std::move(request.body),
          .user = {.name = "operator"}};
}

// What a replica of the server says to whom has seen more than it.
kube::Response version_too_large() {
  kube::Response response = refusal(504, false);
  response.body =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,)"
      R"("message":"Too large resource version","details":{"causes":[)"
      R"({"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})";
  return response;
}

// "configmaps" of "/api/v1/namespaces/sim/configmaps?watch=true".
std::string plural_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return std::string(path.substr(path.rfind('/') + 1));
}

// The number of resourceVersion=N; 0: any version, or none is named.
std::uint64_t version_in(std::string_view target) {
  constexpr std::string_view kParameter = "resourceVersion=";
  std::uint64_t version = 0;
  if (const auto at = target.find(kParameter); at != target.npos)
    std::from_chars(target.data() + at + kParameter.size(), target.data() + target.size(), version);
  return version;
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

Task<Result<kube::Response>> SimWire::send(kube::Request request, Monotonic deadline) {
  const auto no = [&](Errc code, std::string_view why) {
    return std::unexpected<Error>(lost(request, code, why));
  };
  const bool write = is_write(request.verb);
  const bool lease = request.lane == kube::Lane::kLease;
  const Fault* crash = write && !dead_ ? world_.book.at_write(lease, clock_.monotonic()) : nullptr;
  if (crash != nullptr && crash->kind == FaultKind::kFreezeAtWrite) freeze(*crash);
  if (dead_ || !co_await clock_.sleep_until(clock_.monotonic() + latency()) || dead_)
    co_return no(Errc::kCancelled, "cancelled");
  if (clock_.monotonic() >= deadline && crash == nullptr)
    co_return no(Errc::kTimeout, "deadline passed");
  const bool guarded = fence_ != nullptr && request.fenced && write;
  if (guarded && !fence_->may_write(clock_.monotonic()))
    co_return no(Errc::kFenced, "the lease may be lost");
  const Fault* fault = world_.book.at_request(clock_.monotonic());
  if (crash != nullptr && crash->kind == FaultKind::kCrashBeforeSend) {
    options_.crash();
    co_return no(Errc::kCancelled, "crashed");
  }
  if (fault != nullptr)
    world_.trace.add(clock_.monotonic(), "fault {} hits {} {}", to_text(*fault),
                     options_.actor.name, request.subject);
  if (request.verb == kube::Verb::kList) turn_pages(request);
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

// A server may give less than was asked for, and forget the list while it is read.
void SimWire::turn_pages(kube::Request& request) {
  if (open_window(FaultKind::kPagedLists) == nullptr) return;
  replace(request.target, "limit=500", "limit=2");
  if (request.target.find("continue=") == std::string::npos || !rng_.chance(0.5)) return;
  world_.trace.add(clock_.monotonic(), "history goes while {} turns pages", options_.actor.name);
  world_.server.forget();
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
  world_.agenda.in(latency(), [this, exchange, fault, request = std::move(request)]() mutable {
    arrive(exchange, std::move(request), fault);
  });
}

void SimWire::arrive(const std::shared_ptr<Exchange>& exchange, kube::Request request,
                     const Fault* fault) {
  Result<kube::Response> answer;
  const bool write = is_write(request.verb);
  const Error reset = fault == nullptr ? Error{} : lost(request, Errc::kIo, "connection reset");
  const local::Call call = call_of(std::move(request));
  if (fault != nullptr && fault->kind == FaultKind::kRefuse) {
    answer = refusal(fault->arg, write);
  } else {
    local::Reply reply = world_.server.handle(options_.actor, call);
    answer = response_of(reply);
  }
  world_.trace.add(world_.agenda.now(), "{} {} {} -> {}", options_.actor.name, call.method,
                   call.target, answer->status);
  if (fault != nullptr && fault->kind == FaultKind::kLoseReply) return;
  if (fault != nullptr && fault->kind == FaultKind::kResetAfter)
    answer = std::unexpected<Error>(reset);
  world_.agenda.in(latency(), [exchange, answer = std::move(answer)]() mutable {
    exchange->answer = std::move(answer);
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
  if (dead_ || (clock_.frozen() && !co_await clock_.pass()) || dead_)
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
  const Fault* fault = world_.book.at_request(clock_.monotonic());
  if (fault != nullptr && fault->kind == FaultKind::kRefuse)
    co_return kube::StreamResponse{.head = refusal(fault->arg, false)};
  if (fault != nullptr) co_return no(Errc::kIo, "connection reset");
  if (open_window(FaultKind::kDeafStreams) != nullptr)
    co_return no(Errc::kIo, "network unreachable");
  const bool streams_list = request.target.find("sendInitialEvents=true") != std::string::npos;
  if (streams_list && open_window(FaultKind::kPagedLists) != nullptr)
    co_return kube::StreamResponse{.head = refusal(422, false)};
  const Fault* stale = open_window(FaultKind::kStaleStart);
  if (stale != nullptr && version_in(request.target) > version_at(*stale)) {
    world_.trace.add(clock_.monotonic(), "{} knows more of {} than the server", options_.actor.name,
                     request.subject);
    co_return kube::StreamResponse{.head = version_too_large()};
  }
  std::string initial;
  if (stale != nullptr && request.target.find("resourceVersion=0") != std::string::npos)
    initial = stale_list(request, *stale);
  const local::Call call = call_of(std::move(request));
  local::Reply reply = world_.server.handle(options_.actor, call);
  world_.trace.add(clock_.monotonic(), "{} WATCH {} -> {}", options_.actor.name, call.target,
                   reply.status);
  kube::StreamResponse response{.head = response_of(reply)};
  if (!reply.stream) co_return response;
  const auto state =
      std::make_shared<StreamState>(world_.executor, world_.agenda, world_.book, rng_.split(),
                                    StreamState::Reader{options_.replica, plural_of(call.target)});
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

// What a replica of the server that is behind would begin with. The request goes on from there.
std::string SimWire::stale_list(kube::Request& request, const Fault& stale) {
  const std::string version = std::to_string(version_at(stale));
  const Json list =
      world_.server.read(fmt::format("{}?resourceVersion={}&resourceVersionMatch=Exact&limit=500",
                                     request.target.substr(0, request.target.find('?')), version));
  if (list.value("kind", "") == "Status") return {};  // compacted: the replica is not that old
  std::string lines;
  for (const Json& item : list["items"])
    lines += fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", item.dump());
  Json end{{"resourceVersion", version}};
  end["annotations"]["k8s.io/initial-events-end"] = "true";
  lines += Json{{"type", "BOOKMARK"}, {"object", {{"metadata", end}}}}.dump() + "\n";
  replace(request.target, "resourceVersion=0", "resourceVersion=" + version);
  for (const std::string word : {"sendInitialEvents=true", "resourceVersionMatch=NotOlderThan"}) {
    replace(request.target, "&" + word, "");
    replace(request.target, word + "&", "");
  }
  world_.trace.add(clock_.monotonic(), "{} begins with {}", options_.actor.name, version);
  return lines;
}

std::uint64_t SimWire::version_at(const Fault& stale) const {
  const std::uint64_t now = world_.server.version();
  return now - std::min(now - 1, static_cast<std::uint64_t>(stale.arg));
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
