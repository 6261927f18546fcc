#include "local/apiserver/protobuf/body.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "base/wire_reader.hpp"
#include "local/apiserver/protobuf/message_table.hpp"
#include "local/apiserver/protobuf/special_forms.hpp"
#include "operator/kube/base64.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr double kWholeMax = 9'007'199'254'740'992;  // 2^53: all whole numbers up to here are exact

bool is_zero(const Json& value) {
  return value == "" || value == 0 || value == false;
}

// runtime.Unknown: what is around every body.
struct Envelope {
  std::string api_version = {};
  std::string kind = {};
  std::string_view raw = {};
};

class BodyReader {
 public:
  WireWalk walk = {};

  bool envelope(std::string_view bytes, Envelope& into) {
    return each(bytes, [&](const WireValue& value) {
      if (value.field == 2) {
        const auto raw = value.bytes();
        if (raw) into.raw = *raw;
        return raw.has_value();
      }
      return value.field != 1 || type_meta(value, into);
    });
  }

  bool message(const ProtoMessage& type, std::string_view bytes, Json& into) {
    if (!into.is_object()) into = Json::object();
    return each(bytes, [&](const WireValue& value) {
      const ProtoField* field = type.field(value.field);
      return field == nullptr || put(*field, value, into);
    });
  }

 private:
  template <class Take>
  bool each(std::string_view bytes, Take take) {
    if (!walk.enter()) return false;
    WireMessage fields(bytes, walk);
    WireValue value;
    while (fields.next(value))
      if (!take(value)) return walk.in_field(value.field);
    walk.leave();
    return !walk.failed();
  }

  bool type_meta(const WireValue& value, Envelope& into) {
    const auto bytes = value.bytes();
    return bytes && each(*bytes, [&](const WireValue& part) {
             if (part.field > 2) return true;
             const auto text = part.string();
             if (text) (part.field == 1 ? into.api_version : into.kind) = *text;
             return text.has_value();
           });
  }

  bool count() {
    return ++values_ <= kProtobufValuesMax ||
           walk.reject(fmt::format("more than {} values", kProtobufValuesMax), Errc::kTooLarge);
  }

  bool put(const ProtoField& field, const WireValue& value, Json& into) {
    if (!count()) return false;
    if (field.inlined) {
      const auto bytes = value.bytes();
      return bytes && message(*field.message, *bytes, into);
    }
    Json& at = into[std::string(field.name)];
    switch (field.count) {
      case ProtoCount::kOne:
        if (!one(field, value, at)) return false;
        if (field.type < ProtoType::kMessage && !field.keeps_zero && is_zero(at))
          into.erase(std::string(field.name));
        return true;
      case ProtoCount::kList:
        return list(field, value, at);
      case ProtoCount::kMap:
        return map_entry(field, value, at);
    }
    return false;
  }

  bool list(const ProtoField& field, const WireValue& value, Json& into) {
    if (!into.is_array()) into = Json::array();
    const bool numbers = field.type == ProtoType::kInt32 || field.type == ProtoType::kInt64;
    if (numbers && value.type == WireType::kBytes)
      return value.reject("packed numbers are not supported", Errc::kCorrupt);
    into.push_back(nullptr);
    return one(field, value, into.back());
  }

  bool map_entry(const ProtoField& field, const WireValue& value, Json& into) {
    if (!into.is_object()) into = Json::object();
    const auto bytes = value.bytes();
    if (!bytes) return false;
    std::string key;
    // An entry may leave its value out: then it is zero, which an empty payload is for every type.
    WireValue found{.field = 2, .type = WireType::kBytes, .walk = &walk};
    const bool read = each(*bytes, [&](const WireValue& part) {
      if (part.field == 2) found = part;
      if (part.field != 1) return true;
      const auto text = part.string();
      if (text) key = *text;
      return text.has_value();
    });
    return read && one(field, found, into[key]);
  }

  bool one(const ProtoField& field, const WireValue& value, Json& into) {
    switch (field.type) {
      case ProtoType::kInt32:
        return number(value, into, [](std::int64_t wide) { return static_cast<int>(wide); });
      case ProtoType::kInt64:
        return number(value, into, [](std::int64_t wide) { return wide; });
      case ProtoType::kBool:
        return number(value, into, [](std::int64_t wide) { return wide != 0; });
      case ProtoType::kDouble:
        return real(value, into);
      default:
        break;
    }
    const auto bytes = field.type == ProtoType::kString ? value.string() : value.bytes();
    return bytes && delimited(field, *bytes, into);
  }

  bool delimited(const ProtoField& field, std::string_view bytes, Json& into) {
    switch (field.type) {
      case ProtoType::kString:
        into = std::string(bytes);
        return true;
      case ProtoType::kBytes:
        into = kube::base64_encode(bytes);
        return true;
      case ProtoType::kMessage:
        return message(*field.message, bytes, into);
      case ProtoType::kSchemaOrArray:
      case ProtoType::kSchemaOrBool:
      case ProtoType::kSchemaOrStrings:
        return schema_or_other(field, bytes, into);
      default:
        return read_special(field.type, bytes, walk, into);
    }
  }

  template <class Convert>
  static bool number(const WireValue& value, Json& into, Convert convert) {
    const auto wide = value.integer();
    if (wide) into = convert(*wide);
    return wide.has_value();
  }

  static bool real(const WireValue& value, Json& into) {
    const auto found = value.number();
    if (!found) return false;
    if (!std::isfinite(*found)) return value.reject("not a number that JSON has");
    // As Go prints it: 10 and not 10.0.
    if (std::trunc(*found) == *found && std::abs(*found) <= kWholeMax)
      into = static_cast<std::int64_t>(*found);
    else
      into = *found;
    return true;
  }

  // A schema, or false and true, or schemas, or texts: by the field that is there.
  bool schema_or_other(const ProtoField& field, std::string_view bytes, Json& into) {
    const bool allows = field.type == ProtoType::kSchemaOrBool;
    const ProtoField schemas{
        .count = ProtoCount::kList, .type = ProtoType::kMessage, .message = field.message};
    const ProtoField texts{.count = ProtoCount::kList, .type = ProtoType::kString};
    Json schema;
    Json other = allows ? Json(false) : Json();
    const bool read = each(bytes, [&](const WireValue& value) {
      if (!count()) return false;
      const bool is_schema = value.field == (allows ? 2U : 1U);
      if (is_schema) return one(schemas, value, schema);
      if (value.field > 2) return true;
      if (allows) return one({.type = ProtoType::kBool}, value, other);
      return list(field.type == ProtoType::kSchemaOrArray ? schemas : texts, value, other);
    });
    const bool prefers_schema = allows ? !schema.is_null() : other.is_null();
    into = prefers_schema ? std::move(schema) : std::move(other);
    return read;
  }

  std::size_t values_ = 0;
};

}  // namespace

Result<Json> read_protobuf_body(std::string_view bytes, const ProtobufKind& expected) {
  if (bytes.empty()) return fail(Errc::kCorrupt, "empty data");
  if (!bytes.starts_with(kMagic))
    return fail(Errc::kCorrupt,
                "provided data does not appear to be a protobuf message, expected prefix "
                "[107 56 115 0]");
  bytes.remove_prefix(kMagic.size());
  BodyReader reader;
  Envelope envelope;
  if (!reader.envelope(bytes, envelope)) return std::unexpected(reader.walk.error());
  if (envelope.kind.empty()) envelope.kind = expected.kind;
  if (envelope.api_version.empty()) envelope.api_version = expected.api_version;
  const ProtoMessage* type = builtin_messages().kind(envelope.api_version, envelope.kind);
  if (type == nullptr)
    return fail(Errc::kNotFound, "no kind \"{}\" is registered for version \"{}\"", envelope.kind,
                envelope.api_version);
  Json body = {{"kind", envelope.kind}, {"apiVersion", envelope.api_version}};
  if (!reader.message(*type, envelope.raw, body)) return std::unexpected(reader.walk.error());
  return body;
}

}  // namespace amdahl::local
