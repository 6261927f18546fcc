// Objects as a journal kept them, made ready to serve.
//
// Thread: the server's. Failure: Errc::kCorrupt for a text that no server of ours has written.
#pragma once

#include <string>

#include "base/result.hpp"
#include "local/apiserver/core/kind_rules.hpp"
#include "local/apiserver/core/stored_object.hpp"

namespace amdahl::local {

struct Restored {
  std::string storage = {};
  std::string text = {};
};

// Takes the text: many objects are kept only once. A start reads all of them, so what nothing is
// selected by (managedFields, often half of an object) is not built as a tree.
Result<ObjectPtr> restore(const KindRules& rules, Restored& from);

}  // namespace amdahl::local
