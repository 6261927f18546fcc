// How a session finds the checkpoint agent, and how much memory it may take.
#include <charconv>
#include <utility>

#include "checkpoint/engine/session.hpp"
#include "checkpoint/format/document.hpp"

namespace amdahl::checkpoint {
namespace {

std::int64_t count_in(const std::string& text, std::int64_t otherwise) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0 ? count : otherwise;
}

}  // namespace

std::string Session::agent_path() const {
  if (options_.agent == kNoAgent) return {};
  if (!options_.agent.empty() || !place_.variable) return options_.agent;
  return place_.variable(kAgentSocketVariable);
}

// As they were given, so that a default is the same for both; the attempt may be a random one.
nlohmann::json Session::hello_options() const {
  auto options = parse_strict(options_text_, kDocumentDepthMax).value_or(Json::object());
  options["attempt"] = options_.attempt;
  return options;
}

std::unique_ptr<AgentLink> Session::find_agent(nlohmann::json options) {
  const std::string path = agent_path();
  if (path.empty()) return nullptr;
  auto link = AgentLink::connect(path, std::move(options));
  if (link) return *std::move(link);
  if (!std::exchange(complained_, true) && place_.complain)
    place_.complain("no checkpoint agent: " + link.error().context +
                    "; this process writes its checkpoints itself");
  return nullptr;
}

// What a trainer before us had handed over may still be on its way, and is newer than what is
// there.
void Session::await_earlier_process() {
  if (engine_ || std::exchange(settled_, true)) return;
  const auto link = find_agent(nullptr);
  if (!link) return;
  if (const auto done = link->settle(); !done && place_.complain)
    place_.complain("checkpoints of an earlier process may still be on their way: " +
                    done.error().context);
}

EngineOptions Session::options_for_here() const {
  EngineOptions options = engine_options(options_);
  const auto variable = [&](std::string_view name) {
    return place_.variable ? place_.variable(name) : std::string();
  };
  options.budget.local_processes = count_in(variable(kLocalProcessesVariable), 1);
  options.budget.node_bytes = count_in(variable(kArenaBytesVariable), 0);
  if (place_.read_file) options.budget.limit_bytes = read_memory_limit(place_.read_file);
  const std::string folder = variable(kArenaFolderVariable);
  if (options.arena.path.empty() && !folder.empty()) {
    options.arena.kind = ArenaKind::kFolder;
    options.arena.path = folder;
  }
  return options;
}

Result<void> Session::open_engine() {
  EngineOptions options = options_for_here();
  TRY(check(options));
  EngineAgent agent{.link = find_agent(hello_options()), .complain = place_.complain};
  TRY(engine_, Engine::open(*store_, clock_, waiter_, std::move(options), std::move(agent)));
  return {};
}

}  // namespace amdahl::checkpoint
