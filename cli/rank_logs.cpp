#include "cli/rank_logs.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/task_group.hpp"
#include "cli/gang_view.hpp"
#include "cli/log_lines.hpp"
#include "cli/stored_logs.hpp"
#include "cli/training_jobs.hpp"
#include "operator/api/names.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{32} << 10;
constexpr std::chrono::milliseconds kLookAgain{500};
constexpr std::chrono::hours kStartMax{24};  // a gang may queue for long

class RankLogs {
 public:
  RankLogs(Program& program, Access access, RankLogOptions options)
      : program_(program),
        access_(std::move(access)),
        options_(std::move(options)),
        stored_(program, options_.from) {}

  Task<Result<int>> run() {
    CO_TRY(job_, co_await find_job(access_, options_.job));
    if (options_.log.container.empty()) options_.log.container = trainer_of(job_);
    const Monotonic deadline = program_.clock.monotonic() + kStartMax;
    std::vector<RankPod> ranks;
    for (bool told = false;; told = true) {
      CO_TRY(pods_, co_await pods_now());
      ranks = chosen();
      // The server shows an empty log of a pod without a node, and ends it at once.
      const bool early = options_.log.follow && std::ranges::any_of(ranks, [](const RankPod& one) {
                           return one.pod->spec.node.empty();
                         });
      if (!ranks.empty() && !early) break;
      if (ranks.empty() && may_be_kept()) {
        auto kept = co_await copy_kept();
        if (kept || kept.error().code != Errc::kNotFound) co_return kept;
        ranks = lowest_rank();
        if (!ranks.empty()) break;
      }
      CO_TRY(co_await wait_for_start(early ? unbound() : missing(), told, deadline));
    }
    co_return options_.all_ranks ? co_await copy_all(std::move(ranks))
                                 : co_await copy_one(*ranks.front().pod, nullptr, deadline);
  }

 private:
  Task<Result<std::vector<kube::Pod>>> pods_now() {
    CO_TRY(auto list, co_await kube::Api<kube::Pod>(access_.client)
                          .list_all({.ns = access_.ns, .labels = api::job_selector(options_.job)}));
    co_return std::move(list.items);
  }

  // The one that was asked for, else the newest that has pods, else the newest.
  std::uint32_t attempt() const {
    const std::vector<RankPod> ranks = by_rank(pods_);
    const auto last = static_cast<std::uint32_t>(std::max(job_.status.attempt, 0));
    return options_.attempt.value_or(ranks.empty() ? last : ranks.front().attempt);
  }

  std::vector<RankPod> chosen() const {
    std::vector<RankPod> ranks = by_rank(pods_);
    if (ranks.empty()) return ranks;
    const std::uint32_t attempt = this->attempt();
    std::erase_if(ranks, [&](const RankPod& one) {
      const bool other = !options_.all_ranks && one.rank != options_.rank.value_or(0);
      return one.attempt != attempt || other;
    });
    return ranks;
  }

  // Nobody asked for a rank: any pod of the attempt is better than none.
  std::vector<RankPod> lowest_rank() {
    if (options_.rank || options_.all_ranks || options_.log.follow) return {};
    std::vector<RankPod> ranks = by_rank(pods_);
    std::erase_if(ranks, [&](const RankPod& one) { return one.attempt != attempt(); });
    if (ranks.empty()) return ranks;
    ranks.resize(1);
    program_.terminal.err(fmt::format("amdahl: attempt {} has no log of rank 0; this is rank {}\n",
                                      attempt(), ranks.front().rank));
    return ranks;
  }

  // Whether the pods that were asked for can only be gone. --follow waits for those that may come.
  bool may_be_kept() const {
    if (attempt() == 0) return false;
    const api::Phase phase = phase_of(job_).phase;
    return !options_.log.follow || is_finished(phase) || phase == api::Phase::kPaused ||
           static_cast<std::int32_t>(attempt()) < job_.status.attempt;
  }

  // The embedded cluster keeps the end of a log when it deletes the pod. Elsewhere the answer is
  // that there is no such pod, and the launcher may have left it beside the checkpoints.
  Task<Result<int>> copy_kept() {
    const bool follow = std::exchange(options_.log.follow, false);
    Result<int> copied = kDone;
    if (options_.all_ranks) {
      const auto count = co_await copy_each({}, program_.clock.monotonic());
      if (!count) co_return std::unexpected<Error>(count.error());
      if (*count == 0) copied = fail(Errc::kNotFound, "{}", missing());
    } else {
      copied = co_await copy_kept_rank(options_.rank.value_or(0), nullptr);
    }
    options_.log.follow = follow;
    co_return copied;
  }

  Task<Result<int>> copy_kept_rank(std::uint32_t rank, LogLines* lines) {
    kube::Pod gone;
    gone.metadata.ns = access_.ns;
    gone.metadata.name = api::pod_name(options_.job, attempt(), rank);
    auto copied = co_await copy_one(gone, lines, program_.clock.monotonic());
    const bool no_log = !copied && copied.error().code == Errc::kNotFound;
    co_return no_log&& may_be_stored(rank) ? copy_stored(rank, lines) : copied;
  }

  // Only trainers have the launcher, and what never ran has left nothing.
  bool may_be_stored(std::uint32_t rank) const {
    return options_.log.container == trainer_of(job_) && !options_.log.previous &&
           std::cmp_less_equal(attempt(), job_.status.attempt) &&
           std::cmp_less(rank, job_.spec.nodes);
  }

  Result<int> copy_stored(std::uint32_t rank, LogLines* lines) {
    const auto text = stored_.read(job_, attempt(), rank);
    if (!text) {
      why_ = text.error().context;
      return std::unexpected<Error>(text.error());
    }
    if (!std::exchange(told_, true)) {
      const bool timed = options_.log.timestamps || options_.log.since_seconds;
      program_.terminal.err(
          fmt::format("amdahl: the pod is gone; the end of its log is from {}{}\n", stored_.where(),
                      timed ? ", without times" : ""));
    }
    const std::string_view shown = last_lines(*text, options_.log.tail_lines);
    program_.terminal.bytes(lines == nullptr ? std::string(shown)
                                             : lines->add(shown) + lines->finish());
    return kDone;
  }

  std::string unbound() const {
    return fmt::format("pods of TrainingJob {} have no node yet", options_.job);
  }

  std::string missing() const {
    std::string text = fmt::format("TrainingJob {} has no pod and no kept log", options_.job);
    if (options_.rank) text += fmt::format(" of rank {}", *options_.rank);
    if (options_.attempt) text += fmt::format(" of attempt {}", *options_.attempt);
    const std::vector<RankPod> ranks = by_rank(pods_);
    text += fmt::format(" ({}", enum_name(phase_of(job_).phase));
    if (!ranks.empty())
      text += fmt::format("; its newest attempt is {}, with ranks up to {}", ranks.front().attempt,
                          newest_rank(ranks));
    return text + (why_.empty() ? ")" : "): " + why_);
  }

  static std::uint32_t newest_rank(const std::vector<RankPod>& ranks) {
    std::uint32_t last = 0;
    for (const RankPod& one : ranks)
      if (one.attempt == ranks.front().attempt) last = std::max(last, one.rank);
    return last;
  }

  // Only --follow waits, and only for what may still come.
  Task<Result<void>> wait_for_start(std::string why, bool told, Monotonic deadline) {
    CO_TRY(job_, co_await find_job(access_, options_.job));
    const bool hopeless = is_finished(phase_of(job_).phase) ||
                          options_.rank.value_or(0) >= static_cast<std::uint32_t>(job_.spec.nodes);
    if (!options_.log.follow || hopeless || program_.clock.monotonic() >= deadline)
      co_return fail(Errc::kNotFound, "{}", why);
    if (!told) program_.terminal.err(fmt::format("{}; waiting\n", why));
    if (!co_await program_.clock.sleep_for(kLookAgain)) co_return fail(Errc::kCancelled, "stopped");
    co_return Result<void>{};
  }

  // A container that waits to start is refused as a bad request.
  Task<Result<kube::StreamResponse>> open(const kube::Pod& pod, Monotonic deadline) {
    for (;;) {
      auto stream = co_await kube::open_logs(access_.client, pod.metadata.key(), options_.log);
      const bool early = !stream && stream.error().code == Errc::kInvalid && options_.log.follow &&
                         pod.status.phase != kube::PodPhase::kFailed &&
                         pod.status.phase != kube::PodPhase::kSucceeded;
      if (!early || program_.clock.monotonic() >= deadline) co_return stream;
      if (!co_await program_.clock.sleep_for(kLookAgain))
        co_return fail(Errc::kCancelled, "stopped");
    }
  }

  Task<Result<int>> copy_one(const kube::Pod& pod, LogLines* lines, Monotonic deadline) {
    CO_TRY(auto stream, co_await open(pod, deadline));
    std::vector<char> chunk(kChunkBytes);
    for (;;) {
      const Monotonic end = options_.log.follow
                                ? Monotonic::max()
                                : program_.clock.monotonic() + access_.client.options().deadline;
      CO_TRY(const std::size_t count, co_await stream.body->read(chunk, end));
      if (count == 0) break;
      const std::string_view bytes(chunk.data(), count);
      program_.terminal.bytes(lines == nullptr ? std::string(bytes) : lines->add(bytes));
    }
    if (lines != nullptr) program_.terminal.bytes(lines->finish());
    co_return kDone;
  }

  // A rank that has no log does not hide the others.
  Task<void> copy_beside(const kube::Pod& pod, std::uint32_t rank, Monotonic deadline) {
    LogLines lines(fmt::format("[{}] ", rank));
    const auto copied = co_await copy_one(pod, &lines, deadline);
    if (copied || copied.error().code == Errc::kCancelled) co_return;
    program_.terminal.err(fmt::format("amdahl: rank {}: {}\n", rank, copied.error().context));
    failed_ = true;
  }

  // Live pods and kept logs, in the order of ranks: how many there were.
  Task<Result<std::size_t>> copy_each(std::vector<RankPod> live, Monotonic deadline) {
    const auto nodes = static_cast<std::uint32_t>(std::max(job_.spec.nodes, 0));
    std::size_t count = live.size();
    auto next = live.begin();
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      if (next != live.end() && next->rank == rank) {
        co_await copy_beside(*next->pod, rank, deadline);
        ++next;
        continue;
      }
      LogLines lines(fmt::format("[{}] ", rank));
      const auto copied = co_await copy_kept_rank(rank, &lines);
      if (!copied && copied.error().code != Errc::kNotFound)
        co_return std::unexpected<Error>(copied.error());
      if (copied) ++count;
    }
    // A job that was made smaller has ranks of before.
    for (; next != live.end(); ++next) co_await copy_beside(*next->pod, next->rank, deadline);
    co_return count;
  }

  Task<Result<int>> copy_all(std::vector<RankPod> ranks) {
    const Monotonic deadline = program_.clock.monotonic() + kStartMax;
    if (!options_.log.follow) {
      CO_TRY(co_await copy_each(std::move(ranks), deadline));
      co_return failed_ ? kFailed : kDone;
    }
    if (ranks.size() > kRanksFollowedMax)
      co_return fail(Errc::kTooLarge, "{} ranks; --follow takes {} at most, use --rank",
                     ranks.size(), kRanksFollowedMax);
    TaskGroup tasks(co_await boost::asio::this_coro::executor);
    for (const RankPod& one : ranks) tasks.spawn("logs", copy_beside(*one.pod, one.rank, deadline));
    const bool ended = co_await tasks.join(program_.clock, Monotonic::max());
    if (!ended) tasks.stop();
    co_return failed_ ? kFailed : kDone;
  }

  Program& program_;
  Access access_;
  RankLogOptions options_;
  TrainingJob job_;
  std::vector<kube::Pod> pods_;
  StoredLogs stored_;
  std::string why_;    // there is no log beside the checkpoints
  bool told_ = false;  // where the log of a pod that is gone is from
  bool failed_ = false;
};

}  // namespace

Task<Result<int>> show_rank_logs(Program& program, Access access, RankLogOptions options) {
  RankLogs logs(program, std::move(access), std::move(options));
  co_return co_await logs.run();
}

Task<Result<int>> copy_log(Program& program, Access access, std::string pod, kube::LogOptions log) {
  CO_TRY(auto stream, co_await kube::open_logs(access.client, {.ns = access.ns, .name = pod}, log));
  std::vector<char> chunk(kChunkBytes);
  for (;;) {
    // A container that is silent is no error: only --follow can wait for long, and Ctrl-C ends it.
    const Monotonic deadline = log.follow
                                   ? Monotonic::max()
                                   : program.clock.monotonic() + access.client.options().deadline;
    CO_TRY(const std::size_t count, co_await stream.body->read(chunk, deadline));
    if (count == 0) co_return kDone;
    program.terminal.bytes({chunk.data(), count});
  }
}

}  // namespace amdahl::cli
