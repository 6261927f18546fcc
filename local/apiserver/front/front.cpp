#include "local/apiserver/front/front.hpp"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <utility>

#include "local/apiserver/core/status.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kScheme = "Bearer ";
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kDurableMax{30};  // a disk slower than this is broken

HttpResponse status_response(const Status& status) {
  return {.status = status.code,
          .content_type = "application/json",
          .body = to_json(status).dump() + "\n"};
}

HttpResponse unauthorized() {
  HttpResponse response =
      status_response({.code = 401, .reason = "Unauthorized", .message = "Unauthorized"});
  response.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
  return response;
}

bool changes_nothing(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

HttpResponse head_of(const Reply& reply) {
  HttpResponse response{.status = reply.status, .content_type = reply.content_type};
  for (const auto& [name, value] : reply.headers)
    response.headers.push_back({.name = name, .value = value});
  return response;
}

Call call_of(HttpRequest request, User user) {
  return {.method = std::move(request.method),
          .target = std::move(request.target),
          .accept = std::string(request.header("Accept")),
          .content_type = std::string(request.header("Content-Type")),
          .user_agent = std::string(request.header("User-Agent")),
          .body = std::move(request.body),
          .user = std::move(user)};
}

}  // namespace

Front::Front(const boost::asio::any_io_executor& executor, Clock& clock, Behind behind,
             HttpServerOptions options)
    : clock_(clock),
      behind_(behind),
      log_(options.log),
      http_(executor, clock, std::move(options),
            [this](HttpRequest request, HttpResponder& responder) {
              return serve(std::move(request), responder);
            }),
      tasks_(executor),
      changed_(executor),
      work_(executor) {}

Task<Result<void>> Front::start() {
  CO_TRY(JournalContents contents, behind_.journal.read());
  std::vector<Restored> objects;
  objects.reserve(contents.objects.size());
  for (JournalObject& object : contents.objects)
    objects.push_back({.storage = std::move(object.storage), .text = std::move(object.text)});
  CO_TRY(behind_.server.load(objects, contents.last_version));
  CO_TRY(co_await http_.start());
  tasks_.spawn("maintenance", maintain());
  co_return Result<void>{};
}

Task<Result<void>> Front::stop(Monotonic deadline) {
  tasks_.stop();
  auto stopped = co_await http_.stop(deadline);
  const bool joined = co_await tasks_.join(clock_, deadline);
  commit();  // what the last requests left behind was not acknowledged, and is still worth keeping
  if (stopped && !joined) co_return fail(Errc::kTimeout, "tasks of the API server did not end");
  co_return stopped;
}

Task<void> Front::serve(HttpRequest request, HttpResponder& responder) {
  std::string_view token = request.header("Authorization");
  const bool bearer = token.starts_with(kScheme);
  if (bearer) token.remove_prefix(kScheme.size());
  auto user = bearer ? behind_.identities.user_of(token, clock_.wall()) : std::nullopt;
  if (!user) {
    (void)co_await responder.respond(unauthorized());
    co_return;
  }
  if (!journal_problem_.empty() && !changes_nothing(request.method)) {
    (void)co_await responder.respond(status_response(
        {.code = 503,
         .reason = "ServiceUnavailable",
         .message = fmt::format("nothing can be stored at present: {}", journal_problem_),
         .retry_after_seconds = 1}));
    co_return;
  }
  const Call call = call_of(std::move(request), *std::move(user));
  Reply reply = behind_.server.handle(call, clock_.wall());
  after_change();
  if (reply.stream) {
    HttpResponse head = head_of(reply);
    co_await stream(std::move(reply.stream), std::move(head), responder);
    co_return;
  }
  (void)co_await responder.respond(co_await answer(changes_nothing(call.method), std::move(reply)));
}

Task<HttpResponse> Front::answer(bool only_reads, Reply reply) {
  const Monotonic deadline = clock_.monotonic() + kDurableMax;
  while (behind_.server.durable() < reply.wait_version) {
    // Nobody knows when the disk recovers, and readers did not ask for it.
    if (only_reads && !journal_problem_.empty()) break;
    const auto waited = co_await changed_.wait(clock_, deadline);
    if (behind_.server.durable() >= reply.wait_version) break;
    if (waited && (only_reads || journal_problem_.empty())) continue;
    co_return status_response(
        {.code = 500,
         .reason = "InternalError",
         .message = fmt::format(
             "the outcome is not known, read the object again: {}",
             journal_problem_.empty() ? "the disk did not answer in time" : journal_problem_)});
  }
  HttpResponse response = head_of(reply);
  response.body = std::move(reply.body);
  co_return response;
}

Task<void> Front::stream(std::unique_ptr<WatchStream> source, HttpResponse head,
                         HttpResponder& responder) {
  if (!co_await responder.start_stream(std::move(head))) co_return;
  for (;;) {
    WatchStream::Next next = source->next();
    if (next.ready == WatchStream::Ready::kEnd) break;
    if (next.ready == WatchStream::Ready::kNothingYet) {
      const auto waited = co_await changed_.wait(clock_, Monotonic::max());
      if (!waited) co_return;
    } else if (next.bytes.empty()) {
      co_await boost::asio::post(boost::asio::use_awaitable);  // a long walk: let others in
    } else if (!co_await responder.write(std::move(next.bytes))) {
      co_return;
    }
  }
  (void)co_await responder.finish();
}

// Collects garbage, lets things expire, and moves the time that streams see.
Task<void> Front::maintain() {
  for (;;) {
    const bool more = behind_.server.tick(clock_.wall());
    after_change();
    if (!journal_problem_.empty()) commit();  // once a second, until the disk has room again
    changed_.notify_all();
    if (more) {
      co_await boost::asio::post(boost::asio::use_awaitable);
    } else {
      const auto waited = co_await work_.wait(clock_, clock_.monotonic() + kTick);
      if (!waited && waited.error().code == Errc::kCancelled) co_return;
    }
  }
}

// The first change of a turn schedules the write; those that follow in the same turn share it.
void Front::after_change() {
  if (behind_.server.version() == behind_.server.durable() || commit_scheduled_) return;
  if (!journal_problem_.empty()) return;  // maintain() tries again
  commit_scheduled_ = true;
  tasks_.spawn("commit", commit_soon());
}

Task<void> Front::commit_soon() {
  commit_scheduled_ = false;
  commit();
  work_.notify_all();
  co_return;
}

void Front::commit() {
  std::vector<Mutation> fresh = behind_.server.take_mutations();
  std::ranges::move(fresh, std::back_inserter(pending_));
  if (pending_.empty()) return;
  std::vector<JournalRecord> records;
  records.reserve(pending_.size());
  for (const Mutation& one : pending_)
    records.push_back({.version = one.version,
                       .storage = one.storage,
                       .key = one.key,
                       .text = one.object ? std::string_view(one.object->text) : ""});
  const auto written = behind_.journal.append(records);
  if (written) {
    behind_.server.committed(pending_.back().version);
    pending_.clear();
    journal_problem_.clear();
  } else {
    log_.error("the journal refused a write", {{"error", written.error()}});
    journal_problem_ = written.error().context;
  }
  changed_.notify_all();
}

}  // namespace amdahl::local
