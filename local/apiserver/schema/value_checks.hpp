// Checks of one value that need no other: type, number, text. Inside this library only.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

struct ValuePlace {
  std::string_view field = {};  // as a cause names it
  std::string_view shown = {};  // as the message names it
};

bool checks_type(const Schema& schema);  // does the schema say anything about the type?
std::optional<Cause> check_type(const Schema& schema, const Json& value, const ValuePlace& place);
void check_number(const ValueChecks& checks, const Json& value, const ValuePlace& place,
                  std::vector<Cause>& causes);
// The first thing wrong with its length or content.
std::optional<Cause> check_text(const ValueChecks& checks, const Json& value,
                                const ValuePlace& place);
std::optional<Cause> check_format(const ValueChecks& checks, const Json& value,
                                  const ValuePlace& place);

std::int64_t code_points(std::string_view text);

}  // namespace amdahl::local
