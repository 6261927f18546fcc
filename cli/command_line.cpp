#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/complete.hpp"
#include "cli/suggestion.hpp"
#include "cli/text_layout.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kFooter =
    "Examples:\n"
    "  amdahl local up                     a cluster on this machine, for your user only\n"
    "  amdahl submit job.yaml -w           start a training job and follow it\n"
    "  amdahl diagnose llama-ft            why it failed or waits\n"
    "  amdahl get pods -A                  whatever else runs\n"
    "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 not running (local status), 4 time was up\n"
    "(wait, and --wait of pause, resume and cancel).\n"
    "Called as kubectl-amdahl it is a plugin: 'kubectl amdahl get'.\n";

// Help as it reads where the program is called by another name.
std::string as_called(std::string text, const std::string& called) {
  constexpr std::string_view kName = "amdahl";
  if (called == kName) return text;
  const auto in_word = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '/' || c == '.';
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = std::min(text.find(kName, at), text.size());
    result += text.substr(at, found - at);
    at = found + kName.size();
    if (found == text.size()) break;
    const bool whole =
        (found == 0 || !in_word(text[found - 1])) && at < text.size() && text[at] == ' ';
    const bool done = result.ends_with("kubectl ");
    result += whole && !done ? called : kName;
  }
  return result;
}

// "amdahl local up" of the innermost verb that was named.
std::string full_name(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string name = at->get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

int wrong_usage(Program& program, const CLI::App& app, std::string_view why) {
  program.terminal.err(as_called(fmt::format("amdahl: {}\nSee '{} --help'.\n", why, full_name(app)),
                                 program.called));
  return kWrongUsage;
}

int refuse(Program& program, const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream ignored;
  if (error.get_exit_code() == 0) {  // --help is an exception of CLI11 too
    app.exit(error, out, ignored);
    program.terminal.out(as_called(out.str(), program.called));
    return kDone;
  }
  // Said of a verb with verbs below it, in words that are not ours.
  const bool no_verb = std::string_view(error.what()) == "A subcommand is required";
  return wrong_usage(program, app, no_verb ? "no verb was given" : error.what());
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  return names;
}

// The first word that should be a verb and is none; CLI11 would only miss a verb.
std::optional<std::string> unknown_verb(const CLI::App& app, std::span<const char* const> words) {
  const CLI::App* at = &app;
  for (const std::string_view word : words.subspan(std::min<std::size_t>(1, words.size()))) {
    const auto below = at->get_subcommands([](const CLI::App*) { return true; });
    if (below.empty() || word.starts_with('-')) return std::nullopt;
    const auto found = std::ranges::find(below, word, &CLI::App::get_name);
    if (found == below.end()) {
      const std::string group = at == &app ? "" : at->get_name() + " ";
      return unknown_verb_text(word, group, verbs_of(*at));
    }
    at = *found;
  }
  return std::nullopt;
}

int finish(Program& program, const Result<int>& result) {
  if (result) return *result;
  program.terminal.err("amdahl: " + result.error().context + "\n");
  return kFailed;
}

// Names, addresses and errors have text of others in them, and any verb prints them.
Terminal harmless(Terminal terminal) {
  terminal.bytes = terminal.out;
  terminal.out = [out = terminal.out](std::string_view text) { out(plain_text(text)); };
  terminal.err = [err = terminal.err](std::string_view text) { err(plain_text(text)); };
  terminal.confirm = [confirm = terminal.confirm](std::string_view question) {
    return confirm(plain_text(question));
  };
  return terminal;
}

// In the order of the help text: what a training job goes through, then everything else.
void add_verbs(CLI::App& app, Program& program, Action& action) {
  add_submit(app, program, action);
  add_get(app, program, action);
  add_describe(app, program, action);
  add_diagnose(app, program, action);
  add_logs(app, program, action);
  add_pause(app, program, action);
  add_resume(app, program, action);
  add_cancel(app, program, action);
  add_rerun(app, program, action);
  add_wait(app, program, action);
  add_top(app, program, action);
  add_checkpoint(app, program, action);
  add_local(app, program, action);
  add_apply(app, program, action);
  add_delete(app, program, action);
  add_completion(app, program, action);
  add_version(app, program, action);
}

// A verb is known here; what stands after it, the cluster knows.
int complete(Program& program, const CLI::App& app, std::span<const char* const> words) {
  if (words.size() != 1) return complete_words(program, words);
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (verb->get_name().starts_with(words.front())) program.terminal.out(verb->get_name() + "\n");
  return kDone;
}

}  // namespace

int run(const Program& given, std::span<const char* const> words) {
  Program program = given;
  program.terminal = harmless(std::move(program.terminal));
  Action action;
  CLI::App app("Amdahl: training jobs on Kubernetes, and a cluster on this machine to try them.",
               "amdahl");
  app.require_subcommand(1);
  app.footer(std::string(kFooter));
  app.set_help_flag("-h,--help", "show this text");
  app.get_formatter()->column_width(34);
  add_verbs(app, program, action);
  if (words.size() > 1 && std::string_view(words[1]) == kCompleteVerb)
    return complete(program, app, words.subspan(2));
  if (const auto unknown = unknown_verb(app, words)) return wrong_usage(program, app, *unknown);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return refuse(program, app, error);
  }
  return finish(program, action());
}

}  // namespace amdahl::cli
