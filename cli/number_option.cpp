#include "cli/number_option.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace amdahl::cli {

void take_from(std::int64_t least, CLI::Option& option) {
  const auto why_not = [least](const std::string& word) {
    std::int64_t value = 0;
    if (CLI::detail::lexical_cast(word, value) && value >= least) return std::string();
    return fmt::format("must be a whole number from {} on, is {}", least, word);
  };
  option.check(CLI::Validator(why_not, ""));
}

}  // namespace amdahl::cli
