// What is put into the world: a controller, what its user does, and how its end is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "base/rules.hpp"
#include "operator/api/report.hpp"
#include "operator/controller/controller.hpp"
#include "operator/controller/manager.hpp"
#include "tests/simulation/fault_plan.hpp"

namespace amdahl::simulation {

// The production code of one operator process: caches, watchers, controller, manager.
class Program {
 public:
  virtual ~Program() = default;
  virtual controller::Manager& manager() = 0;
  // What the report endpoint would hand on; nullopt: this replica takes no reports now.
  virtual std::optional<api::ReportReply> report(const api::Report& report, Monotonic now) {
    (void)report, (void)now;
    return std::nullopt;
  }
};

struct UserStep {
  std::int64_t at_ms = 0;
  std::string method = {};
  std::string target = {};
  std::string body = {};
};

// The objects of a world by "storage namespace/name", each as text without what differs between two
// equal runs (uids, versions, times).
using EndState = std::map<std::string, std::string>;

inline std::int64_t six_minutes(std::uint64_t /*workload*/) {
  return 360'000;
}

struct Subject {
  std::string name = {};
  std::string about = {};
  // The safeguard that is switched off, of a subject that must be caught.
  std::optional<Rule> off = {};
  bool wrong = false;                 // must be caught
  std::string reference = {};         // the subject whose fault-free run is the reference
  std::set<FaultKind> kinds = {};     // faults that make sense for it
  FaultPlan (*draw)(Rng&) = nullptr;  // plans made for it; null: drawn from `kinds`
  std::unique_ptr<Program> (*start)(const controller::Runtime&, Rng,
                                    controller::ManagerOptions) = nullptr;
  // What the user does, by the number of the workload; names of workloads that have one.
  std::vector<UserStep> (*script)(std::uint64_t workload) = nullptr;
  std::uint64_t workloads = 16;
  std::vector<std::string> workload_names = {};
  std::int64_t grid_ms = 5'000;  // between two times at which single faults are tried
  // When all is done, by the number of the workload; faults end at kFaultsEndMs.
  std::int64_t (*converge_ms)(std::uint64_t workload) = six_minutes;
  std::vector<std::string> definitions = {};  // CRDs that are there from the start
  std::string monkey_edit = R"({"metadata":{"annotations":{"monkey":"was here"}}})";
  // What depends on timing even without faults is left out of both ends; null: nothing does.
  EndState (*general)(const EndState&) = nullptr;
  // For runs in which pods were killed: leaves out what then depends on when; null: compare all.
  EndState (*essence)(const EndState&) = nullptr;
};

inline constexpr std::string_view kNamespace = "sim";

const std::vector<Subject>& subjects();
const Subject* find_subject(std::string_view name);

// All kinds of fault, and those that need pods.
std::set<FaultKind> all_faults();
std::set<FaultKind> faults_without_pods();

}  // namespace amdahl::simulation
