#include "cli/live_job.hpp"

#include <boost/asio/this_coro.hpp>

#include "operator/api/names.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{10};
constexpr std::chrono::seconds kFirstLookMax{30};
constexpr std::chrono::seconds kStopMax{5};

std::string events_of(const std::string& name) {
  return fmt::format("regarding.kind={},regarding.name={}", api::kTrainingJobKind, name);
}

// Retrying cannot help: somebody has to change what this user may do.
bool is_refusal(const Error& error) {
  return error.code == Errc::kForbidden || error.code == Errc::kUnauthorized ||
         error.code == Errc::kNotFound || error.code == Errc::kInvalid;
}

}  // namespace

LiveJob::LiveJob(Program& program, Access access, std::string name,
                 boost::asio::any_io_executor executor)
    : program_(program),
      access_(std::move(access)),
      name_(std::move(name)),
      news_(executor),
      tasks_(executor) {}

template <class T>
void LiveJob::watch(Part& part, controller::Store<T>& store, kube::WatcherOptions options) {
  options.resource = T::resource();
  options.ns = access_.ns;
  options.shape = controller::Store<T>::shape();
  options.on_problem = [this, &part](const Error& error) {
    if (!is_refusal(error)) return;
    part.refused = error;
    ++changes_;
    news_.notify_all();
  };
  store.subscribe([this](const controller::Change&) {
    ++changes_;
    news_.notify_all();
  });
  part.watcher = std::make_unique<kube::Watcher>(access_.client, Rng(program_.seed + tasks_.size()),
                                                 std::move(options), store);
  tasks_.spawn(std::string(store.kind()), part.watcher->run());
}

bool LiveJob::complete() const {
  const bool job = jobs_.synced() || job_part_.refused;
  if (parts_ == JobParts::kJobOnly) return job;
  return job && (pods_.synced() || pod_part_.refused) && (events_.synced() || event_part_.refused);
}

Task<Result<void>> LiveJob::start(JobParts parts) {
  CO_TRY(last_, co_await find_job(access_, name_));
  parts_ = parts;
  watch(job_part_, jobs_, {.fields = "metadata.name=" + name_});
  if (parts == JobParts::kWithGang) {
    watch(pod_part_, pods_, {.labels = api::job_selector(name_)});
    watch(event_part_, events_, {.fields = events_of(name_)});
  }
  const Monotonic deadline = program_.clock.monotonic() + kFirstLookMax;
  while (!complete()) {
    if (program_.clock.monotonic() >= deadline)
      co_return fail(Errc::kTimeout, "watch trainingjobs {}/{}: no answer", access_.ns, name_);
    if (!co_await program_.clock.sleep_for(kLookAgain)) co_return fail(Errc::kCancelled, "stopped");
  }
  if (job_part_.refused) co_return std::unexpected<Error>(*job_part_.refused);
  remember();
  co_return Result<void>{};
}

void LiveJob::remember() {
  told_ = changes_;
  const auto now = jobs_.find({.ns = access_.ns, .name = name_});
  if (now && now->metadata.uid == last_.metadata.uid) last_ = *now;
}

Task<Result<void>> LiveJob::changed(Monotonic deadline) {
  while (told_ == changes_) CO_TRY(co_await news_.wait(program_.clock, deadline));
  if (job_part_.refused) co_return std::unexpected<Error>(*job_part_.refused);
  remember();
  co_return Result<void>{};
}

Task<void> LiveJob::stop() {
  tasks_.stop();
  (void)co_await tasks_.join(program_.clock, program_.clock.monotonic() + kStopMax);
}

bool LiveJob::exists() const {
  const auto now = jobs_.find({.ns = access_.ns, .name = name_});
  return now && now->metadata.uid == last_.metadata.uid;
}

JobSeen LiveJob::seen() const {
  JobSeen seen{.job = last_, .now = program_.clock.wall(), .called = program_.called};
  pods_.for_each([&](const auto& pod) { seen.pods.push_back(*pod); });
  events_.for_each([&](const auto& event) {
    // An earlier job of this name may have left some.
    if (event->regarding.uid.empty() || event->regarding.uid == last_.metadata.uid)
      seen.events.push_back(*event);
  });
  return seen;
}

Task<Result<int>> with_live_job(Program& program, Access access, std::string name, JobParts parts,
                                WithLiveJob work) {
  LiveJob live(program, std::move(access), std::move(name),
               co_await boost::asio::this_coro::executor);
  const auto started = co_await live.start(parts);
  Result<int> result = kDone;
  if (started)
    result = co_await work(live);
  else
    result = std::unexpected<Error>(started.error());
  co_await live.stop();
  co_return result;
}

Task<Result<JobSeen>> look_at_job(Program& program, Access access, std::string name) {
  JobSeen seen{.now = program.clock.wall(), .called = program.called};
  CO_TRY(seen.job, co_await find_job(access, name));
  auto pods = co_await kube::Api<kube::Pod>(access.client)
                  .list_all({.ns = access.ns, .labels = api::job_selector(name)});
  if (pods) seen.pods = std::move(pods->items);
  if (!pods && pods.error().code != Errc::kForbidden)
    co_return std::unexpected<Error>(std::move(pods).error());
  auto events = co_await kube::Api<kube::Event>(access.client)
                    .list_all({.ns = access.ns, .fields = events_of(name)});
  if (!events && events.error().code != Errc::kForbidden)
    co_return std::unexpected<Error>(std::move(events).error());
  if (events)
    for (kube::Event& event : events->items)
      if (event.regarding.uid.empty() || event.regarding.uid == seen.job.metadata.uid)
        seen.events.push_back(std::move(event));
  co_return seen;
}

}  // namespace amdahl::cli
