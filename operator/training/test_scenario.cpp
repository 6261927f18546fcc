#include "operator/training/test_scenario.hpp"

namespace amdahl::training {
namespace {

constexpr std::string_view kSeparator = "---";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool is_blank(const std::string& line) {
  return line.empty() || line.starts_with('#');
}

}  // namespace

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    Word word;
    bool quotes = false;
    for (; at < line.size() && (quotes || line[at] != ' '); ++at) {
      if (line[at] == '"') {
        quotes = !quotes;
      } else if (line[at] == '=' && !word.has_value && !quotes) {
        word.has_value = true;
      } else {
        (word.has_value ? word.value : word.key) += line[at];
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

Result<Played> play_scenario(std::string_view text) {
  World world;
  Played played;
  bool happening = true;
  const auto decided = [&] {
    const api::TrainingJobStatus before = world.job ? world.job->status : api::TrainingJobStatus{};
    const Plan plan = world.decide();
    const std::string plan_lines = plan_text(plan, before);
    const bool held = world.play(plan);
    played.text += plan_lines + (held ? "" : "did not hold\n");
  };
  for (const std::string& line : lines_of(text)) {
    if (line == kSeparator) {
      played.text += line + "\n";
      happening = !happening;
      if (!happening) decided();
      continue;
    }
    if (!happening) continue;  // what was expected; written anew
    played.text += line + "\n";
    if (is_blank(line)) continue;
    auto done = happen(world, line);
    if (!done) return wrap(std::move(done).error(), "\"{}\"", line);
  }
  played.faults = world.broken;
  return played;
}

}  // namespace amdahl::training
