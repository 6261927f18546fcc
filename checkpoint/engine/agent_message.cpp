#include "checkpoint/engine/agent_message.hpp"

#include <algorithm>
#include <utility>

#include "base/json_dump.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"
#include "checkpoint/format/tree_fields.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kAgentDepthMax = 6;

// At a boundary of UTF-8, since a text that is cut in a letter is no JSON.
std::string cut(std::string text) {
  if (text.size() <= kAgentTextMax) return text;
  std::size_t end = kAgentTextMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

std::int64_t ns(Seconds seconds) {
  return std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(seconds).count(), 0);
}

Seconds seconds(std::int64_t count) {
  return std::chrono::nanoseconds(count);
}

Result<void> check_kind(const AgentMessage& message) {
  const AgentKind kind = message.kind;
  const bool failed = message.code >= 0;
  if (kind == AgentKind::kRefused && !failed) return fail(Errc::kInvalid, "refused: no reason");
  if (failed && kind != AgentKind::kRefused && kind != AgentKind::kDone)
    return fail(Errc::kInvalid, "{} cannot fail", enum_name(kind));
  if (!message.options.is_null() && kind != AgentKind::kHello)
    return fail(Errc::kInvalid, "{} has no options", enum_name(kind));
  if (kind == AgentKind::kSave && message.record_bytes == 0)
    return fail(Errc::kInvalid, "save: no record");
  if (kind == AgentKind::kDone && message.status.size() != 1)
    return fail(Errc::kInvalid, "done: no status");
  return {};
}

}  // namespace

AgentStatus to_message(const WriteStatus& status) {
  return {
      .committed_step = status.committed_step.value_or(-1),
      .committed_sha256 = status.committed_sha256,
      .committed_bytes = status.committed_bytes,
      .commits = status.commits,
      .failures = status.failures,
      .retries = status.retries,
      .last_error = status.last_error,
      .collect_error = status.collect_error,
      .state_bytes = status.last.state_bytes,
      .uploaded_bytes = status.last.uploaded_bytes,
      .snapshot_ns = ns(status.last.snapshot),
      .upload_ns = ns(status.last.upload),
      .commit_ns = ns(status.last.commit),
      .snapshot_bytes_per_second =
          static_cast<std::int64_t>(status.rates.snapshot_bytes_per_second),
      .upload_bytes_per_second = static_cast<std::int64_t>(status.rates.upload_bytes_per_second),
      .usual_commit_ns = ns(status.rates.commit),
      .kept = status.checkpoints_kept,
      .removed = status.objects_removed,
      .damaged = status.damaged};
}

WriteStatus from_message(const AgentStatus& message) {
  WriteStatus status;
  if (message.committed_step >= 0) status.committed_step = message.committed_step;
  status.committed_sha256 = message.committed_sha256;
  status.committed_bytes = message.committed_bytes;
  status.commits = message.commits;
  status.failures = message.failures;
  status.retries = message.retries;
  status.last_error = message.last_error;
  status.collect_error = message.collect_error;
  status.last = {.state_bytes = message.state_bytes,
                 .uploaded_bytes = message.uploaded_bytes,
                 .snapshot = seconds(message.snapshot_ns),
                 .upload = seconds(message.upload_ns),
                 .commit = seconds(message.commit_ns)};
  status.rates = {
      .snapshot_bytes_per_second = static_cast<double>(message.snapshot_bytes_per_second),
      .upload_bytes_per_second = static_cast<double>(message.upload_bytes_per_second),
      .commit = seconds(message.usual_commit_ns)};
  status.checkpoints_kept = message.kept;
  status.objects_removed = message.removed;
  status.damaged = message.damaged;
  return status;
}

std::string write_agent_message(AgentMessage message) {
  message.text = cut(std::move(message.text));
  for (AgentStatus& status : message.status) {
    status.last_error = cut(std::move(status.last_error));
    status.collect_error = cut(std::move(status.collect_error));
  }
  if (message.blobs.size() > kAgentBlobsMax) message.blobs.resize(kAgentBlobsMax);
  std::string text = dump_json(encode(message));
  if (text.size() <= kAgentMessageBytesMax || message.blobs.empty()) return text;
  message.blobs.clear();
  return dump_json(encode(message));
}

Result<AgentMessage> read_agent_message(std::string_view text) {
  const auto read = [&]() -> Result<AgentMessage> {
    if (text.size() > kAgentMessageBytesMax)
      return fail(Errc::kTooLarge, "{} bytes, {} are possible", text.size(), kAgentMessageBytesMax);
    TRY(const Json tree, parse_strict(text, kAgentDepthMax));
    TRY(AgentMessage message, from_tree<AgentMessage>(tree));
    TRY(validate(message));
    TRY(check_kind(message));
    return message;
  };
  auto message = read();
  if (!message) return wrap(std::move(message).error(), "message of the checkpoint agent");
  return message;
}

AgentMessage failed_message(AgentKind kind, const Error& error) {
  return {.kind = kind, .code = static_cast<std::int32_t>(error.code), .text = error.context};
}

Error error_of(const AgentMessage& message) {
  return {.code = static_cast<Errc>(message.code), .context = message.text};
}

}  // namespace amdahl::checkpoint
