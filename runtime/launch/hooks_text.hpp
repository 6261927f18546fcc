// The text of hooks/sitecustomize.py, which is a part of this program. Thread: any. Failure: none.
#pragma once

#include <string_view>

namespace amdahl::launch {

std::string_view hooks_text();

}  // namespace amdahl::launch
