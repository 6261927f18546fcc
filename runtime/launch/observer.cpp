#include "runtime/launch/observer.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <utility>

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
      world_(settings_, options_.wrapped),
      ended_ranks_(settings_),
      memory_(::getppid()),
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
  if (world_.open()) tasks_.spawn("world", watch_world());
  if (ended_ranks_.wanted()) tasks_.spawn("ranks", watch_ranks());
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
  if (packet.kind == Message::kOut || packet.kind == Message::kErr) {
    printed_at_ = clock_.monotonic();
    keep_tail(packet.body);
  }
  if (log_.take(packet, sink)) return;
  switch (packet.kind) {
    case Message::kStarted:
      trainer_ = static_cast<pid_t>(take_count(rest).value_or(0));
      state_.started(settings_.runtime, moment());
      look_at_world();
      printed_at_ = clock_.monotonic();
      hurry();
      break;
    case Message::kAsked: {
      const std::chrono::milliseconds time(take_count(rest).value_or(0));
      ending_ = true;
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
      memory_.at_least(take_count(rest).value_or(0));
      skip_spaces(rest);
      start_failure_ = std::string(rest);
      log_.finish(sink);
      break;
    }
    default:
      break;  // not for us
  }
}

void Observer::keep_tail(std::string_view text) {
  constexpr std::size_t kTailBytesMax = 1024;
  tail_ += text.substr(text.size() - std::min(text.size(), kTailBytesMax));
  if (tail_.size() > kTailBytesMax) tail_.erase(0, tail_.size() - kTailBytesMax);
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
    look_at_memory();
    look_for_way();
    step_pause(PauseTick{.now = clock_.monotonic(), .step = state_.step()});
    state_.tick(moment());
    if (state_.step() && !std::exchange(stepped_, true)) hurry();  // users wait for the first one
    if (state_.phase() == ReportPhase::kRendezvous && trainer_ > 0 &&
        !descendants_of(trainer_, read_processes()).empty())
      state_.workers_seen(moment());
  }
}

// Somebody sent SIGTERM and nobody asked for a pause. A trainer that saves and ends with 0 has not
// done its work for that; where its pod is deleted, the code does not matter.
void Observer::refuse_cut_short() {
  const bool well = end_->code == 0 && end_->signal == 0;
  if (!ending_ || !well || pause_.state == ReportPauseState::kCommitted || state_.is_through())
    return;
  end_->code = kCutShortExitCode;
  channel_.send(Message::kRefuse, fmt::format("{}", kCutShortExitCode));
}

void Observer::take_message(const HelperMessage& message, bool leads) {
  state_.helper(message, leads, moment());
  // Others may hear it before the last steps of the one that counts them are known here.
  if (message.kind == HelperKind::kHeard && leads) {
    look_for_checkpoint();  // what was committed before does not count for the pause
    step_pause(PauseHeard{state_.known_step()});
  }
  if (message.kind == HelperKind::kFailed) {
    options_.complain("the trainer could not save: " + message.message);
    save_failed(message);
    step_pause(PauseSaveFailed{});
  }
  if (message.kind == HelperKind::kSaveFailed) save_failed(message);
  if (message.checkpoint) committed(*message.checkpoint, true);
}

void Observer::tell_whether_somebody_listens() {
  channel_.send(Message::kHold, helpers_.listening() ? "1" : "0");
}

void Observer::look_for_checkpoint() {
  if (auto checkpoint = marker_.poll()) committed(std::move(*checkpoint), true);
  // Trainers tell of these, too: the second message about a commit is not another commit.
  if (auto checkpoint = engine_.poll()) committed(std::move(*checkpoint), false);
  if (const auto failure = engine_.take_failure()) save_failed(*failure);
}

void Observer::look_at_memory() {
  memory_.look();
  if (memory_.is_news()) hurry();
}

void Observer::save_failed(const HelperMessage& message) {
  state_.save_failed(message.failed_saves, message.message, moment());
  hurry();
}

void Observer::committed(api::ReportCheckpoint checkpoint, bool counts_again) {
  const std::int64_t step = checkpoint.step;
  const bool news = state_.committed(std::move(checkpoint), moment());
  if (news) hurry();
  if (news || counts_again) step_pause(PauseCommit{step});
}

void Observer::last_word() {
  look_for_checkpoint();
  memory_.look();
  if (const auto text = read_small_file(options_.error_file, kErrorFileBytesMax))
    if (auto error = read_error_file(*text)) state_.failed(std::move(*error), moment());
  if (!start_failure_.empty())
    state_.failed({.kind = end_->code == 127 ? api::ReportErrorKind::kCommandNotFound
                                             : api::ReportErrorKind::kNotExecutable,
                   .source = api::ReportErrorSource::kProcess,
                   .message = start_failure_},
                  moment());
  judge_world();
  const bool paused = end_->code == kPausedExitCode && end_->signal == 0;
  const bool well = (end_->code == 0 && end_->signal == 0) || paused;
  step_pause(PauseTrainerEnded{.safe_step = well ? state_.safe_step() : std::nullopt});
  const bool resumed = well && ended_for(taken_back_, pause_);
  if (resumed) pause_ = taken_back_.pause;
  const bool asked =
      resumed || pause_.state == ReportPauseState::kCommitted || (ending_ && state_.safe_step());
  if (paused && asked) {
    end_ = api::ReportExit{};
    channel_.send(Message::kPaused, {});
  }
  refuse_cut_short();
  // Better than nothing: the end of the log often says what no pattern knows.
  if (end_->code != 0 && !state_.error() && !tail_.empty())
    state_.failed({.source = api::ReportErrorSource::kLog, .message = tail_}, moment());
  state_.ended(*end_, moment());
  if (settings_.termination_log.empty()) return;
  const auto written =
      write_termination_log(settings_.termination_log, termination_message(make_report()));
  if (!written) options_.complain(written.error().context);
}

}  // namespace amdahl::launch
