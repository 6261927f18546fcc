// Pods that the default scheduler places one by one.

#include <nlohmann/json.hpp>

#include "operator/training/gang_backend.hpp"

namespace amdahl::training {
namespace {

class NoGang final : public GangBackend {
 public:
  std::optional<Json> group(const Situation& /*s*/) const override { return std::nullopt; }
  bool outdated(const Situation& /*s*/) const override { return false; }
  GangState state(const Situation& /*s*/) const override { return {}; }
  std::string_view scheduler() const override { return {}; }
  void join(Json& /*pod*/, const TrainingJob& /*job*/) const override {}
};

}  // namespace

const GangBackend& no_gang_backend() {
  static const NoGang backend;
  return backend;
}

const GangBackend& gang_backend(api::GangScheduler which) {
  return which == api::GangScheduler::kVolcano ? volcano_backend() : no_gang_backend();
}

bool has_group(const Situation& s) {
  return s.seen.group && owned_by(s.seen.group->metadata.owners, s.job().metadata.uid) &&
         !s.seen.group->metadata.deleted;
}

bool group_is_foreign(const Situation& s) {
  return s.seen.group && !owned_by(s.seen.group->metadata.owners, s.job().metadata.uid);
}

}  // namespace amdahl::training
