#include "cli/job_change.hpp"

#include <CLI/CLI.hpp>

#include "cli/field_owners.hpp"
#include "cli/job_wait.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

class Changer {
 public:
  Changer(Program& program, Access access, const ChangeOptions& options, Wish wish)
      : program_(program), access_(std::move(access)), options_(options), wish_(wish) {}

  // All are asked first, so that they stop together.
  Task<Result<int>> run() {
    const Monotonic deadline = deadline_in(program_, options_.timeout);
    for (const std::string& word : options_.names) CO_TRY(co_await ask(job_name(word)));
    for (const Asked& one : asked_) CO_TRY(co_await wait(one, deadline));
    co_return code_;
  }

 private:
  struct Asked {
    std::string name;
    std::int64_t generation = 0;
  };

  void worst(int code) { code_ = std::max(code_, code); }

  Result<void> handle(const Error& error) {
    if (error.code == Errc::kCancelled) return std::unexpected<Error>(error);
    program_.terminal.err("amdahl: " + error.context + "\n");
    worst(kFailed);
    return {};
  }

  Task<Result<void>> ask(const std::string& name) {
    auto job = co_await find_job(access_, name);
    if (!job) co_return handle(job.error());
    const FirstLook look = first_look(wish_, *job, program_.called, options_.lose_steps);
    if (!look.said.empty()) say(look.said, look.code);
    if (look.ask) {
      const std::string who = program_.environment.get("USER").value_or("");
      job = co_await kube::Api<TrainingJob>(access_.client)
                .patch({.ns = access_.ns, .name = name}, patch_of(wish_, who),
                       {.field_manager = std::string(kControlManager)});
      if (!job) co_return handle(job.error());
      if (!options_.wait) say(asked_text(wish_, *job, program_.called), kDone);
    }
    if (options_.wait && look.wait)
      asked_.push_back({.name = name, .generation = job->metadata.generation});
    co_return Result<void>{};
  }

  void say(const std::string& text, int code) {
    if (code == kDone)
      program_.terminal.out(text + "\n");
    else
      program_.terminal.err("amdahl: " + text + "\n");
    worst(code);
  }

  Task<Result<void>> wait(const Asked& one, Monotonic deadline) {
    static constexpr std::string_view kGoals[] = {"paused", "running", "cancelled"};
    const auto verdict = [this, &one](const TrainingJob& job) -> std::optional<WaitEnd> {
      WishVerdict said = judge(wish_, one.generation, job);
      if (said.open) return std::nullopt;
      return WaitEnd{.said = std::move(said.said), .code = said.code};
    };
    const auto code = co_await wait_for_job(
        program_, access_, one.name, verdict,
        {.what = std::string(kGoals[static_cast<std::size_t>(wish_)]), .deadline = deadline});
    if (!code) co_return handle(code.error());
    worst(*code);
    co_return Result<void>{};
  }

  Program& program_;
  Access access_;
  const ChangeOptions& options_;
  Wish wish_;
  std::vector<Asked> asked_;
  int code_ = kDone;
};

Task<Result<int>> change_with(Program& program, Access access, const ChangeOptions& options,
                              Wish wish) {
  Changer changer(program, std::move(access), options, wish);
  co_return co_await changer.run();
}

}  // namespace

void add_change_options(CLI::App& verb, ChangeOptions& options) {
  verb.add_option("name", options.names, "names of TrainingJobs")->type_name("NAME")->required();
  verb.add_flag("--wait", options.wait, "wait until it is done, and say what became of it");
  add_timeout_option(verb, options.timeout, "how long to wait, such as 90s or 2h (default 10m)");
  add_access_options(verb, options.access);
}

Result<int> change_jobs(Program& program, const ChangeOptions& options, Wish wish) {
  TRY(const auto config, find_cluster(program, options.access));
  return with_cluster(program, config, [&](Access access) {
    return change_with(program, std::move(access), options, wish);
  });
}

}  // namespace amdahl::cli
