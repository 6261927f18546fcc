#include "cli/object_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text_layout.hpp"
#include "operator/kube/yaml_text.hpp"

namespace amdahl::cli {

std::string object_text(const Json& object, std::string_view format) {
  if (format == "yaml") {
    std::string text = kube::to_yaml(object);
    // Outside of quotes YAML cannot escape what a terminal obeys, and JSON is YAML too.
    if (plain_text(text) == text) return text;
  }
  const std::string text = object.dump(4, ' ', false, Json::error_handler_t::replace);
  const auto escaped = [](char32_t control) {
    return control == U'\n' ? "\n" : fmt::format("\\u{:04x}", static_cast<unsigned>(control));
  };
  return replace_controls(text, escaped) + "\n";
}

}  // namespace amdahl::cli
