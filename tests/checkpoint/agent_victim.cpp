// Processes that are killed while one hands snapshots over and the other writes them.
//
//   checkpoint_agent_victim agent SOCKET                      until its standard input ends
//   checkpoint_agent_victim train SOCKET DIR STEP RANK/WORLD ATTEMPT
//                                      saves STEP, STEP + 1, ... until it is killed; says "copying
//                                      N" before and "saved N" after each, and "committed N"
//   checkpoint_agent_victim check SOCKET DIR STEP WORLD       the newest is sound, at least STEP,
//   and
//                                      as it was saved; prints "newest N". What an agent has to
//                                      finish is waited for.
//   checkpoint_agent_victim last DIR STEP        a last save and its collection; "unneeded M"
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_dump.hpp"
#include "checkpoint/engine/agent.hpp"
#include "checkpoint/engine/session.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/open_store.hpp"
#include "tests/checkpoint/prefix_check.hpp"

namespace amdahl::checkpoint::test {
namespace {

constexpr std::int64_t kBigBytes = std::int64_t{6} << 20U;

// Values that follow from the step, so that a mixture of two steps is seen.
std::string big_at(std::int64_t step, std::int64_t rank) {
  std::string bytes(static_cast<std::size_t>(kBigBytes), '\0');
  Rng rng(static_cast<std::uint64_t>(step * 1000 + rank));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = rng.next();
    std::copy_n(reinterpret_cast<const char*>(&bits), sizeof(bits), bytes.data() + at);
  }
  return bytes;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void say(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void complain(std::string_view text) {
  fmt::print(stderr, "{}\n", text);
}

Result<std::unique_ptr<Store>> store_at(const std::string& uri, Clock& clock) {
  return open_store(uri,
                    {.clock = clock, .rng = Rng(std::hash<std::string>()(random_attempt_id()))});
}

Result<void> run_agent(const std::string& socket) {
  RealClock clock;
  RealWaiter waiter;
  TRY(Fd listener, listen_for_trainers(socket));
  TRY(Fd control, duplicate_fd(STDIN_FILENO));
  say("listening");
  Agent agent({.clock = clock,
               .waiter = waiter,
               .listener = std::move(listener),
               .control = std::move(control),
               .open_store = [&](const std::string& uri) { return store_at(uri, clock); },
               .complain = complain,
               .orphan_wait = std::chrono::seconds(2)});
  return agent.run();
}

Result<std::unique_ptr<Session>> session_of(const std::vector<std::string>& words) {
  const std::size_t slash = words[4].find('/');
  const Json options = {{"uri", words[2]},
                        {"jobUid", "uid-1"},
                        {"attempt", words[5]},
                        {"rank", number(words[4])},
                        {"worldSize", number(std::string_view(words[4]).substr(slash + 1))},
                        {"agent", words[1]},
                        {"partBytes", std::int64_t{2} << 20U},
                        {"chunkBytes", 65'536},
                        {"keepLast", 2}};
  return Session::open(dump_json(options), {.complain = complain});
}

Json described(const TestState& state) {
  Json tensors = Json::array();
  for (const TensorSpec& spec : state.specs) {
    tensors.push_back({{"name", spec.name},
                       {"dtype", enum_name(spec.dtype)},
                       {"shape", spec.shape},
                       {"frozen", spec.frozen ? 1 : 0}});
    if (!spec.global_shape.empty()) {
      tensors.back()["globalShape"] = spec.global_shape;
      tensors.back()["offset"] = spec.offset;
    }
  }
  return tensors;
}

TestState state_of(std::int64_t step, std::int32_t rank, std::int32_t world) {
  TestState state = state_at(step, rank, world);
  state.add({.name = fmt::format("big{}", rank), .dtype = Dtype::kU8, .shape = {kBigBytes}},
            big_at(step, rank));
  return state;
}

Result<void> run_trainer(const std::vector<std::string>& words) {
  TRY(const auto session, session_of(words));
  const std::size_t slash = words[4].find('/');
  const auto rank = static_cast<std::int32_t>(number(words[4]));
  const auto world =
      static_cast<std::int32_t>(number(std::string_view(words[4]).substr(slash + 1)));
  TRY(session->describe(dump_json(described(state_of(0, rank, world)))));
  for (std::int64_t step = number(words[3]);; ++step) {
    const TestState state = state_of(step, rank, world);
    const auto pointers = state.pointers();
    say(fmt::format("copying {}", step));
    TRY(session->save({.step = step, .state = state.state, .patience = std::chrono::seconds(60)},
                      pointers));
    say(fmt::format("saved {}", step));
    if (step % 3 != 0) continue;  // some are waited for, others follow at once
    TRY(session->wait(std::chrono::seconds(60)));
    say(fmt::format("committed {}", step));
  }
}

Result<void> check_prefix(const std::vector<std::string>& words) {
  RealClock clock;
  if (!words[1].empty() && ::access(words[1].c_str(), F_OK) == 0) {
    const auto link = AgentLink::connect(words[1], nullptr);
    if (link) TRY((*link)->settle());
  }
  TRY(const auto store, store_at(words[2], clock));
  TRY(const Newest newest, fetch_newest(*store, {}));
  if (!newest.passed_over.empty())
    return fail(Errc::kCorrupt, "step {}: {}", newest.passed_over[0].step,
                newest.passed_over[0].why);
  const std::int64_t step = newest.chain.empty() ? -1 : newest.chain[0].step();
  if (step < number(words[3]))
    return fail(Errc::kCorrupt, "newest {}, {} was saved", step, words[3]);
  if (step >= 0) {
    const auto world = static_cast<std::int32_t>(number(words[4]));
    auto expected = expected_at(step, world);
    for (std::int32_t rank = 0; rank < world; ++rank)
      expected[fmt::format("big{}", rank)] = big_at(step, rank);
    TRY(const auto tensors, load_all(*store, newest.chain));
    if (tensors != expected) return fail(Errc::kCorrupt, "step {} has other bytes", step);
  }
  say(fmt::format("newest {}", step));
  return {};
}

Result<void> save_last(const std::string& uri, std::int64_t step) {
  RealClock clock;
  RealWaiter waiter;
  TRY(const auto store, store_at(uri, clock));
  EngineOptions options = small_options(identity(random_attempt_id()));
  options.retention.keep_last = 2;
  TRY(const auto engine, Engine::open(*store, clock, waiter, std::move(options)));
  TRY(save_step(*engine, step));
  say(fmt::format("unneeded {}", unneeded_objects(*store)));
  return {};
}

}  // namespace

int agent_victim_main(const std::vector<std::string>& words) {
  Result<void> done = fail(Errc::kInvalid, "usage: see the head of agent_victim.cpp");
  if (words.size() == 2 && words[0] == "agent") done = run_agent(words[1]);
  if (words.size() == 6 && words[0] == "train") done = run_trainer(words);
  if (words.size() == 5 && words[0] == "check") done = check_prefix(words);
  if (words.size() == 3 && words[0] == "last") done = save_last(words[1], number(words[2]));
  if (done) return 0;
  complain(done.error().context);
  return 1;
}

}  // namespace amdahl::checkpoint::test

int main(int count, char** words) {
  return amdahl::checkpoint::test::agent_victim_main({words + 1, words + count});
}
