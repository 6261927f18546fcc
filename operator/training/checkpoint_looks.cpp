#include "operator/training/checkpoint_looks.hpp"

#include <boost/asio/this_coro.hpp>

namespace amdahl::training {

void CheckpointLooks::ask(const kube::ObjectKey& key, CheckpointAsk ask) {
  if (reader_ == nullptr) return;
  auto found = jobs_.find(ask.job_uid);
  if (found == jobs_.end()) {
    // Beyond any cluster we know of: one of them goes, and is looked at again if it matters.
    if (jobs_.size() >= kLooksKeptMax) jobs_.erase(jobs_.begin());
    found = jobs_.try_emplace(ask.job_uid).first;
  }
  Job& job = found->second;
  if (job.attempt == ask.attempt && job.under_way) return;
  if (job.attempt != ask.attempt) job = Job{.attempt = ask.attempt};
  job.under_way = true;
  Waiting asked{.key = key, .ask = std::move(ask), .due = clock_.monotonic() + kLookMax};
  if (waiting_.size() >= kLooksWaitingMax) {
    end(asked, fail(Errc::kThrottled, "queue full: {} checkpoint checks pending", waiting_.size()));
    return;
  }
  waiting_.push_back(std::move(asked));
  asked_.notify_all();
}

std::optional<CheckpointLook> CheckpointLooks::of(const std::string& job_uid,
                                                  std::int32_t attempt) const {
  const auto found = jobs_.find(job_uid);
  if (found == jobs_.end() || found->second.attempt != attempt) return std::nullopt;
  return found->second.ended;
}

void CheckpointLooks::end(const Waiting& asked, Result<CheckpointFinding> found) {
  const auto known = jobs_.find(asked.ask.job_uid);
  if (known == jobs_.end() || known->second.attempt != asked.ask.attempt) return;  // outlived
  CheckpointLook look{.attempt = asked.ask.attempt, .when = clock_.wall()};
  if (found) {
    look.finding = *std::move(found);
  } else {
    look.unreadable = found.error().context.substr(0, kWhyBytesMax);
  }
  known->second.ended = std::move(look);
  known->second.under_way = false;
  if (wake_) wake_(asked.key);
}

Task<Result<CheckpointFinding>> CheckpointLooks::look(Waiting asked) {
  if (clock_.monotonic() >= asked.due)
    co_return fail(Errc::kTimeout, "the stores of other jobs took too long");
  co_return co_await reader_->read(std::move(asked.ask), asked.due);
}

Task<void> CheckpointLooks::work() {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    while (waiting_.empty())
      if (const auto woken = co_await asked_.wait(clock_, Monotonic::max()); !woken) co_return;
    const Waiting asked = std::move(waiting_.front());
    waiting_.pop_front();
    auto found = co_await look(asked);
    if (!found && found.error().code == Errc::kCancelled) co_return;
    end(asked, std::move(found));
  }
}

}  // namespace amdahl::training
