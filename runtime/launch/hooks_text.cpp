#include "runtime/launch/hooks_text.hpp"

#include <iterator>

namespace amdahl::launch {
namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
// NOLINTNEXTLINE(modernize-avoid-c-arrays): std::array cannot be deduced from what is embedded
constexpr char kText[] = {
#embed "runtime/launch/hooks/sitecustomize.py"
};
#pragma clang diagnostic pop

}  // namespace

std::string_view hooks_text() {
  return {std::data(kText), std::size(kText)};
}

}  // namespace amdahl::launch
