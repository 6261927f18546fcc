#include "runtime/launch/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/launch/command.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

constexpr std::size_t kWordsMax = 8;  // of a command line: what starts a world is named early

// The parts of a text with NUL between them.
template <class Take>
void each_part(std::string_view text, Take take_part) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    if (!take_part(text.substr(0, end))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

struct Names {
  std::string_view rank = {};
  std::string_view size = {};
};
constexpr std::array kNames = {Names{"RANK=", "WORLD_SIZE="},
                               Names{"OMPI_COMM_WORLD_RANK=", "OMPI_COMM_WORLD_SIZE="},
                               Names{"PMI_RANK=", "PMI_SIZE="}};

std::optional<Place> place_by(const Names& names, std::string_view environment) {
  bool has_rank = false;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> size;
  each_part(environment, [&](std::string_view entry) {
    if (take(entry, names.rank)) {
      has_rank = true;
      rank = take_count(entry);
    } else if (take(entry, names.size)) {
      size = take_count(entry);
    }
    return true;
  });
  if (!has_rank || !size) return std::nullopt;
  return Place{.rank = rank, .size = *size};
}

bool starts_world(std::string_view command_line) {
  std::vector<std::string_view> words;
  each_part(command_line, [&](std::string_view word) {
    words.push_back(word);
    return words.size() < kWordsMax;
  });
  return is_launcher(words);
}

}  // namespace

std::optional<Place> place_in(std::string_view environment) {
  for (const Names& names : kNames)
    if (const auto place = place_by(names, environment)) return place;
  return std::nullopt;
}

World::World(const Settings& settings, bool wrapped)
    : runtime_(settings.runtime),
      nodes_(settings.nodes),
      processes_(settings.slots),
      open_(!wrapped && runtime_ != Runtime::kPython && nodes_ * processes_ > 1) {}

void World::see(std::string_view environment, std::string_view command_line) {
  if (!open_) return;
  launcher_seen_ = launcher_seen_ || starts_world(command_line);
  const auto place = place_in(environment);
  if (!place) return;
  if (place->size == nodes_ * processes_)
    open_ = false;
  else
    other_size_ = place->size;
}

void World::looked() {
  if (launcher_seen_) ++launcher_looks_;
}

std::chrono::milliseconds World::look_in() const {
  return launcher_seen_ && launcher_looks_ < kRankLooksMax ? kRankLook : kLook;
}

std::string World::declared() const {
  return fmt::format("{}, {} nodes x {} processes",
                     runtime_ == Runtime::kDeepSpeed ? "DeepSpeed" : "Torchrun", nodes_,
                     processes_);
}

std::optional<std::string> World::fault() const {
  if (!open_) return std::nullopt;
  if (other_size_)
    return fmt::format(
        "exit code 0, but its processes formed a world of {} instead of {} ({}): separate models "
        "were trained. Remove --nnodes, --nproc-per-node and --standalone (PET_* variables carry "
        "them), or give the script as the command: [train.py]",
        *other_size_, nodes_ * processes_, declared());
  if (launcher_seen_ && launcher_looks_ < kLauncherLooksMin) return std::nullopt;
  return fmt::format(
      "exit code 0, but no process joined a world (RANK and WORLD_SIZE): {} needs a world of {}. "
      "Give the script as the command: [train.py] or [python, train.py]; runtime Python is for "
      "commands without a world",
      declared(), nodes_ * processes_);
}

}  // namespace amdahl::launch
