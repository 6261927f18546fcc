#include "operator/kube/exec_plugin.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/deadline.hpp"
#include "base/redact.hpp"

namespace amdahl::kube {
namespace {

std::string text_for_people(std::string_view text) {
  std::string shown = redact(text);
  std::ranges::replace_if(shown, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  while (shown.ends_with(' ')) shown.pop_back();
  return shown;
}

Result<std::string> output_of(const SubprocessOutcome& outcome) {
  if (outcome.exit_code == 0) return outcome.out;
  const std::string said = text_for_people(outcome.err);
  const std::string end = outcome.signal != 0 ? fmt::format("ended by signal {}", outcome.signal)
                                              : fmt::format("exit code {}", outcome.exit_code);
  return fail(Errc::kUnauthorized, "{}{}{}", end, said.empty() ? "" : ": ", said);
}

}  // namespace

// One run, as seen by those who wait for it.
struct ExecPlugin::Flight {
  explicit Flight(const boost::asio::any_io_executor& executor) : landed(executor) {}
  std::optional<Result<void>> result;
  Notify landed;
};

// What a run needs. Shared with it, because it may outlive the plugin object.
struct ExecPlugin::State {
  Config config;
  Environment environment;
  CredentialsContext context;
  Runner runner;

  std::optional<ExecCredential> credential = {};
  Monotonic obtained = Monotonic::min();
  WallTime obtained_wall = {};
  bool stale = false;  // the server refused it
  std::optional<Error> failure = {};
  Monotonic retry_at = Monotonic::min();
  std::shared_ptr<Flight> flight = {};

  const ExecSpec& spec() const { return std::get<ExecSpec>(config.auth); }
};

// Lands the flight when the run is over, also when its task was stopped before it began.
struct ExecPlugin::FlightEnd {
  FlightEnd(std::shared_ptr<State> of, std::shared_ptr<Flight> which)
      : state(std::move(of)), flight(std::move(which)) {}
  FlightEnd(FlightEnd&&) = default;
  FlightEnd& operator=(FlightEnd&&) = delete;
  ~FlightEnd() {
    if (flight == nullptr) return;
    if (!flight->result) flight->result = fail(Errc::kCancelled, "stopped before it ended");
    state->flight = nullptr;
    flight->landed.notify_all();
  }
  std::shared_ptr<State> state;
  std::shared_ptr<Flight> flight;
};

ExecPlugin::ExecPlugin(const Config& config, const Environment& environment,
                       CredentialsContext context, Runner runner)
    : state_(std::make_shared<State>(config, environment, std::move(context), std::move(runner))) {}

bool ExecPlugin::fresh() const {
  const State& state = *state_;
  if (!state.credential || state.stale) return false;
  if (!state.credential->expires) return true;
  // A credential that lives for seconds must not be renewed on every request.
  const auto lifetime = *state.credential->expires - state.obtained_wall;
  const auto leeway = std::min<std::chrono::microseconds>(kExecLeeway, lifetime / 4);
  return state.context.clock.wall() < *state.credential->expires - leeway;
}

Task<Result<ExecCredential>> ExecPlugin::run(std::shared_ptr<State> state) {
  const ExecSpec& spec = state->spec();
  Clock& clock = state->context.clock;
  CO_TRY(const bool interactive, plugin_interacts(spec, state->environment));
  SubprocessSpec process{
      .stdout_max = kExecOutputMax, .stderr_max = kExecErrorTextMax, .interactive = interactive};
  CO_TRY(std::string program, find_plugin(spec, state->config.exec_policy, state->environment));
  process.arguments.push_back(std::move(program));
  process.arguments.insert(process.arguments.end(), spec.arguments.begin(), spec.arguments.end());

  auto variables = state->environment.variables;
  for (const ExecVariable& variable : spec.variables) variables[variable.name] = variable.value;
  variables["KUBERNETES_EXEC_INFO"] =
      exec_info(state->config, state->context.tls.pem().ca, interactive);
  for (const auto& [name, value] : variables) process.environment.push_back(name + "=" + value);

  const auto limit = interactive ? kExecInteractiveTimeMax : kExecTimeMax;
  CO_TRY(SubprocessOutcome outcome,
         co_await state->runner(std::move(process), clock, clock.monotonic() + limit));
  CO_TRY(std::string output, output_of(outcome));
  CO_TRY(ExecCredential credential, parse_exec_credential(output, spec.api_version, clock.wall()));
  if (!credential.certificate.empty())
    CO_TRY(state->context.tls.set_client(credential.certificate, credential.key));
  co_return credential;
}

Task<void> ExecPlugin::fly(std::shared_ptr<State> state, FlightEnd end) {
  auto credential = co_await run(state);
  const Monotonic now = state->context.clock.monotonic();
  if (credential) {
    state->credential = std::move(*credential);
    state->obtained = now;
    state->obtained_wall = state->context.clock.wall();
    state->stale = false;
    state->failure.reset();
    end.flight->result = Result<void>{};
    co_return;
  }
  Error error = std::move(credential).error();
  error.context = fmt::format("exec plugin {}: {}", state->spec().command, error.context);
  if (error.code != Errc::kCancelled) {
    state->failure = error;
    state->retry_at = now + kExecPause;
    state->context.log.warning("exec plugin failed", {{"error", error}});
  }
  end.flight->result = std::unexpected(std::move(error));
}

void ExecPlugin::start_run() {
  TaskGroup& tasks = state_->context.tasks;
  state_->flight = std::make_shared<Flight>(tasks.executor());
  tasks.spawn("exec plugin", fly(state_, FlightEnd(state_, state_->flight)));
}

Task<Result<std::string>> ExecPlugin::token(Monotonic deadline) {
  const std::shared_ptr<State> state = state_;
  if (fresh()) co_return state->credential->token;
  if (state->flight == nullptr) {
    if (state->failure && state->context.clock.monotonic() < state->retry_at)
      co_return std::unexpected(*state->failure);
    start_run();
  }
  // A group that is stopping drops the task at once, and the flight with it.
  const std::shared_ptr<Flight> flight = state->flight;
  if (flight == nullptr) co_return fail(Errc::kCancelled, "exec plugin: this process is stopping");
  while (!flight->result) {
    auto waited = co_await flight->landed.wait(state->context.clock, deadline);
    if (!waited && !flight->result)
      co_return wrap(std::move(waited).error(), "exec plugin {}", state->spec().command);
  }
  if (!*flight->result) co_return std::unexpected(flight->result->error());
  co_return state->credential->token;
}

void ExecPlugin::rejected(Monotonic request_start) {
  State& state = *state_;
  if (!state.credential || state.obtained >= request_start) return;
  // A server that refuses everything must not make us run the plugin for every request.
  if (state.context.clock.monotonic() - state.obtained < kExecPause) return;
  state.stale = true;
}

}  // namespace amdahl::kube
