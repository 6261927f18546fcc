// Watches the trainer: reads copies of its output, hears the Python package, waits for the gang's
// names, asks for a pause, and reports.
//
// A process of its own: whatever goes wrong in here, the trainer runs on. Thread: one io_context.
// Lifetime: run() once; clock and executor outlive it. Failure: none that anybody could act on;
// what does not work is said once on standard error and counted.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/http_server.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "runtime/launch/channel.hpp"
#include "runtime/launch/checkpoint_source.hpp"
#include "runtime/launch/ended_ranks.hpp"
#include "runtime/launch/helper_server.hpp"
#include "runtime/launch/log_reader.hpp"
#include "runtime/launch/memory_use.hpp"
#include "runtime/launch/pause.hpp"
#include "runtime/launch/rank_state.hpp"
#include "runtime/launch/report_client.hpp"
#include "runtime/launch/report_text.hpp"
#include "runtime/launch/settings.hpp"
#include "runtime/launch/taken_back.hpp"
#include "runtime/launch/world.hpp"

namespace amdahl::launch {

struct ObserverOptions {
  Settings settings = {};
  std::string socket = {};
  std::string error_file = {};
  Channel commits{Fd()};  // of the checkpointer, if there is one
  bool wrapped = false;   // we put torchrun before the command
  std::uint64_t seed = 1;
  std::function<void(std::string_view)> complain{};  // one line for people
};

class Observer {
 public:
  static constexpr std::chrono::milliseconds kTick{500};
  static constexpr std::chrono::seconds kReportTimeMax{4};       // for one report
  static constexpr std::chrono::milliseconds kLastReport{2000};  // for the one at the end
  static constexpr std::chrono::seconds kBackoffMax{60};
  static constexpr std::chrono::milliseconds kMetricsTimeMax{5000};  // for one scrape
  static constexpr std::chrono::seconds kPauseDefault{120};
  static constexpr std::size_t kErrorFileBytesMax = std::size_t{64} << 10U;

  Observer(boost::asio::any_io_executor executor, Clock& clock, ObserverOptions options,
           Channel channel);
  Task<void> run();

 private:
  Moment moment() const { return {.now = clock_.monotonic(), .wall = clock_.wall()}; }
  Task<void> read_channel();
  bool take_packets();  // false when it is over
  void take_packet(const Packet& packet);
  void keep_tail(std::string_view text);
  Task<void> wait_for_hosts();
  Task<void> tick_forever();
  Task<void> watch_world();
  void look_at_world();
  Task<void> watch_ranks();
  void look_at_ranks();
  void judge_world();
  Task<void> report_forever();
  Task<void> send_report(std::chrono::milliseconds time_max);
  Task<void> start_metrics();
  HttpResponse answer(const HttpRequest& request);
  static Task<void> respond(HttpResponder& responder, HttpResponse response);
  std::chrono::nanoseconds until_next_report() const;
  void take_reply(const api::ReportReply& reply);
  void take_message(const HelperMessage& message, bool leads);
  void look_for_checkpoint();
  void look_at_memory();
  void refuse_cut_short();
  // `counts_again`: for a pause, also when it is known already.
  void committed(api::ReportCheckpoint checkpoint, bool counts_again);
  void save_failed(const HelperMessage& message);
  void ask_for_pause(std::chrono::seconds time);
  ReportPauseWay way_to_pause() const;
  void look_for_way();
  void step_pause(const PauseInput& input);
  void do_pause(PauseAction action);
  void tell_whether_somebody_listens();
  void last_word();
  void hurry();  // something happened that the operator waits for
  api::Report make_report();

  boost::asio::any_io_executor executor_;
  Clock& clock_;
  ObserverOptions options_;
  const Settings& settings_;
  Channel channel_;
  Rng rng_;
  TaskGroup tasks_;
  RankState state_;
  World world_;
  EndedRanks ended_ranks_;
  std::string tail_;                     // the end of what the trainer printed
  std::optional<Monotonic> printed_at_;  // last output of the trainer, or its start
  Pause pause_;
  TakenBack taken_back_;
  LogReader log_;
  MemoryUse memory_;
  CheckpointMarker marker_;
  EngineSource engine_;
  HelperServer helpers_;
  std::optional<ReportClient> client_;
  std::optional<HttpServer> metrics_;
  Notify changed_;
  bool urgent_ = false;
  bool reporting_ = false;
  TaskGroup::Id report_task_ = 0;
  bool stop_asked_ = false;  // by the operator
  bool ending_ = false;      // the supervisor was asked to end
  bool stepped_ = false;
  pid_t trainer_ = -1;
  std::string start_failure_;
  std::optional<api::ReportExit> end_;
  OwnCounters counters_;
  std::int64_t sequence_ = 0;
  std::chrono::seconds report_every_{api::kReportEverySecondsDefault};
  std::uint32_t failures_ = 0;
};

}  // namespace amdahl::launch
