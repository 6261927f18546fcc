// How long a save holds the trainer, how long until it is durable, how long a load takes; beside
// the floors of the same run: a memcpy into warm pages, a buffered write with fsync, a cached read.
//
//   checkpoint_speed DIR [MIB] [ROUNDS] [SOCKET]
//
// With the socket of an agent (checkpoint_agent_victim agent SOCKET) it is the agent that writes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <string_view>

#include "base/check.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/file_store.hpp"

namespace amdahl::checkpoint::test {
namespace {

struct Bench {
  std::string folder = {};
  std::string agent = {};
  std::size_t bytes = 0;
  int rounds = 0;
  RealClock clock = {};
  RealWaiter waiter = {};

  double seconds(const std::function<void()>& work) const {
    const Monotonic begin = clock.monotonic();
    work();
    return std::chrono::duration<double>(clock.monotonic() - begin).count();
  }
};

struct Times {
  std::vector<double> all = {};
  double at(double share) const {
    std::vector<double> sorted = all;
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

void say(const char* what, const Times& times, double floor) {
  fmt::print("{:<34} p50 {:.3f} s  p95 {:.3f} s  {:.2f}x of its floor\n", what, times.at(0.5),
             times.at(0.95), times.at(0.5) / floor);
}

void write_synced(const std::string& path, Bytes bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  AMDAHL_CHECK(fd >= 0);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t done =
        ::write(fd, bytes.data() + at, std::min(bytes.size() - at, std::size_t{8} << 20U));
    AMDAHL_CHECK(done > 0);
    at += static_cast<std::size_t>(done);
  }
  AMDAHL_CHECK(::fsync(fd) == 0);
  ::close(fd);
}

void read_cached(const std::string& path, std::span<std::byte> into) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  for (std::size_t at = 0; at < into.size();) {
    const ssize_t done =
        ::read(fd, into.data() + at, std::min(into.size() - at, std::size_t{8} << 20U));
    AMDAHL_CHECK(done > 0);
    at += static_cast<std::size_t>(done);
  }
  ::close(fd);
}

struct Floors {
  Times copy = {};
  Times write = {};
  Times read = {};
};

struct StateShape {
  const char* what = "";
  std::size_t tensors = 0;
};

void measure(Bench& bench, const StateShape& shape, const std::vector<std::byte>& source) {
  const std::size_t each = bench.bytes / shape.tensors / 4 * 4;
  TestState state;
  std::vector<const std::byte*> pointers;
  for (std::size_t i = 0; i < shape.tensors; ++i) {
    state.specs.push_back({.name = fmt::format("layer.{:05}.weight", i),
                           .dtype = Dtype::kF32,
                           .shape = {static_cast<std::int64_t>(each / 4)}});
    pointers.push_back(source.data() + i * each);
  }
  const std::string root = bench.folder + "/" + std::to_string(shape.tensors);
  FileStore store({.root = root}, bench.clock, Rng(1));
  EngineOptions options{.who = identity(random_attempt_id())};
  options.retention.keep_last = 1;
  options.find_frozen = false;
  EngineAgent agent;
  if (!bench.agent.empty())
    agent.link = AgentLink::connect(bench.agent, {{"uri", root},
                                                  {"jobUid", options.who.job_uid},
                                                  {"attempt", options.who.attempt},
                                                  {"keepLast", 1}})
                     .value();
  auto engine =
      Engine::open(store, bench.clock, bench.waiter, std::move(options), std::move(agent));
  AMDAHL_CHECK(engine.has_value());
  std::vector<std::byte> target(bench.bytes);
  std::ranges::fill(target, std::byte{1});
  const std::string file = bench.folder + "/floor";
  Floors floors;
  Times block;
  Times durable;
  Times load;
  for (int round = 0; round < bench.rounds; ++round) {
    floors.copy.all.push_back(
        bench.seconds([&] { std::memcpy(target.data(), source.data(), bench.bytes); }));
    floors.write.all.push_back(bench.seconds([&] { write_synced(file, source); }));
    floors.read.all.push_back(bench.seconds([&] { read_cached(file, target); }));
    SaveRequest request{.step = round, .specs = state.specs, .tensors = pointers};
    double blocked = 0;
    const double all = bench.seconds([&] {
      blocked = bench.seconds([&] { AMDAHL_CHECK((*engine)->save(request).has_value()); });
      AMDAHL_CHECK((*engine)->wait(std::chrono::minutes(5)).has_value());
    });
    const auto chain = fetch_chain(store, round, {});
    AMDAHL_CHECK(chain.has_value());
    std::vector<TensorWanted> wanted;
    for (std::size_t i = 0; i < shape.tensors; ++i)
      wanted.push_back({.name = state.specs[i].name,
                        .dtype = Dtype::kF32,
                        .shape = state.specs[i].shape,
                        .into = std::span(target).subspan(i * each, each)});
    Loader(store, *chain, 2).load(wanted, {}).value();  // into the page cache, if it is not there
    const double loaded =
        bench.seconds([&] { AMDAHL_CHECK(Loader(store, *chain, 2).load(wanted, {}).has_value()); });
    if (round == 0) continue;  // the arena is made
    block.all.push_back(blocked);
    durable.all.push_back(all);
    load.all.push_back(loaded);
  }
  fmt::print("{}: floors p50: memcpy {:.3f} s, write + fsync {:.3f} s, cached read {:.3f} s\n",
             shape.what, floors.copy.at(0.5), floors.write.at(0.5), floors.read.at(0.5));
  say("  save() returns", block, floors.copy.at(0.5));
  say("  durable and visible", durable, floors.write.at(0.5));
  say("  warm load, every chunk verified", load, floors.read.at(0.5));
}

}  // namespace

int speed_main(int count, char** words) {
  if (count < 2) return 2;
  const auto number = [&](int at, int otherwise) {
    int value = otherwise;
    if (count > at) std::from_chars(words[at], words[at] + std::strlen(words[at]), value);
    return value;
  };
  Bench bench{.folder = words[1]};
  if (count > 4) bench.agent = words[4];
  bench.bytes = static_cast<std::size_t>(number(2, 1024)) << 20U;
  bench.rounds = number(3, 9) + 1;
  std::vector<std::byte> source(bench.bytes);
  Rng rng(4);
  for (std::size_t at = 0; at + 8 <= source.size(); at += 8) {
    const std::uint64_t bits = rng.next();
    std::memcpy(source.data() + at, &bits, sizeof(bits));
  }
  for (const StateShape& shape : {StateShape{"16 tensors", 16}, StateShape{"4000 tensors", 4000}})
    measure(bench, shape, source);
  return 0;
}

}  // namespace amdahl::checkpoint::test

int main(int count, char** words) {
  return amdahl::checkpoint::test::speed_main(count, words);
}
