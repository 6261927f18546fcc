#include "local/apiserver/protobuf/message_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/check.hpp"
#include "local/apiserver/protobuf/message_bytes.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kSchema = "apiextensions.v1.JSONSchemaProps";
constexpr std::string_view kAnyVersion = "*";

constexpr std::array<std::pair<std::string_view, ProtoType>, 15> kTypes = {{
    {"string", ProtoType::kString},
    {"bytes", ProtoType::kBytes},
    {"bool", ProtoType::kBool},
    {"int32", ProtoType::kInt32},
    {"int64", ProtoType::kInt64},
    {"double", ProtoType::kDouble},
    {"!time", ProtoType::kTime},
    {"!microtime", ProtoType::kMicroTime},
    {"!quantity", ProtoType::kQuantity},
    {"!int-or-string", ProtoType::kIntOrString},
    {"!json", ProtoType::kJson},
    {"!strings", ProtoType::kStrings},
    {"!schema-or-array", ProtoType::kSchemaOrArray},
    {"!schema-or-bool", ProtoType::kSchemaOrBool},
    {"!schema-or-strings", ProtoType::kSchemaOrStrings},
}};

// The text up to the separator, which goes too.
std::string_view cut(std::string_view& rest, char at) {
  const std::size_t end = rest.find(at);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

}  // namespace

const ProtoField* ProtoMessage::field(std::uint32_t number) const {
  const auto found = std::ranges::lower_bound(fields, number, {}, &ProtoField::number);
  return found == fields.end() || found->number != number ? nullptr : &*found;
}

MessageTable::MessageTable(std::string_view text) {
  ProtoMessage* current = nullptr;
  while (!text.empty()) read_line(cut(text, '\n'), current);
}

// A map keeps its elements where they are, so a message may be named before it is described.
void MessageTable::read_line(std::string_view line, ProtoMessage*& current) {
  if (line.starts_with('@')) {
    cut(line, ' ');
    const std::string_view api_version = cut(line, ' ');
    const std::string_view kind = cut(line, ' ');
    kinds_.emplace(fmt::format("{} {}", api_version, kind), &messages_[std::string(line)]);
  } else if (line.front() < '0' || line.front() > '9') {
    current = &messages_[std::string(line)];
  } else {
    AMDAHL_CHECK(current != nullptr);
    current->fields.push_back(read_field(line));
  }
}

ProtoField MessageTable::read_field(std::string_view line) {
  ProtoField field;
  const std::string_view number = cut(line, ' ');
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), field.number);
  AMDAHL_CHECK(error == std::errc() && end == number.data() + number.size());
  field.name = cut(line, ' ');
  field.inlined = field.name == "-";
  if (line.starts_with('*')) field.count = ProtoCount::kList;
  if (line.starts_with('%')) field.count = ProtoCount::kMap;
  field.keeps_zero = line.starts_with('?');
  if (field.count != ProtoCount::kOne || field.keeps_zero) line.remove_prefix(1);
  const auto* const known = std::ranges::find(kTypes, line, &decltype(kTypes)::value_type::first);
  field.type = known == kTypes.end() ? ProtoType::kMessage : known->second;
  if (field.type == ProtoType::kMessage)
    field.message = &messages_[std::string(line)];
  else if (line.starts_with("!schema"))
    field.message = &messages_[std::string(kSchema)];
  return field;
}

const ProtoMessage* MessageTable::kind(std::string_view api_version, std::string_view kind) const {
  for (const std::string_view version : {api_version, kAnyVersion})
    if (const auto found = kinds_.find(fmt::format("{} {}", version, kind)); found != kinds_.end())
      return found->second;
  return nullptr;
}

const MessageTable& builtin_messages() {
  static const MessageTable table(builtin_message_bytes());
  return table;
}

}  // namespace amdahl::local
