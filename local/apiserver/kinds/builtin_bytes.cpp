#include "local/apiserver/kinds/builtin_bytes.hpp"

#include <array>

namespace amdahl::local {

namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
constexpr auto kBytes = std::to_array<char>({
#embed "local/apiserver/kinds/builtin_schemas.json"
});
#pragma clang diagnostic pop

}  // namespace

std::string_view builtin_schema_bytes() { return {kBytes.data(), kBytes.size()}; }

}  // namespace amdahl::local
