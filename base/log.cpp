#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/redact.hpp"

namespace amdahl {
namespace {

constexpr std::array<std::string_view, 6> kSeverityNames = {"DEBUG",   "INFO",  "NOTICE",
                                                            "WARNING", "ERROR", "CRITICAL"};

// JSON with control characters escaped and bytes that are not UTF-8 replaced.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Cut before redaction, so that a long text costs little: every pattern of redact() is recognised
// by how it begins.
std::string rendered_text(std::string_view text) {
  if (text.size() <= Log::kValueBytesMax) return json_text(redact(text));
  std::size_t end = Log::kValueBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return json_text(redact(text.substr(0, end)) +
                   fmt::format("...[{} bytes cut]", text.size() - end));
}

std::string rendered_double(double value) {
  if (!std::isfinite(value)) return fmt::format("\"{}\"", value);
  return fmt::format("{}", value);
}

std::string rendered(const LogField& field) {
  if (is_secret_key(field.key)) return json_text(kRedacted);
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::same_as<T, double>)
          return rendered_double(value);
        else if constexpr (std::convertible_to<const T&, std::string_view>)
          return rendered_text(value);
        else
          return fmt::format("{}", value);
      },
      field.value.any());
}

void append_field(std::string& line, std::string_view key, std::string_view json) {
  fmt::format_to(std::back_inserter(line), ",\"{}\":{}", key, json);
}

std::string line_head(Severity severity, WallTime time, std::string_view message) {
  return fmt::format("{{\"severity\":\"{}\",\"time\":\"{}\",\"message\":{}", name(severity),
                     format_micro_time(time), json_text(message));
}

}  // namespace

std::string_view name(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

Result<Severity> parse_severity(std::string_view text) {
  std::string upper(text.substr(0, 16));
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  const auto place = std::ranges::find(kSeverityNames, upper);
  if (place == kSeverityNames.end())
    return fail(Errc::kInvalid,
                "\"{}\" is no log level: use debug, info, notice, warning, error or critical",
                text.substr(0, 16));
  return static_cast<Severity>(place - kSeverityNames.begin());
}

// What copies and children share.
struct Log::Core {
  struct Repeats {
    Monotonic window_end{};
    std::uint32_t written = 0;
    std::uint64_t suppressed = 0;
  };
  using RepeatKey = std::pair<Severity, std::string_view>;  // messages are literals

  Clock& clock;
  LogSink sink;
  Severity threshold = Severity::kInfo;
  std::map<RepeatKey, Repeats> repeats;
  Monotonic next_sweep{};

  // Writes the counts of windows that ended, and forgets those windows.
  void sweep(Monotonic now) {
    if (now < next_sweep) return;
    next_sweep = now + kRepeatWindow;
    for (auto place = repeats.begin(); place != repeats.end();) {
      const auto& [key, counts] = *place;
      if (counts.window_end > now) {
        ++place;
        continue;
      }
      if (counts.suppressed > 0) write_count(key, counts.suppressed);
      place = repeats.erase(place);
    }
  }

  void write_count(const RepeatKey& key, std::uint64_t suppressed) const {
    std::string line = line_head(key.first, clock.wall(), key.second);
    append_field(line, "suppressed", fmt::format("{}", suppressed));
    sink(line + "}\n");
  }

  struct Admission {
    bool write = true;
    std::uint64_t suppressed = 0;  // in the window before
  };
  Admission admit(const RepeatKey& key) {
    const Monotonic now = clock.monotonic();
    sweep(now);
    auto place = repeats.find(key);
    if (place == repeats.end()) {
      if (repeats.size() >= kRepeatKeysMax) return {};
      place = repeats.emplace(key, Repeats{.window_end = now + kRepeatWindow}).first;
    }
    Repeats& counts = place->second;
    Admission admission;
    if (now >= counts.window_end) {
      admission.suppressed = counts.suppressed;
      counts = Repeats{.window_end = now + kRepeatWindow};
    }
    admission.write = counts.written < kRepeatsMax;
    if (admission.write)
      ++counts.written;
    else
      ++counts.suppressed;
    return admission;
  }
};

Log::Log() = default;

Log::Log(Clock& clock, LogSink sink, Severity threshold)
    : core_(std::make_shared<Core>(clock, std::move(sink), threshold)) {
  AMDAHL_CHECK(core_->sink != nullptr);
}

bool Log::enabled(Severity severity) const {
  return core_ && severity >= core_->threshold;
}

void Log::set_threshold(Severity severity) const {
  if (core_) core_->threshold = severity;
}

void Log::flush_suppressed() const {
  if (!core_) return;
  for (auto& [key, counts] : core_->repeats)
    if (counts.suppressed > 0) core_->write_count(key, std::exchange(counts.suppressed, 0));
}

Log Log::with(LogFields fields) const {
  Log child = *this;
  for (const LogField& field : fields) {
    std::erase_if(child.context_, [&](const Rendered& old) { return old.key == field.key; });
    if (child.context_.size() < kFieldsMax) child.context_.push_back({field.key, rendered(field)});
  }
  return child;
}

void Log::write(Severity severity, LogMessage message, LogFields fields) const {
  if (!enabled(severity)) return;
  const Core::Admission admission = core_->admit({severity, message.text()});
  if (!admission.write) return;
  std::string line = line_head(severity, core_->clock.wall(), message.text());
  std::size_t written = 0;
  for (const Rendered& field : context_) {
    const auto same_key = [&](const LogField& own) { return own.key == field.key; };
    if (std::ranges::none_of(fields, same_key) && written++ < kFieldsMax)
      append_field(line, field.key, field.json);
  }
  for (const LogField& field : fields)
    if (written++ < kFieldsMax) append_field(line, field.key, rendered(field));
  if (admission.suppressed > 0)
    append_field(line, "suppressed", fmt::format("{}", admission.suppressed));
  core_->sink(line + "}\n");
}

}  // namespace amdahl
