#include "operator/kube/watch_frames.hpp"

#include <cstring>

#include "base/check.hpp"
#include "base/json_reader.hpp"
#include "operator/kube/wire_envelope.hpp"

namespace amdahl::kube {
namespace {

// The JSON reader may look this far past the end of what it was given.
constexpr std::size_t kPadding = kJsonPadding;

FrameKind kind_from(std::string_view type) {
  if (type == "ADDED") return FrameKind::kAdded;
  if (type == "MODIFIED") return FrameKind::kModified;
  if (type == "DELETED") return FrameKind::kDeleted;
  if (type == "BOOKMARK") return FrameKind::kBookmark;
  if (type == "ERROR") return FrameKind::kError;
  return FrameKind::kUnknown;
}

// What every API server writes: {"type":"ADDED","object":{...}}. Cutting the object out by its
// neighbours saves a pass over it; anything else takes the slow road.
std::optional<WatchFrame> cut_usual_form(std::string_view frame) {
  static constexpr std::string_view kHead = "{\"type\":\"";
  static constexpr std::string_view kMiddle = "\",\"object\":";
  if (!frame.starts_with(kHead) || !frame.ends_with('}')) return std::nullopt;
  const std::size_t quote = frame.find('"', kHead.size());
  if (quote == std::string_view::npos || frame.substr(quote, kMiddle.size()) != kMiddle)
    return std::nullopt;
  const std::size_t start = quote + kMiddle.size();
  return WatchFrame{.kind = kind_from(frame.substr(kHead.size(), quote - kHead.size())),
                    .object = frame.substr(start, frame.size() - 1 - start)};
}

Result<WatchFrame> read_any_form(std::string_view frame) {
  WatchFrame result;
  JsonReader reader;
  TRY(reader.read_padded(frame, [&](JsonValue& root) {
    return root.for_each_member([&](std::string_view key, JsonValue& value) {
      if (key == "type") {
        const auto type = value.string();
        if (type) result.kind = kind_from(*type);
        return type.has_value();
      }
      if (key != "object") return true;
      const auto raw = value.raw();
      if (raw) result.object = *raw;
      return raw.has_value();
    });
  }));
  return result;
}

}  // namespace

std::span<char> WatchFrames::prepare(std::size_t bytes) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= std::min(scanned_, begin_);
    begin_ = 0;
  }
  if (buffer_.size() < end_ + bytes + kPadding) buffer_.resize(end_ + bytes + kPadding);
  return {buffer_.data() + end_, buffer_.size() - kPadding - end_};
}

Result<std::optional<std::string_view>> WatchFrames::next() {
  AMDAHL_CHECK(begin_ <= end_);
  return encoding_ == Encoding::kJson ? next_line() : next_message();
}

Result<std::optional<std::string_view>> WatchFrames::next_line() {
  const std::size_t from = std::max(begin_, scanned_);
  const void* newline =
      from < end_ ? std::memchr(buffer_.data() + from, '\n', end_ - from) : nullptr;
  if (newline == nullptr) {
    scanned_ = end_;
    if (end_ - begin_ > kFrameBytesMax)
      return fail(Errc::kTooLarge, "watch event is over {} bytes", kFrameBytesMax);
    return std::nullopt;
  }
  const auto stop = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
  const std::string_view line(buffer_.data() + begin_, stop - begin_);
  begin_ = stop + 1;
  scanned_ = begin_;
  return line;
}

Result<std::optional<std::string_view>> WatchFrames::next_message() {
  constexpr std::size_t kLengthBytes = 4;
  if (end_ - begin_ < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length = length << 8U | static_cast<unsigned char>(buffer_[begin_ + i]);
  if (length > kFrameBytesMax)
    return fail(Errc::kTooLarge, "watch event of {} bytes is over {}", length, kFrameBytesMax);
  if (end_ - begin_ - kLengthBytes < length) return std::nullopt;
  const std::string_view message(buffer_.data() + begin_ + kLengthBytes, length);
  begin_ += kLengthBytes + length;
  return message;
}

Result<WatchFrame> parse_frame(std::string_view frame, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) {
    TRY(const WireWatchEvent event, unwrap_watch_event(frame));
    TRY(const WireObject object, unwrap_object(event.object));
    return WatchFrame{
        .kind = kind_from(event.type), .object = object.raw, .encoding = object.encoding};
  }
  if (const auto usual = cut_usual_form(frame)) return *usual;
  return read_any_form(frame);
}

}  // namespace amdahl::kube
