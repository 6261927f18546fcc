// The text of kubeconfigs: one of our own, and our entries in somebody else's.
//
// What must come out is computed as data; the text is then edited line by line, so that comments
// and order stay, and used when it says exactly that data. A file in a style that cannot be edited
// so is printed anew. Pure. Failure: Errc::kInvalid for a text that is no kubeconfig.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::local {

inline constexpr std::string_view kContextName = "amdahl-local";  // of cluster, user and context

struct ClusterAddress {
  std::string url = {};
  std::string authority_pem = {};
  std::string token = {};
};

std::string kubeconfig_text(const ClusterAddress& address);

// `text` with our cluster, user and context added or replaced; current-context is set where there
// was none. `file` is for messages.
Result<std::string> merge_context(std::string_view text, const ClusterAddress& address,
                                  std::string_view file);
// Without them; the same text when there are none.
Result<std::string> remove_context(std::string_view text, std::string_view file);

}  // namespace amdahl::local
