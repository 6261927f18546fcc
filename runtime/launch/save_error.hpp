// Why a save failed, in a form that may stand in a status: one line, bounded, without credentials.
//
// Pure. Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::launch {

std::string save_error(std::string_view words);

}  // namespace amdahl::launch
