// The log: one JSON object per line, in the fields Cloud Logging knows.
//
//   log.info("restart planned", {{"trainjob", key}, {"attempt", n}});
//
// Messages and keys are literals, checked when compiled; values are typed. Credentials are hidden
// (redact.hpp), values are cut at kValueBytesMax, and a message that repeats too fast is counted
// instead of written: its next line carries "suppressed". Thread: one. Lifetime: the clock outlives
// every Log; copies and children share one sink and threshold. Failure: a log never fails.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace amdahl {

enum class Severity : std::uint8_t { kDebug, kInfo, kNotice, kWarning, kError, kCritical };
std::string_view name(Severity severity);                // "INFO", as Cloud Logging spells it
Result<Severity> parse_severity(std::string_view text);  // "info", "INFO"

class LogMessage {
 public:
  template <std::size_t N>
  consteval LogMessage(const char (&text)[N]) : text_(text, N - 1) {  // NOLINT: implicit by design
    if (text_.empty()) throw "a log message says something";
    for (const char c : text_)
      if (c < ' ' || c > '~') throw "a log message is printable ASCII";
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

class LogKey {
 public:
  template <std::size_t N>
  consteval LogKey(const char (&text)[N]) : text_(text, N - 1) {  // NOLINT: implicit by design
    if (text_.empty()) throw "a log key has a name";
    for (const char c : text_)
      if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_') throw "a log key is snake_case";
    for (const std::string_view taken : {"severity", "time", "message", "suppressed"})
      if (text_ == taken) throw "this log key is reserved";
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

namespace detail {
template <class T>
concept NamedByAdl = std::is_enum_v<T> && requires(const T& value) {
  { name(value) } -> std::convertible_to<std::string_view>;
};
template <class T>
concept PrintedByAdl = requires(const T& value) {
  { to_string(value) } -> std::convertible_to<std::string>;
};
}  // namespace detail

// Strings, integers, doubles, bools, durations (as seconds), errors, enums that have name(), and
// whatever has to_string(). Refers to strings it was given: lives for one call.
class LogValue {
 public:
  using Any =
      std::variant<std::string_view, std::string, std::int64_t, std::uint64_t, double, bool>;

  template <class T>
  LogValue(const T& value) : any_(convert(value)) {}  // NOLINT: implicit by design
  const Any& any() const { return any_; }

 private:
  template <class T>
  static Any convert(const T& value) {
    if constexpr (std::convertible_to<const T&, std::string_view>)
      return std::string_view(value);
    else if constexpr (std::same_as<T, bool>)
      return value;
    else if constexpr (std::signed_integral<T>)
      return static_cast<std::int64_t>(value);
    else if constexpr (std::unsigned_integral<T>)
      return static_cast<std::uint64_t>(value);
    else if constexpr (std::floating_point<T>)
      return static_cast<double>(value);
    else if constexpr (std::same_as<T, Error>)
      return fmt::format("{}: {}", name(value.code), value.context);
    else if constexpr (requires { std::chrono::duration<double>(value); })
      return std::chrono::duration<double>(value).count();
    else if constexpr (detail::NamedByAdl<T>)
      return std::string_view(name(value));
    else if constexpr (detail::PrintedByAdl<T>)
      return std::string(to_string(value));
    else
      static_assert(!sizeof(T*), "this type cannot be logged");
  }
  Any any_;
};

struct LogField {
  template <class T>
  LogField(LogKey field_key, const T& field_value) : key(field_key.text()), value(field_value) {}
  std::string_view key;
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

// Takes one line with its newline.
using LogSink = std::function<void(std::string_view)>;
// Writes to a file descriptor. A reader that does not read costs at most a fraction of a second
// and then lines, never the process; how many were lost is written when it reads again.
LogSink fd_log_sink(int fd);

class Log {
 public:
  static constexpr std::size_t kValueBytesMax = 4096;
  static constexpr std::size_t kFieldsMax = 32;  // with those of the parents; more are left out
  static constexpr std::uint32_t kRepeatsMax = 100;
  static constexpr std::chrono::seconds kRepeatWindow{10};
  static constexpr std::size_t kRepeatKeysMax = 512;

  Log();  // writes nothing
  Log(Clock& clock, LogSink sink, Severity threshold = Severity::kInfo);

  void debug(LogMessage message, LogFields f = {}) const { write(Severity::kDebug, message, f); }
  void info(LogMessage message, LogFields f = {}) const { write(Severity::kInfo, message, f); }
  void notice(LogMessage message, LogFields f = {}) const { write(Severity::kNotice, message, f); }
  void warning(LogMessage message, LogFields f = {}) const {
    write(Severity::kWarning, message, f);
  }
  void error(LogMessage message, LogFields f = {}) const { write(Severity::kError, message, f); }
  void critical(LogMessage message, LogFields f = {}) const {
    write(Severity::kCritical, message, f);
  }

  // A log whose lines carry these fields too; a field of the line itself wins over one of these.
  Log with(LogFields fields) const;
  bool enabled(Severity severity) const;
  void set_threshold(Severity severity) const;  // for every copy and child
  void flush_suppressed() const;                // writes the counts that wait; for the way out

 private:
  struct Core;
  struct Rendered {
    std::string_view key;
    std::string json;
  };
  void write(Severity severity, LogMessage message, LogFields fields) const;

  std::shared_ptr<Core> core_;
  std::vector<Rendered> context_;
};

}  // namespace amdahl
