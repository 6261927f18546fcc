#include "local/apiserver/protobuf/message_bytes.hpp"

#include <iterator>

namespace amdahl::local {

namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
// NOLINTNEXTLINE(modernize-avoid-c-arrays): std::array cannot be deduced from 43,000 initialisers
constexpr char kBytes[] = {
#embed "local/apiserver/protobuf/messages.txt"
};
#pragma clang diagnostic pop

}  // namespace

std::string_view builtin_message_bytes() {
  return {std::data(kBytes), std::size(kBytes)};
}

}  // namespace amdahl::local
