// YAML from files we did not write, as a plain tree with places for error messages.
//
// Pure. yaml-cpp only delivers events; the tree is built here under the caps below, so an alias is
// paid for before it is expanded and one that contains itself is refused. yaml-cpp's exceptions end
// here. Failure: Errc::kInvalid or kTooLarge with "file:line:column"; no value is ever quoted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace amdahl::kube {

struct YamlLimits {
  std::size_t bytes_max = std::size_t{4} << 20;
  std::size_t depth_max = 64;
  std::size_t nodes_max = 200'000;                     // with aliases expanded
  std::size_t text_bytes_max = std::size_t{16} << 20;  // of all scalars, with aliases expanded
  std::size_t aliases_max = 1'000;
};

enum class YamlKind : std::uint8_t { kNull, kScalar, kSequence, kMap };
std::string_view name(YamlKind kind);  // "nothing", "text", "a list", "a map"

struct YamlNode {
  YamlKind kind = YamlKind::kNull;
  bool plain = false;                  // a scalar without quotes, so "true" may mean true
  std::uint32_t line = 0;              // from 1
  std::uint32_t column = 0;            // from 1
  std::string text = {};               // of a scalar
  std::vector<std::string> keys = {};  // of a map; keys[i] belongs to items[i]
  std::vector<YamlNode> items = {};    // of a map or a sequence

  const YamlNode* find(std::string_view key) const;  // null when absent or not a map
};

// Exactly one document. Duplicate keys and merge keys are errors. `file` is for messages.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file,
                            const YamlLimits& limits = {});

// Plain scalars become null, booleans and numbers by the YAML 1.2 core schema; all else is text.
nlohmann::json to_json(const YamlNode& node);

}  // namespace amdahl::kube
