// What the observer tells the operator, and what it does with the answers.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "runtime/launch/observer.hpp"
#include "runtime/launch/process_table.hpp"

namespace amdahl::launch {

api::Report Observer::make_report() {
  api::Report report{.job = settings_.job,
                     .job_uid = settings_.job_uid,
                     .pod = settings_.pod,
                     .pod_uid = settings_.pod_uid,
                     .attempt = static_cast<std::int32_t>(settings_.attempt),
                     .rank = static_cast<std::int32_t>(settings_.rank),
                     .sequence = ++sequence_,
                     .sent_at = clock_.wall()};
  state_.write(report, clock_.monotonic());
  report.pause = {.state = pause_.state, .way = pause_.way, .step = pause_.step};
  return report;
}

void Observer::hurry() {
  urgent_ = true;
  changed_.notify_all();
}

Task<void> Observer::send_report(std::chrono::milliseconds time_max) {
  reporting_ = true;
  const Monotonic deadline = clock_.monotonic() + time_max;
  const auto reply = co_await client_->post(report_json(make_report()), deadline);
  reporting_ = false;
  if (reply) {
    ++counters_.reports_sent;
    if (failures_ > 0) options_.complain("reports arrive again");
    failures_ = 0;
    take_reply(*reply);
    co_return;
  }
  if (reply.error().code == Errc::kCancelled) co_return;
  ++counters_.reports_failed;
  if (++failures_ == 1)
    options_.complain(fmt::format("reports do not arrive: {}; the trainer runs on, unreported",
                                  reply.error().context));
}

Task<void> Observer::report_forever() {
  constexpr std::chrono::milliseconds kBetweenMin{200};
  constexpr double kJitter = 0.2;  // a gang that starts together shall not report together
  if (!co_await clock_.sleep_for(rng_.jitter(kBetweenMin, 1))) co_return;
  while (!end_) {
    urgent_ = false;
    co_await send_report(kReportTimeMax);
    if (end_ || !co_await clock_.sleep_for(kBetweenMin)) co_return;
    const auto backoff = std::min<std::chrono::nanoseconds>(
        report_every_ * (std::int64_t{1} << std::min(failures_, 5U)),
        std::max<std::chrono::seconds>(kBackoffMax, report_every_));
    const Monotonic next = clock_.monotonic() + rng_.jitter(backoff, kJitter);
    // News does not wait, but a server that is down is not asked more often for it.
    while (!(urgent_ && failures_ == 0) && clock_.monotonic() < next) {
      const auto woken = co_await changed_.wait(clock_, next);
      if (!woken && woken.error().code == Errc::kCancelled) co_return;
    }
  }
}

void Observer::take_reply(const api::ReportReply& reply) {
  report_every_ = std::chrono::seconds(std::clamp<std::int64_t>(
      reply.report_every_seconds.value_or(report_every_.count()), 1, api::kReportEverySecondsMax));
  if (end_) return;
  if (const auto interval = reply.checkpoint_interval_seconds)
    helpers_.say_interval(std::chrono::seconds(
        std::clamp<std::int64_t>(*interval, 1, api::kReportIntervalSecondsMax)));
  const std::chrono::seconds time(std::clamp<std::int64_t>(
      reply.deadline_seconds.value_or(kPauseDefault.count()), 0, api::kReportSecondsMax));
  switch (reply.request) {
    case api::ReportRequest::kPause:
      ask_for_pause(time);
      break;
    case api::ReportRequest::kStop:
      if (!std::exchange(stop_asked_, true)) channel_.send(Message::kEnd, {});
      break;
    case api::ReportRequest::kNone:
      step_pause(PauseTakenBack{});
      break;
  }
}

ReportPauseWay Observer::way_to_pause() const {
  const auto all = read_processes();
  const bool wrapped = settings_.runtime != Runtime::kPython;
  return best_way({.helper = helpers_.listening(),
                   .user_signal = saver_catches(trainer_, SIGUSR1, wrapped, all),
                   .term = saver_catches(trainer_, SIGTERM, wrapped, all)});
}

void Observer::ask_for_pause(std::chrono::seconds time) {
  if (pause_.state != ReportPauseState::kNone || trainer_ < 0) return;
  const ReportPauseWay way = way_to_pause();
  if (way == ReportPauseWay::kNone)
    options_.complain(
        "a pause was asked for, but the trainer neither calls should_stop() nor catches SIGUSR1 or "
        "SIGTERM; it runs on");
  // Before its first step a trainer may still be on its way to the loop that asks.
  step_pause(PauseAsked{.way = way,
                        .may_come = !state_.step(),
                        .last_step = state_.step(),
                        .deadline = clock_.monotonic() + time});
}

void Observer::look_for_way() {
  if (pause_.state == ReportPauseState::kRequested && pause_.way == ReportPauseWay::kNone)
    step_pause(PauseWayFound{way_to_pause()});
}

void Observer::step_pause(const PauseInput& input) {
  const ReportPauseState before = pause_.state;
  const PauseStep next = step(pause_, input);
  pause_ = next.next;
  do_pause(next.action);
  if (pause_.state != before) hurry();
}

void Observer::do_pause(PauseAction action) {
  switch (action) {
    case PauseAction::kTellHelper:
      helpers_.say(stop_line(
          std::chrono::duration_cast<std::chrono::seconds>(pause_.deadline - clock_.monotonic())));
      break;
    case PauseAction::kUserSignal: {
      const auto all = read_processes();
      for (const pid_t target : signal_targets(trainer_, SIGUSR1, all)) {
        const ProcessInfo* process = find_process(target, all);
        if (process != nullptr && catches(*process, SIGUSR1)) ::kill(target, SIGUSR1);
      }
      break;
    }
    case PauseAction::kTerminate:
      channel_.send(Message::kTerminate, {});
      break;
    case PauseAction::kTakeBack:
      helpers_.say(continue_line());
      helpers_.say({});
      break;
    case PauseAction::kNone:
      break;
  }
}

Task<void> Observer::start_metrics() {
  if (settings_.metrics_port == 0) co_return;
  HttpServerOptions options{.address = "0.0.0.0", .port = settings_.metrics_port};
  options.limits.connections_max = 16;
  options.limits.body_bytes_max = 1024;
  metrics_.emplace(executor_, clock_, std::move(options),
                   [this](HttpRequest request, HttpResponder& responder) -> Task<void> {
                     OwnCounters counters = counters_;
                     counters.helper_lines = helpers_.lines();
                     counters.helper_lines_bad = helpers_.bad_lines();
                     HttpResponse response = plain_http_response(404, "not found");
                     if (request.path == "/metrics")
                       response = {.content_type = "text/plain; version=0.0.4; charset=utf-8",
                                   .body = metrics_text(make_report(), counters)};
                     return respond(responder, std::move(response));
                   });
  if (const auto started = co_await metrics_->start(); !started)
    options_.complain(started.error().context);
}

Task<void> Observer::respond(HttpResponder& responder, HttpResponse response) {
  (void)co_await responder.respond(std::move(response));  // a scraper that left has left
}

}  // namespace amdahl::launch
