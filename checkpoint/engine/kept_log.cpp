#include "checkpoint/engine/kept_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kUidBytesMax = 63;
constexpr std::size_t kAttemptDigits = 10;
constexpr std::string_view kEnding = ".log";

bool is_uid(std::string_view text) {
  const auto known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && text.size() <= kUidBytesMax && std::ranges::all_of(text, known);
}

Result<std::string> folder_of(const KeptLogPlace& place) {
  if (!is_uid(place.job_uid))
    return fail(Errc::kInvalid, "{}: no UID of a job", shown(place.job_uid));
  return fmt::format("{}/{}/{:05}/", kKeptLogsFolder, place.job_uid, place.rank);
}

std::string name_of(std::string_view folder, std::int64_t attempt) {
  return fmt::format("{}{:010}{}", folder, attempt, kEnding);
}

// nullopt: not a name that name_of() gives, so it is not ours to remove.
std::optional<std::int64_t> attempt_in(std::string_view folder, std::string_view name) {
  if (!name.starts_with(folder) || !name.ends_with(kEnding)) return std::nullopt;
  name.remove_prefix(folder.size());
  if (name.size() != kAttemptDigits + kEnding.size()) return std::nullopt;
  std::int64_t attempt = 0;
  const char* const end = name.data() + kAttemptDigits;
  const auto read = std::from_chars(name.data(), end, attempt);
  if (read.ec != std::errc{} || read.ptr != end || attempt < 0) return std::nullopt;
  return attempt;
}

// One page is enough: a rank has a handful of logs, and what others put there is none of ours.
Result<void> drop_older(Store& store, std::string_view folder, std::int64_t newest,
                        const StoreCall& call) {
  TRY(const ListPage page, store.list(folder, "", call));
  std::vector<std::int64_t> attempts;
  for (const StoredObject& object : page.objects)
    if (const auto attempt = attempt_in(folder, object.name); attempt && *attempt <= newest)
      attempts.push_back(*attempt);
  std::ranges::sort(attempts, std::greater<>());
  const std::size_t last = std::min(attempts.size(), kKeptLogAttemptsMax + kKeptLogsDroppedMax);
  for (std::size_t i = kKeptLogAttemptsMax; i < last; ++i)
    TRY(store.remove(name_of(folder, attempts[i]), call));
  return {};
}

}  // namespace

Result<std::string> kept_log_name(const KeptLogPlace& place) {
  TRY(const std::string folder, folder_of(place));
  return name_of(folder, place.attempt);
}

Result<void> keep_log(Store& store, const KeptLogPlace& place, std::string_view text,
                      const StoreCall& call) {
  TRY(const std::string folder, folder_of(place));
  TRY(check_not_taken(store, {.job_uid = place.job_uid, .job = place.job}, call));
  const std::string name = name_of(folder, place.attempt);
  text.remove_prefix(text.size() - std::min(text.size(), kKeptLogBytesMax));
  const Bytes bytes = bytes_of(text);
  auto created = store.create(name, {&bytes, 1}, call);
  if (!created && created.error().code == Errc::kAlreadyExists) {
    TRY(store.remove(name, call));
    created = store.create(name, {&bytes, 1}, call);
  }
  if (!created) return created;
  return drop_older(store, folder, place.attempt, call);
}

Result<std::string> read_kept_log(Store& store, const KeptLogPlace& place, const StoreCall& call) {
  TRY(const std::string name, kept_log_name(place));
  TRY(const std::int64_t bytes, store.size(name, call));
  const auto shown_bytes = std::min(bytes, static_cast<std::int64_t>(kKeptLogBytesMax));
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(shown_bytes, 0)), '\0');
  if (text.empty()) return text;
  TRY(store.read(name, bytes - shown_bytes, std::as_writable_bytes(std::span(text)), call));
  return text;
}

}  // namespace amdahl::checkpoint
