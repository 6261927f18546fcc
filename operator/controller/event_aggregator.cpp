#include "operator/controller/event_aggregator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace amdahl::controller {
namespace {

constexpr std::string_view kCombined = "(combined from similar events): ";
constexpr std::size_t kNameBytesMax = 200;  // leaves room for the suffix within 253

std::string key_of(const EventSubject& subject) {
  if (!subject.uid.empty()) return subject.uid;
  return fmt::format("{}/{}/{}", subject.kind, subject.key.ns, subject.key.name);
}

}  // namespace

std::string_view name(EventType type) {
  return type == EventType::kNormal ? "Normal" : "Warning";
}

std::string cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

std::optional<EventWrite> EventAggregator::take(EventReport report, WallTime wall, Monotonic now) {
  report.reason = cut_utf8(report.reason, kReasonBytesMax);
  report.action = cut_utf8(report.action.empty() ? report.reason : report.action, kReasonBytesMax);
  const std::string subject_key = key_of(report.subject);
  const std::string reason_key =
      fmt::format("{}\n{}\n{}", subject_key, name(report.type), report.reason);
  const bool combined = too_many_messages(reason_key, report.note, now);
  const std::string series_key =
      combined ? reason_key : fmt::format("{}\n{}\n{}", reason_key, report.action, report.note);
  Series& series = count(series_key, report, wall, now);
  if (!allowed(subject_key, now)) return std::nullopt;
  const bool create = !series.written;
  series.written = true;
  const std::string note = combined ? fmt::format("{}{}", kCombined, report.note) : report.note;
  report.note = cut_utf8(note, kNoteBytesMax);
  return EventWrite{.report = std::move(report),
                    .name = series.name,
                    .first = series.first,
                    .last = wall,
                    .count = series.count,
                    .create = create};
}

bool EventAggregator::too_many_messages(const std::string& reason_key, std::string_view note,
                                        Monotonic now) {
  Similar* known = similar_.find(reason_key);
  if (known == nullptr || now - known->last > kSimilarWindow)
    known = &similar_.put(reason_key, Similar{});
  known->last = now;
  const std::size_t hash = std::hash<std::string_view>{}(note);
  if (std::ranges::find(known->messages, hash) != known->messages.end()) return false;
  if (known->messages.size() >= kMessagesPerReason) return true;
  known->messages.push_back(hash);
  return false;
}

EventAggregator::Series& EventAggregator::count(const std::string& series_key,
                                                const EventReport& report, WallTime wall,
                                                Monotonic now) {
  Series* known = series_.find(series_key);
  if (known == nullptr || now - known->last > kSimilarWindow) {
    // The same time never names two events, and a retried create meets its own name.
    std::string event_name =
        fmt::format("{}.{:x}{:04x}", cut_utf8(report.subject.key.name, kNameBytesMax),
                    wall.time_since_epoch().count(), sequence_++);
    known = &series_.put(series_key, Series{.name = std::move(event_name), .first = wall});
  }
  known->last = now;
  if (known->count < std::numeric_limits<std::int32_t>::max()) ++known->count;
  return *known;
}

bool EventAggregator::allowed(const std::string& subject_key, Monotonic now) {
  TokenBucket* bucket = buckets_.find(subject_key);
  if (bucket == nullptr)
    bucket = &buckets_.put(
        subject_key,
        TokenBucket(1.0 / static_cast<double>(kEventInterval.count()), kEventBurst, now));
  return bucket->try_take(now);
}

}  // namespace amdahl::controller
