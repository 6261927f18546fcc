#include "operator/controller/write_gate.hpp"

#include <catch2/catch.hpp>

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;

const kube::ObjectKey kJob{.ns = "research", .name = "llama"};
constexpr Monotonic kNow{};

struct Caches {
  std::map<std::string, std::string, std::less<>> versions;
  std::optional<std::string> operator()(std::string_view kind) const {
    const auto found = versions.find(kind);
    if (found == versions.end()) return std::nullopt;
    return found->second;
  }
};

TEST_CASE("WriteGate holds an owner back until every cache has passed what was written", "[W2]") {
  WriteGate gate;
  Caches caches{{{"Pod", "100"}, {"Service", "100"}}};
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kReady);
  gate.note(kJob, "Pod", "101", kNow);
  gate.note(kJob, "Service", "103", kNow);
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kWait);
  CHECK(gate.check({.ns = "research", .name = "other"}, caches, kNow) == GateVerdict::kReady);
  caches.versions["Pod"] = "101";
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kWait);
  caches.versions["Service"] = "99999";
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kReady);
  CHECK(gate.owners() == 0);
}

TEST_CASE("WriteGate keeps the highest of several versions, as numbers and not as text", "[W2]") {
  struct Row {
    std::vector<std::string> written;
    std::string cache;
    GateVerdict verdict;
  };
  for (const Row& row : std::initializer_list<Row>{{{"9", "10"}, "9", GateVerdict::kWait},
                                                   {{"10", "9"}, "9", GateVerdict::kWait},
                                                   {{"10", "9"}, "10", GateVerdict::kReady},
                                                   {{"99"}, "100", GateVerdict::kReady},
                                                   {{"340282366920938463463374607431768211455"},
                                                    "340282366920938463463374607431768211454",
                                                    GateVerdict::kWait},
                                                   {{"340282366920938463463374607431768211455"},
                                                    "340282366920938463463374607431768211455",
                                                    GateVerdict::kReady},
                                                   {{"5"}, "", GateVerdict::kWait},
                                                   {{"5"}, "x7", GateVerdict::kLiveRead},
                                                   {{"abc"}, "100", GateVerdict::kLiveRead},
                                                   {{"abc", "5"}, "100", GateVerdict::kLiveRead},
                                                   {{""}, "100", GateVerdict::kLiveRead}}) {
    INFO(row.written.front() << " against " << row.cache);
    WriteGate gate;
    for (const std::string& version : row.written) gate.note(kJob, "Pod", version, kNow);
    CHECK(gate.check(kJob, Caches{{{"Pod", row.cache}}}, kNow) == row.verdict);
  }
}

TEST_CASE("WriteGate asks for a live read once, and only after nothing else is awaited", "[W2]") {
  WriteGate gate;
  Caches caches{{{"Pod", "100"}, {"Service", "100"}}};
  gate.note(kJob, "Pod", "not-a-number", kNow);
  gate.note(kJob, "Service", "101", kNow);
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kWait);
  caches.versions["Service"] = "101";
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kLiveRead);
  CHECK(gate.check(kJob, caches, kNow) == GateVerdict::kReady);
}

TEST_CASE("WriteGate does not wait for kinds without a cache", "[W2]") {
  WriteGate gate;
  gate.note(kJob, "Event", "101", kNow);
  CHECK(gate.check(kJob, Caches{}, kNow) == GateVerdict::kReady);
  CHECK(gate.owners() == 0);
}

TEST_CASE("WriteGate waits at most two minutes: a server restored from a backup counts from below",
          "[W2][L4]") {
  WriteGate gate;
  const Caches rewound{{{"Pod", "7"}}};
  gate.note(kJob, "Pod", "5000", kNow);
  CHECK(gate.check(kJob, rewound, kNow + 119s) == GateVerdict::kWait);
  CHECK(gate.check(kJob, rewound, kNow + 120s) == GateVerdict::kLiveRead);
  CHECK(gate.check(kJob, rewound, kNow + 120s) == GateVerdict::kReady);
}

TEST_CASE("WriteGate is bounded, and what does not fit needs live reads", "[W2]") {
  WriteGate gate;
  const Caches caches{{{"Pod", "1"}}};
  for (std::size_t i = 0; i < kGateOwnersMax + 1; ++i)
    gate.note({.ns = "n", .name = std::to_string(i)}, "Pod", "2", kNow);
  CHECK(gate.owners() == kGateOwnersMax);
  CHECK(gate.check({.ns = "n", .name = std::to_string(kGateOwnersMax)}, caches, kNow) ==
        GateVerdict::kLiveRead);
}

}  // namespace
}  // namespace amdahl::controller
