#include "operator/api/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace amdahl::api {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHex = "0123456789abcdef";
// What the API server draws the end of a generateName from, so that no word comes out.
constexpr std::string_view kGenerated = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kGeneratedLength = 5;
constexpr std::size_t kHexLengthMin = 6;
constexpr std::size_t kSizeDigitsMax = 4;

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}
bool has_any(std::string_view text, std::string_view of) {
  return text.find_first_of(of) != std::string_view::npos;
}

// How large a model is: "70b", "405b", "8x22b".
bool is_size(std::string_view suffix) {
  if (!suffix.ends_with('b')) return false;
  suffix.remove_suffix(1);
  const std::size_t times = suffix.find('x');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() <= kSizeDigitsMax && only(text, kDigits);
  };
  if (times == std::string_view::npos) return is_number(suffix);
  return is_number(suffix.substr(0, times)) && is_number(suffix.substr(times + 1));
}

bool is_serial(std::string_view suffix) {
  if (suffix.empty() || is_size(suffix)) return false;
  if (only(suffix, kDigits)) return true;
  if (suffix.size() == kGeneratedLength && only(suffix, kGenerated)) return true;
  // "-facade" is a word; a hash has digits too.
  return suffix.size() >= kHexLengthMin && only(suffix, kHex) && has_any(suffix, kDigits);
}

std::optional<std::uint32_t> number(const PackedMap& labels, std::string_view key) {
  const std::string_view text = labels.find(key).value_or("");
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

std::string pod_name(std::string_view job, std::uint32_t attempt, std::uint32_t node_rank) {
  return fmt::format("{}-{}-{}", job, attempt, node_rank);
}

std::string service_name(std::string_view job) {
  return fmt::format("{}-gang", job);
}

std::string pod_group_name(std::string_view job) {
  return fmt::format("{}-gang", job);
}

std::string rank_host(std::string_view job, std::uint32_t attempt, std::uint32_t node_rank) {
  return pod_name(job, attempt, node_rank) + "." + service_name(job);
}

std::string rendezvous_id(std::string_view job_uid, std::uint32_t attempt) {
  return fmt::format("{}-{}", job_uid, attempt);
}

std::uint16_t shared_master_port(std::string_view job_uid, std::uint32_t attempt) {
  constexpr std::uint32_t kFirst = 10'000, kPorts = 10'000;
  std::uint32_t hash = 2'166'136'261;  // FNV-1a: the same in every build, unlike std::hash
  for (const char letter : rendezvous_id(job_uid, attempt))
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16'777'619;
  return static_cast<std::uint16_t>(kFirst + hash % kPorts);
}

std::optional<PodIdentity> pod_identity(const PackedMap& labels) {
  const auto job = labels.find(label::kJob);
  const auto attempt = number(labels, label::kAttempt);
  const auto rank = number(labels, label::kRank);
  if (!job || job->empty() || !attempt || !rank) return std::nullopt;
  return PodIdentity{.job = std::string(*job), .attempt = *attempt, .node_rank = *rank};
}

std::string job_selector(std::string_view job) {
  return fmt::format("{}={}", label::kJob, job);
}

std::string family_of(std::string_view job) {
  const std::size_t dash = job.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || !is_serial(job.substr(dash + 1)))
    return std::string(job);
  std::string_view family = job.substr(0, dash);
  while (family.ends_with('-')) family.remove_suffix(1);
  return std::string(family);
}

}  // namespace amdahl::api
