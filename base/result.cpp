#include "base/result.hpp"

#include "base/check.hpp"

namespace amdahl {

std::string_view name(Errc code) {
  switch (code) {
    case Errc::kInvalid:
      return "invalid";
    case Errc::kUnauthorized:
      return "unauthorized";
    case Errc::kForbidden:
      return "forbidden";
    case Errc::kNotFound:
      return "not_found";
    case Errc::kAlreadyExists:
      return "already_exists";
    case Errc::kConflict:
      return "conflict";
    case Errc::kGone:
      return "gone";
    case Errc::kTooLarge:
      return "too_large";
    case Errc::kThrottled:
      return "throttled";
    case Errc::kUnavailable:
      return "unavailable";
    case Errc::kIo:
      return "io";
    case Errc::kTls:
      return "tls";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kTimeout:
      return "timeout";
    case Errc::kCancelled:
      return "cancelled";
    case Errc::kFenced:
      return "fenced";
    case Errc::kTerminal:
      return "terminal";
  }
  AMDAHL_CHECK(false && "an Errc without a name");
  return "";
}

}  // namespace amdahl
