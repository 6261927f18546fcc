// Shell completion: the words of the command line, written down as a script. Made from the same
// description that parses it, so a new verb or flag is in it at once.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/complete.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct VerbWords {
  std::string path = {};  // "local up"; "" for the program itself
  std::vector<std::pair<std::string, std::string>> verbs = {};  // with what they do
  std::vector<std::string> flags = {};
};

void collect(const CLI::App& app, const std::string& path, std::vector<VerbWords>& into) {
  VerbWords words{.path = path};
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* one) {
         return !one->get_group().empty();  // hidden ones have none
       }))
    words.verbs.emplace_back(verb->get_name(), verb->get_description());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) words.flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.flags.push_back("--" + name);
  }
  const auto verbs = words.verbs;
  into.push_back(std::move(words));
  for (const auto& [name, description] : verbs)
    collect(*app.get_subcommand(name), path.empty() ? name : path + " " + name, into);
}

// Of the path of words: "*\" describe\"|*\" get\"".
std::string job_verb_cases() {
  std::string cases;
  for (const std::string_view verb : job_verbs())
    cases += fmt::format("{}*\" {}\"", cases.empty() ? "" : "|", verb);
  return cases;
}

// zsh reads it too, through bashcompinit.
std::string bash_script(const std::vector<VerbWords>& all) {
  std::string text =
      "_amdahl() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} path= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$path ${COMP_WORDS[i]}\" in\n";
  std::string cases = "  case \"$path\" in\n";
  for (const VerbWords& one : all) {
    std::string words;
    for (const auto& [name, description] : one.verbs) words += name + " ";
    for (const std::string& flag : one.flags) words += flag + " ";
    if (!words.empty()) words.pop_back();
    if (!one.path.empty()) {
      const bool first = !one.path.contains(' ');
      text += fmt::format("      \"{}{}\") path=\"{}\" ;;\n", first ? " " : "", one.path, one.path);
    }
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", one.path, words);
  }
  text += "    esac\n  done\n  local words=\n" + cases +
          "  esac\n"
          "  case \"$word $path\" in\n"
          "    -*) ;;\n"
          "    " +
          job_verb_cases() +
          ")\n"
          "      words+=\" $(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
          "2>/dev/null)\" ;;\n"
          "  esac\n"
          "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "}\n"
          "complete -o filenames -F _amdahl amdahl kubectl-amdahl\n";
  return text;
}

std::string fish_script(const std::vector<VerbWords>& all) {
  std::string text;
  for (const VerbWords& one : all) {
    std::string when = "__fish_use_subcommand";
    if (!one.path.empty()) {
      when.clear();
      for (std::size_t at = 0; at < one.path.size();) {
        const std::size_t end = std::min(one.path.find(' ', at), one.path.size());
        when += (when.empty() ? "" : "; and ") +
                ("__fish_seen_subcommand_from " + one.path.substr(at, end - at));
        at = end + 1;
      }
    }
    for (const auto& [name, description] : one.verbs)
      text +=
          fmt::format("complete -c amdahl -f -n '{}' -a {} -d \"{}\"\n", when, name, description);
    for (const std::string& flag : one.flags)
      text += fmt::format("complete -c amdahl -n '{}' {} {}\n", when,
                          flag.starts_with("--") ? "-l" : "-s",
                          flag.substr(flag.find_first_not_of('-')));
  }
  // The words before the one that is typed, then that one, which may be empty.
  for (const std::string_view verb : job_verbs())
    text += fmt::format(
        "complete -c amdahl -f -n '__fish_seen_subcommand_from {}' -a "
        "'(amdahl __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'\n",
        verb);
  return text;
}

std::string script(const CLI::App& app, const std::string& shell) {
  std::vector<VerbWords> all;
  collect(app, "", all);
  if (shell == "fish") return fish_script(all);
  const std::string head =
      shell == "zsh" ? "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n" : "";
  return head + bash_script(all);
}

}  // namespace

void add_completion(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb =
      app.add_subcommand("completion", "Print a script that completes words in a shell.");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("shell", *shell, "bash, zsh or fish")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  verb->footer(
      "Examples:\n  source <(amdahl completion bash)\n"
      "  amdahl completion fish >~/.config/fish/completions/amdahl.fish\n");
  // The text is made while the description still lives.
  verb->callback([&app, &program, &action, shell] {
    action = [&program, text = script(app, *shell)]() -> Result<int> {
      program.terminal.out(text);
      return kDone;
    };
  });
}

}  // namespace amdahl::cli
