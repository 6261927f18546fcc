// Random clusters that live for a while: what schedule() promises holds in each of them.
#include <map>
#include <set>

#include "base/rng.hpp"
#include "local/scheduler/board.hpp"
#include "local/scheduler/fit.hpp"
#include "local/scheduler/gang.hpp"
#include "local/scheduler/test_world.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr std::uint64_t kWorlds = 400;
constexpr int kSteps = 12;

PodTerm of_app(const std::string& app) {
  return {.labels = {{.key = "app", .op = kube::SelectorOperator::kIn, .values = {app}}},
          .namespaces = {"ns"},
          .topology_key = "zone"};
}

class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed) : rng_(seed) {
    for (std::uint64_t i = 0, count = rng_.below(6); i <= count; ++i) add_node();
    for (const char* name : {"default", "small"})
      world.queues.push_back({.name = name, .uid = name});
    if (rng_.chance(0.5)) world.queues[1].capability = {{kGpu, some(6)}};
    world.priority_classes = {{"low", 1}, {"high", 10}};
  }

  void step() {
    if (rng_.chance(0.5)) add_group();
    if (rng_.chance(0.5)) add_single();
    if (rng_.chance(0.2)) add_node();
    if (rng_.chance(0.1)) world.nodes[rng_.below(world.nodes.size())].ready = rng_.chance(0.5);
    if (rng_.chance(0.1)) world.queues[1].status.state = QueueState::kClosed;
    if (rng_.chance(0.1)) world.queues[1].status.state = QueueState::kOpen;
    for (PodView& one : world.pods) live(one);
    std::erase_if(world.pods, [this](const PodView& one) {
      return (one.deleting && rng_.chance(0.5)) || rng_.chance(0.02);
    });
    if (rng_.chance(0.1) && !world.groups.empty())
      world.groups.erase(world.groups.begin() +
                         static_cast<std::ptrdiff_t>(rng_.below(world.groups.size())));
  }

  // The order of lists means nothing, so it must change nothing.
  ClusterView shuffled() {
    ClusterView other = world;
    const auto shuffle = [this](auto& list) {
      for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[rng_.below(i)]);
    };
    shuffle(other.nodes);
    shuffle(other.pods);
    shuffle(other.groups);
    shuffle(other.queues);
    return other;
  }

  ClusterView world;

 private:
  Amount some(std::uint64_t most) { return static_cast<Amount>(rng_.below(most + 1)); }

  void add_node() {
    NodeView one = node(fmt::format("n{}", next_++), some(8), 1'000 * some(16));
    one.labels = rng_.chance(0.5) ? PackedMap{{"zone", "east"}} : PackedMap{{"zone", "west"}};
    if (rng_.chance(0.2)) one.taints = {{.key = "team", .value = "x", .effect = "NoSchedule"}};
    one.unschedulable = rng_.chance(0.05);
    one.allocatable["pods"] = some(20);
    world.nodes.push_back(std::move(one));
  }

  void dress(PodView& one) {
    one.requests = {{kGpu, some(3)}, {"cpu", 500 * some(6)}};
    one.priority = static_cast<std::int32_t>(rng_.below(3));
    one.created = at_second(some(50));
    one.gated = rng_.chance(0.03);
    if (rng_.chance(0.2)) one.node_selector = {{"zone", "east"}};
    if (rng_.chance(0.3)) one.tolerations = {{.key = "team", .op = "Exists"}};
    if (rng_.chance(0.5)) one.labels = {{"app", rng_.chance(0.5) ? "x" : "y"}};
    if (rng_.chance(0.1)) one.apart = {of_app("x")};
    if (rng_.chance(0.1)) one.together = {of_app("y")};
    if (rng_.chance(0.1))
      one.preferred_nodes = {
          {.weight = 5,
           .term = {.labels = {
                        {.key = "zone", .op = kube::SelectorOperator::kIn, .values = {"west"}}}}}};
  }

  void add_group() {
    const std::string name = fmt::format("g{}", next_++);
    const auto members = static_cast<int>(1 + rng_.below(5));
    GroupView one = group(name, static_cast<std::int32_t>(rng_.below(6)));
    if (rng_.chance(0.3)) one.queue = "small";
    if (rng_.chance(0.3)) one.priority_class = rng_.chance(0.5) ? "low" : "high";
    if (rng_.chance(0.3)) one.resources_min = {{kGpu, some(8)}};
    if (rng_.chance(0.2)) one.task_members_min = {{"head", 1}};
    world.groups.push_back(std::move(one));
    for (int i = 0; i < members; ++i) {
      PodView pod = member(name, i);
      dress(pod);
      pod.task = i == 0 ? "head" : "worker";
      world.pods.push_back(std::move(pod));
    }
  }

  void add_single() {
    PodView one = pod(fmt::format("s{}", next_++), {});
    dress(one);
    if (rng_.chance(0.3)) one.scheduler = std::string(kVolcanoScheduler);
    if (rng_.chance(0.2)) one.scheduler = "somebody-else";
    world.pods.push_back(std::move(one));
  }

  void live(PodView& one) {
    if (one.node.empty()) return;
    if (one.phase == kube::PodPhase::kPending && rng_.chance(0.6))
      one.phase = kube::PodPhase::kRunning;
    else if (one.phase == kube::PodPhase::kRunning && rng_.chance(0.2))
      one.phase = rng_.chance(0.7) ? kube::PodPhase::kSucceeded : kube::PodPhase::kFailed;
    if (rng_.chance(0.05)) one.deleting = true;
  }

  Rng rng_;
  int next_ = 0;
};

std::map<std::string, Resources> held(const ClusterView& world) {
  std::map<std::string, Resources> sums;
  for (const PodView& one : world.pods) {
    if (one.node.empty() || is_finished(one)) continue;
    for (const auto& [name, amount] : one.requests) sums[one.node][name] += amount;
    ++sums[one.node]["pods"];
  }
  return sums;
}

// Every node that got something new holds no more than it has.
void check_room(const ClusterView& after, const Plan& plan) {
  const auto sums = held(after);
  for (const Binding& binding : plan.bindings) {
    const auto on = std::ranges::find(after.nodes, binding.node, &NodeView::name);
    REQUIRE(on != after.nodes.end());
    for (const auto& [name, amount] : sums.at(binding.node)) {
      const auto has = on->allocatable.find(name);
      CHECK(amount <= (has == on->allocatable.end() ? 0 : has->second));
    }
  }
}

void check_fit(ClusterView& after, const Plan& plan) {
  for (const Binding& binding : plan.bindings) {
    const PodView& one = pod_named(after, binding.pod.name);
    const auto on = std::ranges::find(after.nodes, binding.node, &NodeView::name);
    CHECK(tolerates(one, *on, nullptr));
    CHECK(matches_node(one, *on, nullptr));
    CHECK(is_served(one));
    CHECK_FALSE((one.gated || one.deleting || is_finished(one)));
  }
}

// Anti-affinity, looked at from outside: no two in one zone that must not be.
void check_apart(const ClusterView& after, const Plan& plan) {
  std::map<std::string, std::string_view> zones;
  for (const NodeView& one : after.nodes) zones[one.name] = *one.labels.find("zone");
  std::set<ObjectKey> fresh;
  for (const Binding& binding : plan.bindings) fresh.insert(binding.pod);
  for (const PodView& one : after.pods) {
    for (const PodView& other : after.pods) {
      const bool both = &one != &other && !one.node.empty() && !other.node.empty() &&
                        !is_finished(one) && !is_finished(other);
      const bool judged = fresh.contains(one.key) || fresh.contains(other.key);
      if (!both || !judged || one.apart.empty() || other.labels.find("app") != "x") continue;
      CHECK(zones[one.node] != zones[other.node]);
    }
  }
}

// Whoever is newly placed belongs to a gang that has its minimum now.
void check_gangs(const ClusterView& after, const Plan& plan) {
  const Board board(after);
  std::set<std::string> touched;
  for (const Binding& binding : plan.bindings)
    for (const PodRow& row : board.pods)
      if (row.view->key == binding.pod && row.group != kNoIndex) {
        const GroupRow& gang = board.groups[row.group];
        CHECK(gang_is_ready(gang, count_gang(board, gang)));
        CHECK(gang.admitted);
      }
}

void check_queue(const ClusterView& after, const Plan& plan) {
  const Board board(after);
  for (const Binding& binding : plan.bindings)
    for (const PodRow& row : board.pods)
      if (row.view->key == binding.pod && row.queue != kNoIndex)
        for (std::size_t i = 0; i < board.resources(); ++i)
          if (const auto& limit = board.queues[row.queue].limit[i])
            CHECK(board.queues[row.queue].allocated[i] <= *limit);
}

void check_step(RandomWorld& random, WallTime now) {
  const Plan plan = schedule(random.world, now);
  CHECK(schedule(random.shuffled(), now) == plan);
  for (const Binding& binding : plan.bindings)
    CHECK(pod_named(random.world, binding.pod.name).node.empty());  // nothing bound is moved
  apply(random.world, plan);
  check_room(random.world, plan);
  check_fit(random.world, plan);
  check_apart(random.world, plan);
  check_gangs(random.world, plan);
  check_queue(random.world, plan);
  CHECK(schedule(random.world, now + std::chrono::seconds{1}).empty());
}

TEST_CASE("In random clusters nothing is overfull, torn apart, moved or said twice") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    INFO("seed " << seed);
    RandomWorld random(seed);
    for (int step = 0; step < kSteps; ++step) {
      INFO("step " << step);
      random.step();
      check_step(random, at_second(100 + 10 * step));
    }
  }
}

TEST_CASE("A pass over 1,000 pods and 100 nodes, timed", "[.][bench]") {
  ClusterView world;
  for (int i = 0; i < 100; ++i) world.nodes.push_back(node(fmt::format("n{:03}", i), 8));
  const auto crowd = [&](int gangs, int members, Amount gpus) {
    for (int i = 0; i < gangs; ++i)
      add_gang(world, fmt::format("g{:03}-{}", i, gpus), members, gpus);
  };
  SECTION("all fit") {
    crowd(100, 8, 1);
  }
  SECTION("none fits: every node is full") {
    crowd(100, 8, 1);
    apply(world, schedule(world, at_second(1)));
    for (PodView& one : world.pods) one.phase = kube::PodPhase::kRunning;
    crowd(125, 8, 2);
  }
  for (int i = 0; i < 200; ++i) world.pods.push_back(pod(fmt::format("s{:03}", i), {{"cpu", 100}}));
  const RealClock clock;
  std::chrono::nanoseconds best = std::chrono::hours{1};
  Plan plan;
  for (int i = 0; i < 5; ++i) {
    const Monotonic start = clock.monotonic();
    plan = schedule(world, at_second(2));
    best = std::min(best, clock.monotonic() - start);
  }
  fmt::print("schedule(): {} pods, {} nodes: {:.1f} ms, {} bound, {} unplaced\n", world.pods.size(),
             world.nodes.size(), std::chrono::duration<double, std::milli>(best).count(),
             plan.bindings.size(), plan.unplaced.size());
  CHECK_FALSE(plan.empty());
}

}  // namespace
}  // namespace amdahl::local::scheduling
