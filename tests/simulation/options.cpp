#include "tests/simulation/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace amdahl::simulation {
namespace {

constexpr unsigned kJobsMax = 64;

Result<std::uint64_t> number(std::string_view option, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Errc::kInvalid, "{} needs a number, not \"{}\"", option, text);
  return value;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    words.push_back(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.size(), words.back().size() + 1));
  }
  return words;
}

Result<void> add_subjects(Options& options, std::string_view list) {
  for (const std::string_view name : words_of(list)) {
    const Subject* const subject = find_subject(name);
    if (subject == nullptr) {
      std::vector<std::string_view> known;
      for (const Subject& one : subjects()) known.push_back(one.name);
      return fail(Errc::kInvalid, "there is no subject \"{}\"; known: {}", name,
                  fmt::join(known, ", "));
    }
    options.subjects.push_back(subject);
  }
  return {};
}

Result<void> add_faults(Options& options, std::string_view list) {
  if (list == "all") return {};
  for (const std::string_view name : words_of(list)) {
    TRY(const FaultKind kind, fault_kind(name));
    options.kinds.insert(kind);
  }
  return {};
}

Result<void> set(Options& options, std::string_view name, std::string_view value) {
  if (name == "--subject") return add_subjects(options, value);
  if (name == "--faults") return add_faults(options, value);
  if (name == "--save") {
    options.save = value;
    return {};
  }
  if (name == "--scenario") {
    options.scenario = value;
    return {};
  }
  TRY(const std::uint64_t amount, number(name, value));
  if (name == "--seeds") {
    options.seeds = amount;
  } else if (name == "--first") {
    options.first = amount;
  } else if (name == "--jobs") {
    options.jobs = static_cast<unsigned>(std::min<std::uint64_t>(amount, kJobsMax));
  } else if (name == "--replay") {
    options.replay = amount;
  } else if (name == "--silence") {
    options.silence_minutes = static_cast<std::int64_t>(std::min<std::uint64_t>(amount, 10'000));
  } else {
    return fail(Errc::kInvalid, "unknown option {}; --help lists them", name);
  }
  return {};
}

}  // namespace

const std::string_view kHelp =
    R"(simulate: plays seeded failures against the operator's own code, in virtual time.

  simulate --seeds N [--first S] [--subject LIST] [--faults LIST] [--jobs J]
  simulate --exhaustive [--subject LIST]     every plan of one fault, for every workload
  simulate --replay SEED --subject NAME      one seed: its plan, its trace, its verdict
  simulate --scenario FILE                   plays a saved run

  --subject LIST   of: mirror, gang, training, job, launched, replace,
                   counted;
                   wrong: no-l1, no-w1, no-w2, no-w3, no-e2, training-no-e2
  --faults LIST    only these kinds, e.g. lag,kill; "all" is what makes sense for the subject
  --save FILE      writes the scenario of --replay, with as few faults as still fail
  --silence M      virtual minutes without a write that are demanded at the end (3)
  --jobs J         processes; by default one for each core

Ends with 1 if an oracle objected to a right subject, or to none of a wrong one's seeds.
)";

Result<Options> parse_options(std::span<char* const> words) {
  Options options;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view name = words[at];
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (name == "--exhaustive") {
      options.exhaustive = true;
    } else if (at + 1 < words.size()) {
      TRY(set(options, name, words[++at]));
    } else {
      return fail(Errc::kInvalid, "{} is no option, or lacks its value; --help lists them", name);
    }
  }
  if (options.subjects.empty())
    for (const Subject& subject : subjects())
      if (!subject.wrong) options.subjects.push_back(&subject);
  return options;
}

}  // namespace amdahl::simulation
