// Expected failures are values: Result<T> is either a T or an Error.
//
// Callers branch on Error::code; people read Error::context, which names what was tried, on which
// object, and the cause. The class is [[nodiscard]] because std::expected is not, and a bare
// `co_await f();` would then drop an error without a warning.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace amdahl {

enum class Errc : std::uint8_t {
  kInvalid,        // the input is wrong: bad file, bad field, HTTP 400 or 422
  kUnauthorized,   // HTTP 401
  kForbidden,      // HTTP 403
  kNotFound,       // HTTP 404, a missing file
  kAlreadyExists,  // HTTP 409 with reason AlreadyExists
  kConflict,       // HTTP 409, any other reason
  kGone,           // HTTP 410: the version asked for is no longer kept
  kTooLarge,       // HTTP 413, or a bound of ours was reached
  kThrottled,      // HTTP 429
  kUnavailable,    // HTTP 5xx
  kIo,             // the connection or file broke
  kTls,            // the peer could not be verified, or the handshake failed
  kCorrupt,        // bytes that do not parse
  kTimeout,        // a deadline passed
  kCancelled,      // somebody asked us to stop; never swallowed
  kFenced,         // a write was refused because this process may no longer be the leader (E2)
  kTerminal,       // retrying cannot help until the spec changes (Q5)
};

// The stable lower-case name, as used in logs and metric labels: "not_found".
std::string_view name(Errc code);

struct Error {
  Errc code = Errc::kInvalid;
  std::string context;
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;  // the server's own wish
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

// return fail(Errc::kNotFound, "read {}: no such file", path);
template <class... Args>
std::unexpected<Error> fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected<Error>(
      Error{.code = code, .context = fmt::format(format, std::forward<Args>(args)...)});
}

// return wrap(std::move(error), "load {}", path);  gives  "load PATH: <old context>"
template <class... Args>
std::unexpected<Error> wrap(Error error, fmt::format_string<Args...> format, Args&&... args) {
  error.context = fmt::format(format, std::forward<Args>(args)...) + ": " + error.context;
  return std::unexpected<Error>(std::move(error));
}

}  // namespace amdahl

// TRY(auto value, expression) binds the value or returns the error; TRY(expression) only checks.
// CO_TRY is the same inside a coroutine.
#define AMDAHL_TRY_JOIN2(a, b) a##b
#define AMDAHL_TRY_JOIN(a, b) AMDAHL_TRY_JOIN2(a, b)
#define AMDAHL_TRY_BIND2(tmp, ret, decl, ...)                     \
  auto tmp = (__VA_ARGS__);                                       \
  if (!tmp) [[unlikely]]                                          \
    ret std::unexpected<::amdahl::Error>(std::move(tmp).error()); \
  decl = std::move(*tmp)
#define AMDAHL_TRY_VOID2(ret, ...)                                                \
  do {                                                                            \
    if (auto amdahl_try_result = (__VA_ARGS__); !amdahl_try_result) [[unlikely]]  \
      ret std::unexpected<::amdahl::Error>(std::move(amdahl_try_result).error()); \
  } while (false)
#define AMDAHL_TRY_BIND(ret, ...) \
  AMDAHL_TRY_BIND2(AMDAHL_TRY_JOIN(amdahl_try_, __COUNTER__), ret, __VA_ARGS__)
#define AMDAHL_TRY_VOID(ret, ...) AMDAHL_TRY_VOID2(ret, __VA_ARGS__)
#define AMDAHL_TRY_PICK(first, picked, ...) picked
#define TRY(first, ...)                                                            \
  AMDAHL_TRY_PICK(~__VA_OPT__(, ) __VA_OPT__(AMDAHL_TRY_BIND), AMDAHL_TRY_VOID, ~) \
  (return, first __VA_OPT__(, ) __VA_ARGS__)
#define CO_TRY(first, ...)                                                         \
  AMDAHL_TRY_PICK(~__VA_OPT__(, ) __VA_OPT__(AMDAHL_TRY_BIND), AMDAHL_TRY_VOID, ~) \
  (co_return, first __VA_OPT__(, ) __VA_ARGS__)
