#include "operator/kube/transport.hpp"

#include "operator/kube/http_framing.hpp"

namespace amdahl::kube {

std::string_view Response::header(std::string_view name) const {
  return find_header(headers, name);
}

}  // namespace amdahl::kube
