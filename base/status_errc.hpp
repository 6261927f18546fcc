// What an HTTP status that is no success means, for every client in here: the API server's, the
// stores' and the launcher's. One table, so that the same answer is the same error everywhere.
//
// Pure. A client that knows more than the status (a reason, a header) looks at that first.
#pragma once

#include "base/result.hpp"

namespace amdahl {

constexpr Errc errc_of_status(int status) {
  switch (status) {
    case 401:
      return Errc::kUnauthorized;
    case 403:
      return Errc::kForbidden;
    case 404:
      return Errc::kNotFound;
    case 408:
    case 504:
      return Errc::kTimeout;
    case 409:
      return Errc::kConflict;
    case 410:
      return Errc::kGone;
    case 412:
      return Errc::kAlreadyExists;  // of a create that may not replace
    case 413:
      return Errc::kTooLarge;
    case 416:
      return Errc::kCorrupt;  // shorter than it was written
    case 429:
      return Errc::kThrottled;
    default:
      return status >= 500 ? Errc::kUnavailable : Errc::kInvalid;
  }
}

}  // namespace amdahl
