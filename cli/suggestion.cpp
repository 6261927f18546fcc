#include "cli/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace amdahl::cli {
namespace {

constexpr std::size_t kTyposMax = 2;
constexpr std::size_t kWordBytesMax = 64;
constexpr std::size_t kSuggestionsMax = 3;

// Words from other programs that users type out of habit. Words that are verbs of ours in another
// group match there only.
struct Synonym {
  std::string_view word = {};
  std::array<std::string_view, 2> verbs = {};
};
constexpr auto kSynonyms = std::to_array<Synonym>({
    {"abort", {"cancel", ""}},
    {"continue", {"resume", ""}},
    {"create", {"submit", "apply"}},
    {"end", {"cancel", ""}},
    {"explain", {"diagnose", ""}},
    {"gc", {"checkpoint", ""}},
    {"halt", {"pause", "cancel"}},
    {"info", {"describe", ""}},
    {"kill", {"cancel", ""}},
    {"list", {"get", "ls"}},
    {"ls", {"get", ""}},
    {"ps", {"get", "top"}},
    {"remove", {"delete", ""}},
    {"repeat", {"rerun", ""}},
    {"restart", {"rerun", ""}},
    {"retry", {"rerun", ""}},
    {"rm", {"delete", "gc"}},
    {"run", {"submit", "rerun"}},
    {"show", {"describe", ""}},
    {"start", {"submit", "up"}},
    {"status", {"describe", "get"}},
    {"stop", {"pause", "cancel"}},
    {"suspend", {"pause", ""}},
    {"tail", {"logs", ""}},
    {"terminate", {"cancel", ""}},
    {"train", {"submit", ""}},
    {"unpause", {"resume", ""}},
    {"unsuspend", {"resume", ""}},
    {"watch", {"describe", "wait"}},
    {"why", {"diagnose", ""}},
});

// Insertions, deletions, changes, and two neighbours swapped.
std::size_t typos_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two(b.size() + 1);
  std::vector<std::size_t> one(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(one.begin(), one.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({one[j] + 1, now[j - 1] + 1,
                         one[j - 1] + static_cast<std::size_t>(a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], two[j - 2] + 1);
    }
    std::swap(two, one);
    std::swap(one, now);
  }
  return one.back();
}

void add(std::vector<std::string>& found, std::string_view verb) {
  if (std::ranges::find(found, verb) == found.end()) found.emplace_back(verb);
}

std::vector<std::string> meant(std::string_view word, const std::vector<std::string>& verbs) {
  std::vector<std::string> found;
  const auto there = [&](std::string_view verb) {
    return std::ranges::find(verbs, verb) != verbs.end();
  };
  for (const Synonym& row : kSynonyms)
    for (const std::string_view verb : row.verbs)
      if (row.word == word && there(verb)) add(found, verb);
  if (!found.empty() || word.size() > kWordBytesMax) return found;
  // The closest ones; of a short word most letters must be right.
  const std::size_t most = std::min(kTyposMax, word.size() / 2);
  for (std::size_t typos = 1; typos <= most && found.empty(); ++typos)
    for (const std::string& verb : verbs)
      if (typos_between(word, verb) == typos) add(found, verb);
  for (const std::string& verb : verbs)
    if (found.empty() && word.size() >= 3 && (verb.starts_with(word) || word.starts_with(verb)))
      add(found, verb);
  if (found.size() > kSuggestionsMax) found.resize(kSuggestionsMax);
  return found;
}

}  // namespace

std::string unknown_verb_text(std::string_view word, std::string_view group,
                              const std::vector<std::string>& verbs) {
  std::string text = fmt::format("unknown verb \"{}\"", word.substr(0, kWordBytesMax));
  std::vector<std::string> found = meant(word, verbs);
  if (found.empty()) return fmt::format("{}; the verbs are {}", text, fmt::join(verbs, ", "));
  for (std::string& verb : found) verb = fmt::format("'amdahl {}{}'", group, verb);
  return fmt::format("{}; did you mean {}?", text, fmt::join(found, " or "));
}

}  // namespace amdahl::cli
