#include "cli/object_text.hpp"

#include <nlohmann/json.hpp>

#include "operator/kube/yaml_text.hpp"

namespace amdahl::cli {

std::string object_text(const Json& object, std::string_view format) {
  if (format == "yaml") return kube::to_yaml(object);
  return object.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace amdahl::cli
