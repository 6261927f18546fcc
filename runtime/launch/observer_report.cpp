// What the observer tells the operator, and what it does with the answers.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "runtime/launch/cut.hpp"
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
  report.memory_peak_bytes = memory_.peak();
  if (printed_at_)
    report.quiet_seconds = std::chrono::duration<double>(clock_.monotonic() - *printed_at_).count();
  report.pause = {.state = pause_.state, .way = pause_.way, .step = pause_.step};
  if (end_) return report;
  report.ended_ranks = ended_ranks_.ranks();
  if (const auto since = ended_ranks_.since())
    report.ended_age_seconds = std::chrono::duration<double>(clock_.monotonic() - *since).count();
  return report;
}

void Observer::hurry() {
  urgent_ = true;
  changed_.notify_all();
}

Task<void> Observer::send_report(std::chrono::milliseconds time_max) {
  reporting_ = true;
  memory_.told();
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
                                  trim(reply.error().context)));
}

Task<void> Observer::report_forever() {
  constexpr std::chrono::milliseconds kBetweenMin{200};
  constexpr double kJitter = 0.2;  // a gang that starts together shall not report together
  if (!co_await clock_.sleep_for(rng_.jitter(kBetweenMin, 1))) co_return;
  while (!end_) {
    urgent_ = false;
    co_await send_report(kReportTimeMax);
    if (end_ || !co_await clock_.sleep_for(kBetweenMin)) co_return;
    const std::chrono::nanoseconds backoff = until_next_report();
    const Monotonic next = clock_.monotonic() + rng_.jitter(backoff, kJitter);
    // News does not wait, but a server that is down is not asked more often for it.
    while (!(urgent_ && failures_ == 0) && clock_.monotonic() < next) {
      const auto woken = co_await changed_.wait(clock_, next);
      if (!woken && woken.error().code == Errc::kCancelled) co_return;
    }
  }
}

// A change of leaders takes seconds: soon at first. An operator that stays away is asked less
// often.
std::chrono::nanoseconds Observer::until_next_report() const {
  constexpr std::chrono::seconds kSoon{1};
  constexpr unsigned kSoonMax = 20;
  constexpr unsigned kDoublingsMax = 5;
  if (failures_ == 0) return report_every_;
  if (failures_ <= kSoonMax) return std::min<std::chrono::nanoseconds>(kSoon, report_every_);
  return std::min<std::chrono::nanoseconds>(
      report_every_ * (std::int64_t{1} << std::min(failures_ - kSoonMax, kDoublingsMax)),
      std::max<std::chrono::seconds>(kBackoffMax, report_every_));
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
      step_pause(PauseTakenBack{.step = state_.step()});
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
        "SIGTERM; it runs on. docs/guides/trainers.md shows how to listen");
  // Before its first step a trainer may still be on its way to the loop that asks.
  step_pause(PauseAsked{.way = way,
                        .may_come = !state_.known_step(),
                        .last_step = state_.known_step(),
                        .deadline = clock_.monotonic() + time});
}

void Observer::look_for_way() {
  if (pause_.state == ReportPauseState::kNone || pause_.way != ReportPauseWay::kNone) return;
  // After the deadline only what costs nothing to know.
  if (pause_.state == ReportPauseState::kRequested)
    step_pause(PauseWayFound{way_to_pause()});
  else if (helpers_.listening())
    step_pause(PauseWayFound{ReportPauseWay::kHelper});
}

void Observer::step_pause(const PauseInput& input) {
  const ReportPauseState before = pause_.state;
  taken_back_ = keep(taken_back_, pause_, input);
  const PauseStep next = step(pause_, input);
  pause_ = next.next;
  do_pause(next.action);
  if (pause_.state != before) hurry();
}

void Observer::do_pause(PauseAction action) {
  switch (action) {
    case PauseAction::kTellHelper:
      helpers_.say(stop_line(std::max(
          std::chrono::seconds{0},
          std::chrono::duration_cast<std::chrono::seconds>(pause_.deadline - clock_.monotonic()))));
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

// On the pod's address, where Prometheus can reach it; other pods of an embedded cluster may use
// the same port. Scrapers come and go, so no connection is kept for long.
Task<void> Observer::start_metrics() {
  if (settings_.metrics_port == 0) co_return;
  HttpServerOptions options{.address = settings_.metrics_address, .port = settings_.metrics_port};
  options.limits = {.header_bytes_max = 8192,
                    .target_bytes_max = 1024,
                    .fields_max = 64,
                    .query_pairs_max = 16,
                    .body_bytes_max = 1024,
                    .connections_max = 16,
                    .body_time = kMetricsTimeMax,
                    .write_time = kMetricsTimeMax,
                    .strangers_per_peer_max = 8,
                    .stranger_time = kMetricsTimeMax};
  metrics_.emplace(executor_, clock_, std::move(options),
                   [this](HttpRequest request, HttpResponder& responder) -> Task<void> {
                     return respond(responder, answer(request));
                   });
  const auto started = co_await metrics_->start();
  if (!started)
    options_.complain(fmt::format("no metrics: {}; the trainer runs on", started.error().context));
}

HttpResponse Observer::answer(const HttpRequest& request) {
  if (request.path != "/metrics") return plain_http_response(404, "not found; see /metrics");
  if (request.method != "GET") return plain_http_response(405, "only GET");
  OwnCounters counters = counters_;
  counters.log_bytes = log_.bytes();
  counters.log_bytes_unread = log_.bytes_unread();
  counters.helper_lines = helpers_.lines();
  counters.helper_lines_bad = helpers_.bad_lines();
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = metrics_text(make_report(), counters)};
}

Task<void> Observer::respond(HttpResponder& responder, HttpResponse response) {
  (void)co_await responder.respond(std::move(response));  // a scraper that left has left
}

}  // namespace amdahl::launch
