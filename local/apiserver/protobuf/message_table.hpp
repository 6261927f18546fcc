// The protobuf messages of the built-in kinds: field numbers, JSON names and types.
//
// Read once from messages.txt, which tools/builtin_protobuf.py writes; names are views of its
// bytes. Thread: any, it never changes. Failure: none; a broken messages.txt is a bug.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::local {

enum class ProtoType : std::uint8_t {
  kString,
  kBytes,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kMessage,
  // Messages that JSON does not write as an object with their fields.
  kTime,
  kMicroTime,
  kQuantity,
  kIntOrString,
  kJson,
  kStrings,
  kSchemaOrArray,
  kSchemaOrBool,
  kSchemaOrStrings,
};

enum class ProtoCount : std::uint8_t { kOne, kList, kMap };

struct ProtoMessage;

struct ProtoField {
  std::uint32_t number = 0;
  std::string_view name = {};  // in JSON
  ProtoCount count = ProtoCount::kOne;
  ProtoType type = ProtoType::kString;
  bool keeps_zero = false;                // zero is not the same as absent
  bool inlined = false;                   // its fields stand among those of the message around it
  const ProtoMessage* message = nullptr;  // of kMessage, and the schema of kSchemaOr...
};

struct ProtoMessage {
  std::vector<ProtoField> fields = {};  // by number
  const ProtoField* field(std::uint32_t number) const;
};

class MessageTable {
 public:
  explicit MessageTable(std::string_view text);
  MessageTable(const MessageTable&) = delete;
  MessageTable& operator=(const MessageTable&) = delete;

  // The message of a kind that may come in a request body; null when there is none.
  const ProtoMessage* kind(std::string_view api_version, std::string_view kind) const;

 private:
  void read_line(std::string_view line, ProtoMessage*& current);
  ProtoField read_field(std::string_view line);

  std::map<std::string, ProtoMessage, std::less<>> messages_;
  std::map<std::string, const ProtoMessage*, std::less<>> kinds_;  // by "apiVersion kind"
};

// That of messages.txt.
const MessageTable& builtin_messages();

}  // namespace amdahl::local
