// How an engine hands snapshots over to the checkpoint agent, and takes them back.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "checkpoint/engine/engine.hpp"

namespace amdahl::checkpoint {
namespace {

// What a record says beyond its tensors, state and sums: names of objects, numbers with all digits.
constexpr std::int64_t kRecordObjectSlack = 512;
constexpr std::int64_t kRecordSumBytes = 6;  // base64 of four bytes, rounded up
constexpr std::int64_t kRecordSlack = 4096;
constexpr std::int64_t kEscapeFactor = 6;  // \u0000

}  // namespace

std::int64_t Engine::record_room(const SaveRequest& request, const SnapshotPlan& plan) {
  {
    const std::scoped_lock lock(mutex_);
    if (!with_agent_) return 0;
  }
  if (texted_plan_.get() != &plan) {
    plan_tensors_ = write_tensors(plan);
    texted_plan_ = plan_;
  }
  auto room = static_cast<std::int64_t>(plan_tensors_.size() + request.state.size()) + kRecordSlack;
  for (const PlannedObject& object : plan.objects)
    room += kRecordObjectSlack +
            kRecordSumBytes * chunk_count(object.layout.header.object_bytes, plan.chunk_bytes);
  for (const auto& [name, value] : request.metrics)
    room += kEscapeFactor * static_cast<std::int64_t>(name.size() + value.size() + 2);
  return room;
}

Result<void> Engine::put_record(const Job& job, AgentMessage& message) {
  TRY(const SnapshotRecord record,
      completed(objects_of(*job.plan, job.sums, job.lease.begin()), job));
  const std::string text = write_snapshot_record(record, plan_tensors_);
  const auto room = job.lease.memory().subspan(static_cast<std::size_t>(job.record_begin));
  if (text.size() > room.size())
    return fail(Errc::kTooLarge, "a record of {} bytes, and room for {}", text.size(), room.size());
  std::memcpy(room.data(), text.data(), text.size());
  message.record_begin = job.lease.begin() + job.record_begin;
  message.record_bytes = static_cast<std::int64_t>(text.size());
  return {};
}

// False: this process has to write it.
bool Engine::hand_over(const JobPtr& job, Monotonic begin) {
  {
    const std::scoped_lock lock(mutex_);
    if (!with_agent_) return false;
    handed_[job->step] = {.job = job};  // before it is said: the answer may be faster than we are
  }
  const auto ns = [](Seconds time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  };
  AgentMessage message{
      .kind = AgentKind::kSave, .step = job->step, .copied_ns = ns(job->copied_in)};
  auto given = put_record(*job, message);
  message.stall_ns = ns(clock_.monotonic() - begin);
  if (given) given = agent_.link->give(message);
  if (!given) lose_agent(given.error().context);
  return true;  // or taken back, with the others
}

void Engine::follow_agent(const std::stop_token& stop) {
  if (!agent_.link) return;
  const std::stop_callback wake(stop, [&] { agent_.link->wake(); });
  while (!stop.stop_requested()) {
    {
      const std::scoped_lock lock(mutex_);
      if (!with_agent_) return;
    }
    const auto answer = agent_.link->answer();
    if (!answer) return lose_agent(answer.error().context);
    if (*answer) take_answer(**answer);
  }
}

void Engine::take_answer(const AgentMessage& message) {
  JobPtr freed;  // dies without the mutex: it gives memory back
  {
    const std::scoped_lock lock(mutex_);
    const auto found = handed_.find(message.step);
    if (found == handed_.end()) return;
    Handed& handed = found->second;
    if (message.kind == AgentKind::kDone && !handed.done) {
      handed.done = true;
      agent_status_ = from_message(message.status[0]);
      if (message.code >= 0) {
        finished(*handed.job, std::unexpected<Error>(error_of(message)));
      } else {
        NamedBlobs blobs;
        for (const AgentBlob& blob : message.blobs)
          blobs[static_cast<std::size_t>(blob.object)] = blob.name;
        finished(*handed.job, blobs);
      }
    }
    if (message.kind == AgentKind::kFreed && handed.done) {
      freed = std::move(handed.job);
      handed_.erase(found);
    }
  }
  freed.reset();
  changed_.notify_all();
}

void Engine::lose_agent(std::string_view why) {
  std::map<std::int64_t, Handed> handed;  // as above
  std::size_t taken_back = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (!with_agent_) return;
    with_agent_ = false;
    handed.swap(handed_);
    for (const auto& [step, one] : handed)
      if (!one.done) queue_.push_back(one.job);
    taken_back = queue_.size();
    writer_.go_on_from(agent_status_);
    status_.agent_lost = why;
    agent_.link->wake();
  }
  handed.clear();
  if (agent_.complain)
    agent_.complain(fmt::format(
        "no checkpoint agent: {}; this process writes its checkpoints itself, {} of them now", why,
        taken_back));
  changed_.notify_all();
}

}  // namespace amdahl::checkpoint
