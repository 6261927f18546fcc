// What a trainer says to the checkpoint agent: what is accepted is written back to a message that
// says the same, and its numbers lie within what the agent counts on.
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "base/json_dump.hpp"
#include "checkpoint/engine/agent_message.hpp"
#include "checkpoint/engine/session_options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = amdahl::checkpoint;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto message = checkpoint::read_agent_message(text);
  if (!message) return 0;
  AMDAHL_CHECK(message->record_begin >= 0 && message->record_begin <= checkpoint::kArenaBytesMax);
  AMDAHL_CHECK(message->step >= 0 && message->record_bytes >= 0);
  AMDAHL_CHECK(message->kind != checkpoint::AgentKind::kDone || message->status.size() == 1);
  const auto again = checkpoint::read_agent_message(checkpoint::write_agent_message(*message));
  AMDAHL_CHECK(again.has_value() && again->step == message->step && again->kind == message->kind);
  for (const auto& status : message->status)
    AMDAHL_CHECK(checkpoint::from_message(status).commits == status.commits);
  if (message->options.is_null()) return 0;
  const auto options = checkpoint::read_session_options(amdahl::dump_json(message->options));
  if (options) (void)checkpoint::check(checkpoint::engine_options(*options));  // refuses or not
  return 0;
}
