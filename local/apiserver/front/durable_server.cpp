#include "local/apiserver/front/durable_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <utility>

#include "base/free_memory.hpp"
#include "local/apiserver/core/status.hpp"

namespace amdahl::local {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kDurableMax{30};  // a disk slower than this is broken
constexpr std::chrono::milliseconds kGatherMax{5};
constexpr std::uint64_t kBurst = 100;  // writes in a tick that leave memory worth returning

Reply refused(const Status& status) {
  return {.status = status.code, .body = to_json(status).dump() + "\n"};
}

bool changes_nothing(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

}  // namespace

DurableServer::DurableServer(const boost::asio::any_io_executor& executor, Clock& clock,
                             ApiServer& server, Journal& journal, Log log)
    : clock_(clock),
      server_(server),
      journal_(journal),
      log_(std::move(log)),
      tasks_(executor),
      changed_(executor),
      work_(executor),
      joined_(executor),
      writer_(journal) {}

Result<void> DurableServer::start() {
  TRY(JournalContents contents, journal_.read());
  std::vector<Restored> objects;
  objects.reserve(contents.objects.size());
  for (JournalObject& object : contents.objects)
    objects.push_back({.storage = std::move(object.storage), .text = std::move(object.text)});
  contents.objects.clear();
  TRY(server_.load(std::move(objects), contents.last_version));
  tasks_.spawn("maintenance", maintain());
  return {};
}

Task<Result<void>> DurableServer::stop(Monotonic deadline) {
  tasks_.stop();
  if (!co_await tasks_.join(clock_, deadline))
    co_return fail(Errc::kTimeout, "tasks of the API server did not end");
  // What the last requests left behind was not acknowledged, and is still worth keeping.
  co_await commit();
  co_return Result<void>{};
}

Task<Reply> DurableServer::handle(Call call) {
  const bool only_reads = changes_nothing(call.method);
  if (!journal_problem_.empty() && !only_reads) {
    co_return refused(
        {.code = 503,
         .reason = "ServiceUnavailable",
         .message = fmt::format("nothing can be stored at present: {}", journal_problem_),
         .retry_after_seconds = 1});
  }
  const std::uint64_t before = server_.version();
  Reply reply = server_.handle(call, clock_.wall());
  if (server_.version() != before) {
    ++writers_;
    joined_.notify_all();
  }
  after_change();
  if (reply.stream) co_return reply;
  co_return co_await when_durable(only_reads, std::move(reply));
}

Task<Reply> DurableServer::when_durable(bool only_reads, Reply reply) {
  const Monotonic deadline = clock_.monotonic() + kDurableMax;
  while (server_.durable() < reply.wait_version) {
    // Nobody knows when the disk recovers, and readers did not ask for it.
    if (only_reads && !journal_problem_.empty()) break;
    const auto waited = co_await changed_.wait(clock_, deadline);
    if (server_.durable() >= reply.wait_version) break;
    if (waited && (only_reads || journal_problem_.empty())) continue;
    co_return refused(
        {.code = 500,
         .reason = "InternalError",
         .message = fmt::format(
             "the outcome is not known, read the object again: {}",
             journal_problem_.empty() ? "the disk did not answer in time" : journal_problem_)});
  }
  co_return reply;
}

Task<Result<void>> DurableServer::progress(Monotonic deadline) {
  co_return co_await changed_.wait(clock_, deadline);
}

// Collects garbage, lets things expire, and moves the time that streams see.
Task<void> DurableServer::maintain() {
  Monotonic due = clock_.monotonic();
  std::uint64_t seen = server_.version();
  bool busy = true;  // the start was
  for (;;) {
    const bool more = server_.tick(clock_.wall());
    after_change();
    if (clock_.monotonic() >= due) {
      due = clock_.monotonic() + kTick;
      changed_.notify_all();
      if (!journal_problem_.empty() && !committing_) start_commits();  // has the disk room again?
      const bool was_busy = std::exchange(busy, server_.version() - seen >= kBurst);
      seen = server_.version();
      if (was_busy && !busy) return_free_memory();
    }
    if (more) {
      co_await boost::asio::post(boost::asio::use_awaitable);
    } else {
      const auto waited = co_await work_.wait(clock_, due);
      if (!waited && waited.error().code == Errc::kCancelled) co_return;
    }
  }
}

void DurableServer::after_change() {
  if (server_.version() == server_.durable() || committing_) return;
  if (!journal_problem_.empty()) return;  // maintain() tries again
  start_commits();
}

void DurableServer::start_commits() {
  committing_ = true;
  tasks_.spawn("commits", commit_all());
}

Task<void> DurableServer::commit_all() {
  do {
    co_await gather();
    const std::size_t written = std::exchange(writers_, 0);
    co_await commit();
    work_.notify_all();
    writers_expected_ = written + writers_;  // those who got an answer, and who waited meanwhile
  } while (server_.version() != server_.durable() && journal_problem_.empty());
  committing_ = false;
}

// Callers mostly write again as soon as they have their answer. If the disk took one of them alone,
// all others would wait for two writes instead of one.
Task<void> DurableServer::gather() {
  const auto wait = std::min<std::chrono::nanoseconds>(disk_time_ / 4, kGatherMax);
  const Monotonic deadline = clock_.monotonic() + wait;
  while (writers_ < writers_expected_)
    if (!co_await joined_.wait(clock_, deadline)) co_return;
}

Task<void> DurableServer::commit() {
  std::vector<Mutation> fresh = server_.take_mutations();
  std::ranges::move(fresh, std::back_inserter(pending_));
  if (pending_.empty()) co_return;
  std::vector<JournalRecord> records;
  records.reserve(pending_.size());
  for (const Mutation& one : pending_)
    records.push_back({.version = one.version,
                       .storage = one.storage,
                       .key = one.key,
                       .text = one.object ? std::string_view(one.object->text) : ""});
  const Monotonic start = clock_.monotonic();
  const auto written = co_await writer_.append(std::move(records));
  disk_time_ = clock_.monotonic() - start;
  if (written) {
    server_.committed(pending_.back().version);
    pending_.clear();
    journal_problem_.clear();
  } else {
    log_.error("the journal refused a write", {{"error", written.error()}});
    journal_problem_ = written.error().context;
  }
  changed_.notify_all();
}

}  // namespace amdahl::local
