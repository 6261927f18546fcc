// One object as it came over the wire, not yet read. Lifetime: that of the buffer it points into.
#pragma once

#include <string_view>

#include "operator/kube/request.hpp"

namespace amdahl::kube {

struct RawObject {
  std::string_view bytes;  // JSON: followed by kJsonPadding readable bytes
  Encoding encoding = Encoding::kJson;
};

}  // namespace amdahl::kube
