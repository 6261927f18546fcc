// The bodies of records (seal.hpp), to values and back through their field tables.
//
// Canonical: no white space, names in the order of their bytes, only integers of 64 bits, escapes
// only where JSON demands them. A body in any other form is refused, so a value has one text and
// one digest. Thread: any. Failure: kCorrupt, kInvalid or kTooLarge, with the path of the field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_dump.hpp"
#include "base/json_encode.hpp"
#include "base/result.hpp"
#include "base/validate.hpp"
#include "checkpoint/format/seal.hpp"
#include "checkpoint/format/tree_fields.hpp"

namespace amdahl::checkpoint {

inline constexpr int kDocumentDepthMax = 72;

namespace document_detail {
Result<Json> parse_body(std::string_view body);
Result<void> check_canonical(std::string_view body, const Json& written);
}  // namespace document_detail

// The rest of reading: from the body to a value whose fields are within their bounds.
template <HasFields T>
Result<T> read_body(std::string_view body_line) {
  const std::string_view body = body_line.substr(0, body_line.size() - 1);
  TRY(const Json tree, document_detail::parse_body(body));
  TRY(T value, from_tree<T>(tree));
  TRY(validate(value));
  TRY(document_detail::check_canonical(body, encode(value)));
  return value;
}

template <HasFields T>
std::string write_body(const T& value) {
  return dump_json(encode(value));
}

}  // namespace amdahl::checkpoint
