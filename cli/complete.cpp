#include "cli/complete.hpp"

#include <algorithm>
#include <array>

#include "base/deadline.hpp"
#include "cli/training_jobs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::milliseconds kAnswerMax{2'000};
constexpr std::uint32_t kNamesMax = 500;

constexpr std::array<std::string_view, 10> kJobVerbs = {
    "describe", "diagnose", "wait", "pause", "resume", "cancel", "rerun", "logs", "get", "delete"};
constexpr std::array<std::string_view, 4> kJobTypes = {"tj", "trainingjob", "trainingjobs",
                                                       "trainingjobs.amdahl.dev"};
// Flags of those verbs that take a word after them.
constexpr std::array<std::string_view, 16> kValueFlags = {
    "-n",    "--namespace", "--kubeconfig", "--context", "-o",     "--output", "-l", "--selector",
    "--for", "--timeout",   "--rank",       "--attempt", "--tail", "--since",  "-c", "--container"};

// Only names are read.
struct JobName {
  kube::ObjectMeta metadata = {};
  static const kube::Resource& resource() { return kTrainingJobs; }
};
template <class V>
constexpr void fields(V& v, JobName& job) {
  v.required("metadata", job.metadata);
}

void take_value(CompletionQuery& query, std::string_view flag, std::string_view value) {
  if (flag == "-n" || flag == "--namespace") query.access.ns = value;
  if (flag == "--kubeconfig") query.access.kubeconfig = value;
  if (flag == "--context") query.access.context = value;
}

Task<Result<int>> print_names(Program& program, Access access, const CompletionQuery& query) {
  CO_TRY(const auto list,
         co_await kube::Api<JobName>(access.client).list({.ns = access.ns, .limit = kNamesMax}));
  std::vector<std::string> names;
  names.reserve(list.items.size());
  for (const JobName& job : list.items) names.push_back(job.metadata.name);
  for (const std::string& word : offers(query, names)) program.terminal.out(word + "\n");
  co_return kDone;
}

Task<Result<int>> print_in_time(Program& program, Access access, const CompletionQuery& query) {
  co_return co_await with_deadline(program.clock, program.clock.monotonic() + kAnswerMax,
                                   print_names(program, std::move(access), query), "complete");
}

}  // namespace

std::span<const std::string_view> job_verbs() {
  return kJobVerbs;
}

CompletionQuery completion_query(std::span<const char* const> words) {
  CompletionQuery query;
  std::vector<std::string> positional;
  if (words.empty()) return query;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (word.starts_with("--") && equals != std::string_view::npos) {
      take_value(query, word.substr(0, equals), word.substr(equals + 1));
    } else if (std::ranges::find(kValueFlags, word) != kValueFlags.end()) {
      if (i + 2 >= words.size()) return query;  // the last word is the flag's
      take_value(query, word, words[++i]);
    } else if (!word.starts_with('-')) {
      positional.emplace_back(word);
    }
  }
  query.begin = words.back();
  if (positional.empty() || query.begin.starts_with('-')) return query;
  query.typed.assign(positional.begin() + 1, positional.end());
  const bool typed_kind =
      !query.typed.empty() && std::ranges::find(kJobTypes, query.typed.front()) != kJobTypes.end();
  const std::string& verb = positional.front();
  query.names = std::ranges::find(kJobVerbs, verb) != kJobVerbs.end();
  if (verb == "delete" || (verb == "get" && !query.typed.empty())) query.names = typed_kind;
  if (verb == "logs" && !query.typed.empty()) query.names = false;
  if (const std::size_t slash = query.begin.find('/'); slash != std::string::npos) {
    query.names = query.names && explicit_job(query.begin).has_value();
    query.prefix = query.begin.substr(0, slash + 1);
    query.begin.erase(0, slash + 1);
  }
  return query;
}

std::vector<std::string> offers(const CompletionQuery& query,
                                const std::vector<std::string>& names) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  std::vector<std::string> words;
  for (const std::string& name : names) {
    const bool plain = name.find_first_not_of(kPlain) == std::string::npos;
    const bool typed = std::ranges::find(query.typed, name) != query.typed.end();
    if (plain && !typed && name.starts_with(query.begin)) words.push_back(query.prefix + name);
  }
  return words;
}

int complete_words(Program& program, std::span<const char* const> words) {
  const CompletionQuery query = completion_query(words);
  if (!query.names) return kDone;
  const auto config = find_cluster(program, query.access);
  if (!config) return kDone;
  // Nobody reads an error while they type.
  (void)with_cluster(program, *config, [&](Access access) {
    return print_in_time(program, std::move(access), query);
  });
  return kDone;
}

}  // namespace amdahl::cli
