// One root among the findings of all ranks.
//
// Pure; internal to this folder. The earliest failure that may have started it is the root: what we
// stopped ourselves, what lost a peer and what waited for one does not count while there is
// another. Times of containers have a resolution of a second and come from several clocks, so among
// failures of about the same time the better evidence is taken. "First observed" is all that is
// claimed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/training/diagnose/rules.hpp"

namespace amdahl::training {

inline constexpr std::chrono::seconds kSameTime{2};
// A node is called lost about this long after it was.
inline constexpr std::chrono::seconds kNodeSilence{60};

struct Examined {
  const PodEvidence* pod = nullptr;
  const ContainerEnd* end = nullptr;  // points into the evidence
  std::optional<Finding> finding = {};
};
std::vector<Examined> examine_all(const AttemptEvidence& attempt);

struct Root {
  const Examined* from = nullptr;  // null: no pod is the root by itself
  Finding finding = {};
  bool too_early = false;  // to blame who only lost a peer
};
std::optional<Root> find_root(const AttemptEvidence& attempt, std::span<const Examined> examined);

// "0-2, 5": ranks for people; the rest is counted.
std::string rank_list(std::vector<std::int32_t> ranks);

}  // namespace amdahl::training
