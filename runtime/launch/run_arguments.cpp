#include "runtime/launch/run_arguments.hpp"

#include <string_view>

namespace amdahl::launch {
namespace {

constexpr std::string_view kOption = "--env=";

// $(NAME) of the names given; others stay, as a node leaves them.
std::string filled_in(std::string_view word, const Variables& given) {
  std::string text;
  for (;;) {
    const auto begin = word.find("$(");
    const auto end = begin == word.npos ? word.npos : word.find(')', begin);
    if (end == word.npos) return text.append(word);
    const std::string_view name = word.substr(begin + 2, end - begin - 2);
    const bool known = given.has(name);
    text.append(word.substr(0, begin));
    text.append(known ? given.get(name) : word.substr(begin, end + 1 - begin));
    word.remove_prefix(end + 1);
  }
}

}  // namespace

RunArguments read_run_arguments(const std::vector<std::string>& arguments) {
  RunArguments read;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with(kOption); ++at)
    read.variables.push_back(arguments[at].substr(kOption.size()));
  if (at < arguments.size() && arguments[at] == "--") ++at;
  const Variables given(read.variables);
  for (; at < arguments.size(); ++at) read.command.push_back(filled_in(arguments[at], given));
  return read;
}

Variables with_given(Variables environment, const RunArguments& given) {
  for (const std::string_view entry : given.variables)
    if (const auto equals = entry.find('='); equals != entry.npos && equals > 0)
      environment.set(entry.substr(0, equals), entry.substr(equals + 1));
  return environment;
}

}  // namespace amdahl::launch
