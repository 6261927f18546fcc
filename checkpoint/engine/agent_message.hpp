// What a trainer and the process that writes its snapshots tell each other, one packet a message.
//
// From the trainer: `hello` with the options of its session; `arena` with a descriptor, where the
// snapshots that follow lie; `save`, which hands one over; `settle`, which asks to be told when
// nothing is left of trainers that have gone. From the agent: `welcome` or `refused`; `done` when a
// save was committed or has failed; `freed` when its memory may be used again; `settled`.
//
// Plain values; thread any. Every message is input of a stranger: read_agent_message() refuses what
// is not within its bounds, and what is not of its kind. Failure: kCorrupt, kInvalid, kTooLarge.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/engine/arena.hpp"
#include "checkpoint/engine/snapshot_record.hpp"
#include "checkpoint/engine/snapshot_writer.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int32_t kAgentProtocol = 1;
inline constexpr std::size_t kAgentMessageBytesMax = std::size_t{64} << 10U;
inline constexpr std::uint32_t kAgentTextMax = 4096;
// Of one answer. A blob that is not named is copied again, and found to be stored.
inline constexpr std::uint32_t kAgentBlobsMax = 256;

enum class AgentKind : std::uint8_t {
  kHello,
  kArena,
  kSave,
  kSettle,
  kWelcome,
  kRefused,
  kDone,
  kFreed,
  kSettled
};
constexpr auto enum_names(AgentKind) {
  return std::to_array<EnumName<AgentKind>>({{AgentKind::kHello, "hello"},
                                             {AgentKind::kArena, "arena"},
                                             {AgentKind::kSave, "save"},
                                             {AgentKind::kSettle, "settle"},
                                             {AgentKind::kWelcome, "welcome"},
                                             {AgentKind::kRefused, "refused"},
                                             {AgentKind::kDone, "done"},
                                             {AgentKind::kFreed, "freed"},
                                             {AgentKind::kSettled, "settled"}});
}

struct AgentBlob {
  std::int32_t object = 0;
  std::string name = {};
  bool operator==(const AgentBlob&) const = default;
};
template <class V>
constexpr void fields(V& v, AgentBlob& blob) {
  v.required("object", blob.object, {.doc = "Of the record.", .min = 0, .max = kObjectsMax - 1});
  v.required("name", blob.name, {.doc = "In the store.", .length_max = kNameBytesMax});
}

// WriteStatus in integers.
struct AgentStatus {
  std::int64_t committed_step = -1;
  std::string committed_sha256 = {};
  std::int64_t committed_bytes = 0;
  std::int64_t commits = 0;
  std::int64_t failures = 0;
  std::int64_t retries = 0;
  std::string last_error = {};
  std::string collect_error = {};
  std::int64_t state_bytes = 0;
  std::int64_t uploaded_bytes = 0;
  std::int64_t snapshot_ns = 0;
  std::int64_t upload_ns = 0;
  std::int64_t commit_ns = 0;
  std::int64_t snapshot_bytes_per_second = 0;
  std::int64_t upload_bytes_per_second = 0;
  std::int64_t usual_commit_ns = 0;
  std::int64_t kept = 0;
  std::int64_t removed = 0;
  std::int64_t damaged = 0;
  bool operator==(const AgentStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, AgentStatus& status) {
  const auto count = [&](const char* name, std::int64_t& member) {
    v.optional(name, member, {.doc = "As in WriteStatus.", .min = 0});
  };
  const auto text = [&](const char* name, std::string& member) {
    v.optional(name, member, {.doc = "As in WriteStatus.", .length_max = kAgentTextMax});
  };
  v.required("committedStep", status.committed_step, {.doc = "-1: none.", .min = -1});
  text("committedSha256", status.committed_sha256);
  count("committedBytes", status.committed_bytes);
  count("commits", status.commits);
  count("failures", status.failures);
  count("retries", status.retries);
  text("lastError", status.last_error);
  text("collectError", status.collect_error);
  count("stateBytes", status.state_bytes);
  count("uploadedBytes", status.uploaded_bytes);
  count("snapshotNs", status.snapshot_ns);
  count("uploadNs", status.upload_ns);
  count("commitNs", status.commit_ns);
  count("snapshotBytesPerSecond", status.snapshot_bytes_per_second);
  count("uploadBytesPerSecond", status.upload_bytes_per_second);
  count("usualCommitNs", status.usual_commit_ns);
  count("kept", status.kept);
  count("removed", status.removed);
  count("damaged", status.damaged);
}
AgentStatus to_message(const WriteStatus& status);
WriteStatus from_message(const AgentStatus& status);

struct AgentMessage {
  AgentKind kind = AgentKind::kHello;
  std::int32_t protocol = 0;         // of hello and welcome
  nlohmann::json options = nullptr;  // of hello; absent: it will not save
  std::int64_t step = 0;             // of save, done, freed
  std::int64_t record_begin = 0;     // of save: where its record lies in the arena
  std::int64_t record_bytes = 0;
  std::int64_t copied_ns = 0;
  std::int64_t stall_ns = 0;
  std::int32_t code = -1;  // of refused and done: an Errc; -1: it went well
  std::string text = {};
  std::vector<AgentBlob> blobs = {};     // of done
  std::vector<AgentStatus> status = {};  // of done: one
  bool operator==(const AgentMessage&) const = default;
};
template <class V>
constexpr void fields(V& v, AgentMessage& message) {
  v.required("kind", message.kind, {.doc = "What it says."});
  v.optional("protocol", message.protocol, {.doc = "Its version.", .min = 0, .max = 1'000'000});
  v.optional("options", message.options, {.doc = "Of the session.", .any_type = true});
  v.optional("step", message.step, {.doc = "Of the save.", .min = 0, .max = kStepMax});
  v.optional("recordBegin", message.record_begin,
             {.doc = "In the arena.", .min = 0, .max = kArenaBytesMax});
  v.optional("recordBytes", message.record_bytes,
             {.doc = "Of the record.", .min = 0, .max = kSnapshotRecordBytesMax});
  v.optional("copiedNs", message.copied_ns, {.doc = "How long the copy took.", .min = 0});
  v.optional("stallNs", message.stall_ns, {.doc = "How long training stood still.", .min = 0});
  v.required("code", message.code,
             {.doc = "-1, or what went wrong.",
              .min = -1,
              .max = static_cast<std::int64_t>(Errc::kTerminal)});
  v.optional("text", message.text, {.doc = "In words.", .length_max = kAgentTextMax});
  v.optional("blobs", message.blobs, {.doc = "Of the commit.", .items_max = kAgentBlobsMax});
  v.optional("status", message.status, {.doc = "Of the writer.", .items_max = 1});
}

// Cut to its bounds: long texts and more blobs than fit are left out.
std::string write_agent_message(AgentMessage message);
Result<AgentMessage> read_agent_message(std::string_view text);

AgentMessage failed_message(AgentKind kind, const Error& error);
Error error_of(const AgentMessage& message);

}  // namespace amdahl::checkpoint
