#include "operator/training/checkpoint_volume.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/api/names.hpp"
#include "operator/api/report_env.hpp"
#include "operator/kube/quantity.hpp"
#include "operator/training/checkpoint_interval.hpp"
#include "operator/training/pod_resources.hpp"

namespace amdahl::training {
namespace {

constexpr const char* kArenaVolume = "amdahl-arena";
constexpr const char* kArenaFolder = "/amdahl-arena";
constexpr std::int64_t kQuantityBytesMax = std::int64_t{1} << 60U;
constexpr std::size_t kAttemptIdDigits = 32;

std::int64_t bytes_of(const std::string& quantity) {
  const auto amount = kube::Quantity::parse(quantity);
  return amount ? std::min(amount->value(), kQuantityBytesMax) : 0;
}
std::int64_t arena_bytes(const api::TrainingJobSpec& spec) {
  return spec.checkpoint.uri.empty() ? 0 : bytes_of(spec.checkpoint.arena_bytes);
}

void set_sources(PodVariables& variables, const api::CheckpointSpec& spec) {
  if (!spec.init_from.empty()) variables.set(api::report_env::kInitFrom, spec.init_from);
  const api::RetentionSpec& keep = spec.retention;
  if (keep == api::RetentionSpec{}) return;  // what a trainer does without being told
  variables.set(api::report_env::kCheckpointRetention,
                fmt::format(R"({{"keepLast":{},"keepEverySteps":{},"keepBytesMax":{}}})",
                            keep.keep_last, keep.keep_every_steps, bytes_of(keep.bytes_max)));
}

// Of the trainer; nothing: it has no limit.
std::optional<std::int64_t> memory_limit(const api::TrainingJobSpec& spec) {
  const Json* const trainer = trainer_of(spec.pod_template);
  if (trainer == nullptr) return std::nullopt;
  const Json& limit = member_of(member_of(member_of(*trainer, "resources"), "limits"), "memory");
  if (limit.is_number_integer()) return limit.get<std::int64_t>();
  if (!limit.is_string()) return std::nullopt;
  const auto amount = kube::Quantity::parse(limit.get<std::string>());
  return amount ? std::optional(amount->value()) : std::nullopt;
}

}  // namespace

std::string attempt_id(std::string_view job_uid, std::uint32_t attempt) {
  const std::string text = fmt::format("amdahl-attempt-1\n{}\n{}\n", job_uid, attempt);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> sum{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data());
  return fmt::format("{:02x}", fmt::join(sum, "")).substr(0, kAttemptIdDigits);
}

void put_checkpointing(Json& pod, Json& trainer, PodVariables& variables, const Attempt& of) {
  const TrainingJob& job = of.job;
  if (job.spec.checkpoint.uri.empty()) return;
  variables.set(api::report_env::kAttemptId, attempt_id(job.metadata.uid, of.number));
  variables.set(api::report_env::kCheckpointInterval,
                std::to_string(told_interval_seconds(job.spec, job.status)));
  set_sources(variables, job.spec.checkpoint);
  const std::int64_t bytes = arena_bytes(job.spec);
  if (bytes <= 0) return;
  // It counts against the memory of the container that writes into it.
  list_in(pod, "volumes")
      .push_back({{"name", kArenaVolume},
                  {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", std::to_string(bytes)}}}});
  list_in(trainer, "volumeMounts")
      .push_back({{"name", kArenaVolume}, {"mountPath", kArenaFolder}, {"readOnly", false}});
  variables.set(api::report_env::kArenaDir, kArenaFolder);
  variables.set(api::report_env::kArenaBytes, std::to_string(bytes));
}

std::optional<std::string> arena_fault(const api::TrainingJobSpec& spec) {
  const std::int64_t bytes = arena_bytes(spec);
  const auto limit = memory_limit(spec);
  if (bytes <= 0 || !limit || *limit >= kBesideArenaBytes + bytes) return std::nullopt;
  return fmt::format(
      "spec.checkpoint.arenaBytes: {} bytes count against the trainer's memory limit of {}; it "
      "needs a "
      "limit of at least {}",
      bytes, *limit, bytes + kBesideArenaBytes);
}

}  // namespace amdahl::training
