// JSON pointers (RFC 6901) and the container a pointer ends in.
//
// Pure, any thread. Place points into the document it was found in and dies with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

// The tokens, unescaped; nothing for "" and for text that does not start with '/'. Pointers of more
// than kDepthMax tokens lead nowhere and give nothing too.
std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer);

// The object or list that holds the last token, and that token.
struct Place {
  Json* container = nullptr;  // null: the path to it does not exist
  std::string key = {};
  std::size_t depth = 0;  // of the container; the document is 0
};
Place find_place(Json& document, std::string_view pointer);

// Reads "3" or "-1" as an index of a list with `size` places; the error names the index.
Result<std::size_t> list_index(const std::string& key, std::size_t size);

}  // namespace amdahl::local
