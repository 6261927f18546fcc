#include "local/kubelet/kept_logs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "local/kubelet/log_file.hpp"
#include "local/kubelet/pod_file.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnerFile = "owner.json";
constexpr std::size_t kOwnerBytesMax = 4096;

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// nullopt: the pod is not named as a rank of its owner.
std::optional<std::uint32_t> attempt_of(const Pod& pod, std::string_view owner) {
  const auto text = pod.metadata.labels.find(kAttemptLabel);
  const auto attempt = text ? number_of(*text) : std::nullopt;
  if (!attempt) return std::nullopt;
  const std::string stem = fmt::format("{}-{}-", owner, *attempt);
  const std::string_view name = pod.metadata.name;
  if (!name.starts_with(stem) || !number_of(name.substr(stem.size()))) return std::nullopt;
  return attempt;
}

// The last bytes of a file.
std::string end_of(const std::string& path, std::size_t bytes_max) {
  const Result<Fd> file = open_pod_file(path, O_RDONLY);
  const off_t size = file ? ::lseek(file->get(), 0, SEEK_END) : -1;
  if (size <= 0) return "";
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(bytes_max));
  std::string bytes(static_cast<std::size_t>(size - from), '\0');
  const ssize_t count = ::pread(file->get(), bytes.data(), bytes.size(), from);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

void write_whole(const std::string& path, std::string_view bytes) {
  const Result<Fd> file = open_pod_file(path, O_CREAT | O_TRUNC | O_WRONLY);
  if (!file || ::write(file->get(), bytes.data(), bytes.size()) == std::ssize(bytes)) return;
  ::unlink(path.c_str());  // the disk is full: no log is better than half a record
}

// Of the newest run, over the border of its pieces.
std::string newest_end(const std::string& logs) {
  const std::int32_t run = last_log_run(logs);
  const LogPieces pieces = run < 0 ? LogPieces{} : log_pieces(logs, run);
  std::string records;
  // Counted, because a program of the pod may have made files with any numbers.
  for (std::uint32_t i = 0; i < kLogPiecesMax && !pieces.empty(); ++i) {
    if (i > pieces.last - pieces.first || records.size() >= kKeptFileBytesMax) break;
    records.insert(0, end_of(log_piece(logs, run, pieces.last - i), kKeptFileBytesMax));
  }
  return last_records(records, kKeptTextBytesMax, kKeptFileBytesMax);
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

// "2026-11-16T08:00:00.123456000Z F text"
bool is_record(std::string_view line) {
  return line.size() >= kLogPrefixBytes && line[4] == '-' && line[10] == 'T' && line[29] == 'Z' &&
         line[30] == ' ';
}

// The UID of an owner is what anybody wrote into a pod, and becomes the name of a folder.
bool is_folder_name(std::string_view uid) {
  constexpr std::size_t kUidMax = 64;
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  return !uid.empty() && uid.size() <= kUidMax && std::ranges::all_of(uid, plain);
}

std::uint64_t attempt_in(const fs::path& folder) {
  return number_of(folder.filename().string()).value_or(0);
}

void drop_old_attempts(const fs::path& owner, std::optional<std::uint64_t> known) {
  const std::vector<fs::path> all = folders_in(owner);
  std::uint64_t newest = known.value_or(0);
  if (!known)
    for (const fs::path& one : all) newest = std::max(newest, attempt_in(one));
  std::error_code ignored;
  for (const fs::path& one : all)
    if (attempt_in(one) > newest || attempt_in(one) + kKeptAttemptsMax <= newest)
      fs::remove_all(one, ignored);
}

}  // namespace

std::string last_records(std::string_view records, std::size_t text_max, std::size_t bytes_max) {
  std::size_t begin = records.size();
  std::size_t text = 0;
  while (begin > 0) {
    const std::size_t end = begin - 1;  // the newline of the record before
    const std::size_t before = end == 0 ? std::string_view::npos : records.rfind('\n', end - 1);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view record = records.substr(start, end - start);
    if (!is_record(record)) break;  // the first one was cut
    text += record.size() - kLogPrefixBytes + 1;
    if (text > text_max || records.size() - start > bytes_max) break;
    begin = start;
  }
  return std::string(records.substr(begin));
}

std::optional<KeptOwner> KeptLogs::owner_of(const Pod& pod) {
  const auto* const owner = kube::controller_of(pod.metadata.owners);
  if (owner == nullptr || !is_folder_name(owner->uid) || !attempt_of(pod, owner->name.str()))
    return std::nullopt;
  return KeptOwner{.api_version = owner->api_version.str(),
                   .kind = owner->kind.str(),
                   .ns = pod.metadata.ns,
                   .name = owner->name.str(),
                   .uid = owner->uid.str()};
}

void KeptLogs::keep(const Pod& pod, const PodFolder& from, const OwnerSeen& seen) {
  const auto owner = owner_of(pod);
  if (!owner || seen.gone) return;
  const std::uint64_t attempt = *attempt_of(pod, owner->name);
  if (seen.attempt && attempt > *seen.attempt) return;
  const fs::path home = fs::path(folder_) / owner->ns / owner->uid;
  const fs::path kept = home / std::to_string(attempt) / pod.metadata.name;
  std::error_code error;
  if (fs::exists(kept, error)) return;
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers})
    for (const Container& container : *list) {
      const std::string records = newest_end(from.logs(container.name));
      if (records.empty()) continue;
      const std::string place = (kept / container.name).string();
      fs::create_directories(place, error);
      write_whole(log_piece(place, 0, 1), records);
    }
  if (!fs::exists(kept, error)) return;
  write_whole((home / kOwnerFile).string(), encode(*owner).dump());
  drop_old_attempts(home, seen.attempt);
  drop_oldest();
}

std::optional<std::string> KeptLogs::find(const std::string& ns, const std::string& pod,
                                          const std::string& container) const {
  std::optional<fs::path> newest;
  fs::file_time_type newest_time = fs::file_time_type::min();
  std::error_code error;
  // Two owners may have had pods of this name, one after the other.
  for (const fs::path& owner : folders_in(fs::path(folder_) / ns))
    for (const fs::path& attempt : folders_in(owner)) {
      const fs::path kept = attempt / pod;
      const auto written = fs::last_write_time(kept, error);
      if (error || written < newest_time) continue;
      newest = kept;
      newest_time = written;
    }
  if (!newest) return std::nullopt;
  if (container.empty()) {
    const std::vector<fs::path> all = folders_in(*newest);
    return all.empty() ? std::nullopt : std::optional(all.front().string());
  }
  const fs::path place = *newest / container;
  return fs::is_directory(place, error) ? std::optional(place.string()) : std::nullopt;
}

std::vector<KeptOwner> KeptLogs::owners() const {
  std::vector<KeptOwner> all;
  for (const fs::path& ns : folders_in(folder_))
    for (const fs::path& home : folders_in(ns)) {
      const std::string text = end_of((home / kOwnerFile).string(), kOwnerBytesMax);
      auto owner = decode<KeptOwner>(text);
      // Nobody can say whether the owner of such a folder is gone.
      if (!owner) owner = KeptOwner{.ns = ns.filename(), .uid = home.filename()};
      all.push_back(*std::move(owner));
    }
  return all;
}

void KeptLogs::forget(const KeptOwner& owner) {
  std::error_code ignored;
  fs::remove_all(fs::path(folder_) / owner.ns / owner.uid, ignored);
}

void KeptLogs::drop_oldest() {
  std::vector<std::pair<fs::file_time_type, fs::path>> homes;
  std::error_code error;
  for (const fs::path& ns : folders_in(folder_))
    for (const fs::path& home : folders_in(ns))
      homes.emplace_back(fs::last_write_time(home / kOwnerFile, error), home);
  std::ranges::sort(homes);
  for (std::size_t i = 0; i + kKeptOwnersMax < homes.size(); ++i)
    fs::remove_all(homes[i].second, error);
}

}  // namespace amdahl::local
