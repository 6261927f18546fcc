// What to say to a verb that does not exist: the verbs that were probably meant.
//
// Pure, any thread. Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl::cli {

// "unknown verb \"stop\"; did you mean 'amdahl pause' or 'amdahl cancel'?" `group` is "local " for
// the verbs of `amdahl local`, and "" for those of `amdahl`.
std::string unknown_verb_text(std::string_view word, std::string_view group,
                              const std::vector<std::string>& verbs);

}  // namespace amdahl::cli
