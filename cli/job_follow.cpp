#include "cli/job_follow.hpp"

#include "cli/job_view.hpp"
#include "cli/live_text.hpp"
#include "cli/text_layout.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawPause{200};
constexpr std::chrono::seconds kAgesMove{1};

class Follower {
 public:
  explicit Follower(Program& program) : program_(program) {}

  void show(const JobSeen& seen) {
    if (program_.terminal.live) {
      const ScreenSize size = program_.terminal.size ? program_.terminal.size() : ScreenSize{};
      return program_.terminal.bytes(screen_.replace(plain_text(live_view(seen)), size));
    }
    const std::string lines = lines_.take(facts_of(seen));
    const std::string when = format_time(seen.now) + " ";
    std::string text;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at) + 1;
      text += when + lines.substr(at, end - at);
      at = end;
    }
    if (!text.empty()) program_.terminal.out(text);
  }

  Monotonic next_look() const {
    return program_.terminal.live ? program_.clock.monotonic() + kAgesMove : Monotonic::max();
  }

 private:
  Program& program_;
  LiveText screen_;
  ChangedLines lines_;
};

}  // namespace

Task<Result<int>> follow_job(Program& program, LiveJob& live) {
  Follower follower(program);
  for (bool last = false;;) {
    follower.show(live.seen());
    if (!live.exists()) {
      program.terminal.out(fmt::format("{} was deleted\n", live.job().metadata.name));
      co_return kFailed;
    }
    const api::Phase phase = phase_of(live.job()).phase;
    if (last) co_return phase == api::Phase::kSucceeded ? kDone : kFailed;
    // One more round, because the pods may be told of after the job.
    last = is_finished(phase);
    if (!last) {
      const auto changed = co_await live.changed(follower.next_look());
      if (!changed && changed.error().code != Errc::kTimeout)
        co_return std::unexpected<Error>(changed.error());
    }
    if (!co_await program.clock.sleep_for(kRedrawPause))
      co_return fail(Errc::kCancelled, "stopped");
  }
}

}  // namespace amdahl::cli
