// The wire of the server in memory: transport, faults, watches.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "tests/kit/memory_answer.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::testkit {
namespace {

constexpr std::chrono::seconds kBookmarkInterval{60};

}  // namespace

kube::Response answer(int status, const Json& body) {
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body.dump()};
}

kube::Response refuse(int status, std::string_view reason, std::string message) {
  return answer(status, {{"kind", "Status"},
                         {"apiVersion", "v1"},
                         {"status", "Failure"},
                         {"reason", reason},
                         {"message", std::move(message)},
                         {"code", status}});
}

std::string meta(const Json& object, const char* field) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  const auto found = metadata->find(field);
  return found != metadata->end() && found->is_string() ? found->get<std::string>() : std::string();
}

// "regarding.kind=Pod,type=Warning": equality of texts at dotted paths.
bool has_fields(const Json& object, std::string_view selector) {
  while (!selector.empty()) {
    const std::string_view term = selector.substr(0, selector.find(','));
    selector.remove_prefix(std::min(selector.size(), term.size() + 1));
    std::string_view path = term.substr(0, term.find('='));
    const Json* at = &object;
    while (!path.empty() && at->is_object()) {
      const std::string step(path.substr(0, path.find('.')));
      path.remove_prefix(std::min(path.size(), step.size() + 1));
      const auto found = at->find(step);
      if (found == at->end()) return false;
      at = &*found;
    }
    if (!at->is_string() || at->get_ref<const std::string&>() != term.substr(term.find('=') + 1))
      return false;
  }
  return true;
}

bool selected(const Json& object, const std::map<std::string, std::string>& query,
              const std::string& ns) {
  if (object.is_null() || (!ns.empty() && meta(object, "namespace") != ns)) return false;
  const auto fields = query.find("fieldSelector");
  if (fields != query.end() && !has_fields(object, fields->second)) return false;
  const auto labels = query.find("labelSelector");
  if (labels == query.end()) return true;
  PackedMap::Builder builder;
  const Json set = object["metadata"].value("labels", Json::object());
  for (const auto& [key, value] : set.items())
    builder.add(key, value.get_ref<const std::string&>());
  const auto selector = kube::Selector::parse(labels->second);
  AMDAHL_CHECK(selector.has_value());
  return selector->matches(builder.build());
}

// One open watch: reads the server's history from a version on.
class MemoryStream final : public kube::BodyStream {
 public:
  MemoryStream(MemoryServer& server, Clock& clock, MemoryServer::Target target)
      : server_(server),
        clock_(clock),
        target_(std::move(target)),
        bookmark_at_(clock.monotonic() + kBookmarkInterval) {
    const auto& query = target_.query;
    const auto timeout = query.find("timeoutSeconds");
    end_ = clock.monotonic() +
           std::chrono::seconds{timeout == query.end() ? 300 : std::stoi(timeout->second)};
    bookmarks_ = server.bookmarks_;
    if (query.contains("sendInitialEvents")) {
      initial();
    } else {
      at_ = query.contains("resourceVersion") ? std::stoull(query.at("resourceVersion"))
                                              : server.version_;
      if (at_ < server.compacted_)
        line("ERROR", Json::parse(refuse(410, "Expired", "too old resource version").body));
    }
  }

  Task<Result<std::size_t>> read(std::span<char> into, Monotonic deadline) override {
    for (;;) {
      // A process that is paused runs no code, so what wakes it must pass by its own clock.
      if (!co_await clock_.sleep_until(clock_.monotonic()))
        co_return fail(Errc::kCancelled, "watch cancelled");
      if (pending_.empty()) collect();
      if (!pending_.empty()) break;
      const Monotonic now = clock_.monotonic();
      if (now >= end_) co_return 0;
      if (now >= deadline) co_return fail(Errc::kTimeout, "no bytes came");
      const auto woken =
          co_await server_.changed_.wait(clock_, std::min({deadline, end_, bookmark_at_}));
      if (!woken && woken.error().code == Errc::kCancelled)
        co_return fail(Errc::kCancelled, "watch cancelled");
    }
    const std::size_t size = std::min(into.size(), pending_.size());
    std::ranges::copy_n(pending_.begin(), static_cast<std::ptrdiff_t>(size), into.begin());
    pending_.erase(0, size);
    co_return size;
  }

 private:
  void line(std::string_view type, const Json& object) {
    pending_ += fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object.dump());
  }
  void bookmark(bool end_of_initial) {
    Json object = {{"metadata", {{"resourceVersion", std::to_string(at_)}}}};
    if (end_of_initial) object["metadata"]["annotations"]["k8s.io/initial-events-end"] = "true";
    line("BOOKMARK", object);
    bookmark_at_ = clock_.monotonic() + kBookmarkInterval;
  }
  void initial() {
    for (const auto& [key, object] : server_.collections_[target_.collection])
      if (selected(object, target_.query, target_.ns)) line("ADDED", object);
    at_ = server_.version_;
    bookmark(true);
  }
  void collect() {
    const std::string plural = target_.collection.substr(target_.collection.find('/') + 1);
    if (server_.held_.contains(plural) || server_.held_.contains("")) return;
    const auto next =
        std::ranges::upper_bound(server_.history_, at_, {}, &MemoryServer::Change::version);
    for (auto change = next; change != server_.history_.end(); ++change) {
      if (change->collection != target_.collection) continue;
      const bool was = selected(change->before, target_.query, target_.ns);
      const bool is = selected(change->now, target_.query, target_.ns);
      // Leaving the selector looks like a delete, with the new version (L16).
      if (was && !is) line("DELETED", change->now.is_null() ? change->before : change->now);
      if (is) line(was ? "MODIFIED" : "ADDED", change->now);
    }
    at_ = std::max(at_, server_.version_);
    if (bookmarks_ == server_.bookmarks_ && clock_.monotonic() < bookmark_at_) return;
    bookmarks_ = server_.bookmarks_;
    bookmark(false);
  }

  MemoryServer& server_;
  Clock& clock_;
  MemoryServer::Target target_;
  std::string pending_;
  std::uint64_t at_ = 0;
  std::uint64_t bookmarks_ = 0;
  Monotonic bookmark_at_;
  Monotonic end_{};
};

Task<Result<kube::Response>> MemoryTransport::send(kube::Request request, Monotonic deadline) {
  const auto lost = [&](Errc code, std::string_view why) {
    return fail(code, "{} {}: {}", name(request.verb), request.subject, why);
  };
  if (!co_await clock_.sleep_for(latency)) co_return lost(Errc::kCancelled, "cancelled");
  if (clock_.monotonic() >= deadline) co_return lost(Errc::kTimeout, "deadline passed");
  const bool guarded = fence_ != nullptr && request.fenced && is_write(request.verb);
  if (guarded && !fence_->may_write(clock_.monotonic()))
    co_return lost(Errc::kFenced, "the lease may be lost");
  if (broken) co_return lost(Errc::kIo, "network unreachable");
  const auto fault = server_.take_fault(request);
  if (fault == Fault::kDrop) co_return lost(Errc::kIo, "connection reset");
  if (fault == Fault::kUnavailable) co_return refuse(503, "ServiceUnavailable", "try later");
  if (fault == Fault::kThrottle) {
    auto response = refuse(429, "TooManyRequests", "slow down");
    response.headers.push_back({"Retry-After", "1"});
    co_return response;
  }
  auto response = server_.handle(request);
  if (fault == Fault::kLoseAnswer) co_return lost(Errc::kIo, "connection reset");
  if (!co_await clock_.sleep_for(latency)) co_return lost(Errc::kCancelled, "cancelled");
  if (clock_.monotonic() >= deadline) co_return lost(Errc::kTimeout, "deadline passed");
  co_return response;
}

Task<Result<kube::StreamResponse>> MemoryTransport::open(kube::Request request,
                                                         Monotonic /*head_deadline*/) {
  if (!co_await clock_.sleep_for(latency)) co_return fail(Errc::kCancelled, "cancelled");
  if (broken || server_.take_fault(request))
    co_return fail(Errc::kIo, "watch {}: connection reset", request.subject);
  const auto target = MemoryServer::parse(request.target);
  AMDAHL_CHECK(target.has_value());
  kube::Response head{.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = ""};
  co_return kube::StreamResponse{.head = std::move(head),
                                 .body = std::make_unique<MemoryStream>(server_, clock_, *target)};
}

}  // namespace amdahl::testkit
