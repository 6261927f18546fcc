#include "runtime/launch/observer.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "base/resolver.hpp"
#include "runtime/launch/error_lines.hpp"
#include "runtime/launch/process_table.hpp"
#include "runtime/launch/small_files.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {

namespace asio = boost::asio;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kEndTime{200};  // for what is open when all is said

Observer::Observer(asio::any_io_executor executor, Clock& clock, ObserverOptions options,
                   Channel channel)
    : executor_(std::move(executor)),
      clock_(clock),
      options_(std::move(options)),
      settings_(options_.settings),
      channel_(std::move(channel)),
      rng_(options_.seed),
      tasks_(executor_),
      state_(clock.monotonic()),
      marker_(settings_.marker),
      engine_(std::move(options_.commits)),
      helpers_(
          tasks_,
          [this](const HelperMessage& message, bool leads) { take_message(message, leads); },
          [this] { tell_whether_somebody_listens(); }),
      changed_(executor_) {
  if (settings_.report)
    client_.emplace(executor_, clock_,
                    ReportClientOptions{.target = *settings_.report,
                                        .ca_file = settings_.report_ca,
                                        .token_file = settings_.report_token,
                                        .hosts_file = settings_.hosts_file});
}

Task<void> Observer::run() {
  // What an earlier attempt committed is where this one resumes, not news for a pause.
  look_for_checkpoint();
  const auto heard = helpers_.listen(options_.socket);
  if (!heard) options_.complain(heard.error().context);
  if (heard) tasks_.spawn("helpers", helpers_.run());
  tasks_.spawn("hosts", wait_for_hosts());
  tasks_.spawn("tick", tick_forever());
  if (client_) report_task_ = tasks_.spawn("report", report_forever());
  co_await start_metrics();
  co_await read_channel();
  if (!end_) co_return;  // the supervisor is gone, and with it the container
  last_word();
  if (client_) {
    // One exchange at a time: what is on its way says less than what comes now.
    tasks_.stop(report_task_);
    while (reporting_)
      if (!co_await clock_.sleep_for(std::chrono::milliseconds{1})) co_return;
    co_await send_report(kLastReport);
  }
  if (metrics_) (void)co_await metrics_->stop(clock_.monotonic() + kEndTime);
  tasks_.stop();
  (void)co_await tasks_.join(clock_, clock_.monotonic() + kEndTime);
}

Task<void> Observer::read_channel() {
  asio::posix::stream_descriptor descriptor(executor_, channel_.fd());
  for (;;) {
    auto [error] =
        co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, kTuple);
    if (error || !take_packets()) break;
  }
  descriptor.release();
}

bool Observer::take_packets() {
  constexpr int kPacketsAtOnceMax = 16;  // then the others have their turn
  for (int i = 0; i < kPacketsAtOnceMax; ++i) {
    const auto packet = channel_.receive();
    if (!packet) return false;
    if (!*packet) return true;
    take_packet(**packet);
    if (end_) return false;
  }
  return true;
}

void Observer::take_packet(const Packet& packet) {
  std::string_view rest = packet.body;
  const auto sink = [this](const LogFact& fact) { state_.log(fact, moment()); };
  switch (packet.kind) {
    case Message::kOut:
    case Message::kErr:
      counters_.log_bytes += packet.body.size();
      (packet.kind == Message::kOut ? out_ : err_).feed(packet.body, sink);
      break;
    case Message::kLost:
      counters_.log_bytes_unread += static_cast<std::uint64_t>(take_count(rest).value_or(0));
      out_.gap();
      err_.gap();
      break;
    case Message::kStarted:
      trainer_ = static_cast<pid_t>(take_count(rest).value_or(0));
      state_.started(settings_.runtime, moment());
      hurry();
      break;
    case Message::kAsked: {
      const std::chrono::milliseconds time(take_count(rest).value_or(0));
      state_.stopping(moment());
      helpers_.say(stop_line(std::chrono::duration_cast<std::chrono::seconds>(time)));
      hurry();
      break;
    }
    case Message::kEnded: {
      const auto code = static_cast<std::int32_t>(take_count(rest).value_or(0));
      skip_spaces(rest);
      end_ = {.code = code, .signal = static_cast<std::int32_t>(take_count(rest).value_or(0))};
      skip_spaces(rest);
      start_failure_ = std::string(rest);
      break;
    }
    default:
      break;  // not for us
  }
}

// Tells the supervisor to start in any case; that the gang is complete is better, not necessary.
Task<void> Observer::wait_for_hosts() {
  constexpr std::chrono::milliseconds kRound{1000};
  const Monotonic deadline = clock_.monotonic() + settings_.host_wait;
  auto open = hosts_to_wait_for(settings_);
  bool said = false;
  while (!open.empty() && clock_.monotonic() < deadline) {
    std::vector<std::string> some(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                   open.size(), kNamesAtOnceMax)));
    const auto found = co_await resolve(clock_, some, read_hosts(settings_.hosts_file), deadline);
    for (std::size_t i = 0; i < some.size(); ++i)
      if (!found[i].empty()) std::erase(open, some[i]);
    if (open.empty() || open.front() != some.front()) continue;  // there was progress
    if (!std::exchange(said, true))
      options_.complain(fmt::format("waiting for {} of the gang's host names, such as {}",
                                    open.size(), open.front()));
    std::ranges::rotate(open, open.begin() + static_cast<std::ptrdiff_t>(some.size()));
    if (!co_await clock_.sleep_for(kRound)) co_return;
  }
  if (!open.empty())
    options_.complain(fmt::format("{} host names are still unknown, such as {}; starting anyway",
                                  open.size(), open.front()));
  channel_.send(Message::kStart, {});
}

Task<void> Observer::tick_forever() {
  while (co_await clock_.sleep_for(kTick)) {
    look_for_checkpoint();
    look_for_way();
    step_pause(PauseTick{clock_.monotonic()});
    state_.tick(moment());
    if (state_.phase() == ReportPhase::kRendezvous && trainer_ > 0 &&
        !descendants_of(trainer_, read_processes()).empty())
      state_.workers_seen(moment());
  }
}

void Observer::take_message(const HelperMessage& message, bool leads) {
  state_.helper(message, leads, moment());
  if (message.kind == HelperKind::kHeard) step_pause(PauseHeard{});
  if (message.kind == HelperKind::kFailed) {
    options_.complain("the trainer could not save: " + message.message);
    step_pause(PauseSaveFailed{});
  }
  if (message.checkpoint) committed(*message.checkpoint);
}

void Observer::tell_whether_somebody_listens() {
  channel_.send(Message::kHold, helpers_.listening() ? "1" : "0");
}

void Observer::look_for_checkpoint() {
  for (CheckpointSource* source : std::initializer_list<CheckpointSource*>{&marker_, &engine_})
    if (auto checkpoint = source->poll()) committed(std::move(*checkpoint));
}

void Observer::committed(api::ReportCheckpoint checkpoint) {
  const std::int64_t step = checkpoint.step;
  if (state_.committed(std::move(checkpoint), moment())) hurry();
  step_pause(PauseCommit{step});
}

void Observer::last_word() {
  look_for_checkpoint();
  if (const auto text = read_small_file(options_.error_file, kErrorFileBytesMax))
    if (auto error = read_error_file(*text)) state_.failed(std::move(*error), moment());
  if (!start_failure_.empty())
    state_.failed({.kind = end_->code == 127 ? api::ReportErrorKind::kCommandNotFound
                                             : api::ReportErrorKind::kNotExecutable,
                   .source = api::ReportErrorSource::kProcess,
                   .message = start_failure_},
                  moment());
  state_.ended(*end_, moment());
  const bool well = end_->code == 0 && end_->signal == 0;
  step_pause(PauseTrainerEnded{.safe_step = well ? state_.safe_step() : std::nullopt});
  if (settings_.termination_log.empty()) return;
  const auto written =
      write_termination_log(settings_.termination_log, termination_message(make_report()));
  if (!written) options_.complain(written.error().context);
}

}  // namespace amdahl::launch
