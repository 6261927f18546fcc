#include "operator/kube/wire_envelope.hpp"

#include "base/wire_reader.hpp"

namespace amdahl::kube {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kJsonType = "application/json";

bool take(const WireValue& value, std::string_view& into) {
  const auto text = value.string();
  if (text) into = *text;
  return text.has_value() || value.walk->in_field(value.field);
}

bool take_bytes(const WireValue& value, std::string_view& into) {
  const auto bytes = value.bytes();
  if (bytes) into = *bytes;
  return bytes.has_value() || value.walk->in_field(value.field);
}

bool read_type_meta(std::string_view bytes, WireWalk& walk, WireObject& into) {
  WireMessage message(bytes, walk);
  WireValue value;
  while (message.next(value)) {
    if (value.field == 1 && !take(value, into.api_version)) return false;
    if (value.field == 2 && !take(value, into.kind)) return false;
  }
  return !walk.failed();
}

bool read_unknown(std::string_view bytes, WireWalk& walk, WireObject& into,
                  std::string_view& content_type) {
  WireMessage message(bytes, walk);
  WireValue value;
  std::string_view type_meta;
  std::string_view content_encoding;
  while (message.next(value)) {
    if (value.field == 1 && !take_bytes(value, type_meta)) return false;
    if (value.field == 2 && !take_bytes(value, into.raw)) return false;
    if (value.field == 3 && !take(value, content_encoding)) return false;
    if (value.field == 4 && !take(value, content_type)) return false;
  }
  if (walk.failed()) return false;
  if (!content_encoding.empty()) return walk.reject("an encoded object", Errc::kInvalid);
  return read_type_meta(type_meta, walk, into);
}

bool read_list_meta(std::string_view bytes, WireWalk& walk, WireList& into) {
  WireMessage message(bytes, walk);
  WireValue value;
  while (message.next(value)) {
    if (value.field == 2 && !take(value, into.version)) return false;
    if (value.field == 3 && !take(value, into.next_page)) return false;
    if (value.field != 4) continue;
    into.remaining = value.integer();
    if (!into.remaining) return walk.in_field(4);
  }
  return !walk.failed();
}

}  // namespace

Result<WireObject> unwrap_object(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return fail(Errc::kCorrupt, "not a Kubernetes protobuf object: the first four bytes differ");
  WireWalk walk;
  WireObject object;
  std::string_view content_type;
  if (!read_unknown(bytes.substr(kMagic.size()), walk, object, content_type))
    return std::unexpected(walk.error());
  if (content_type == kJsonType)
    object.encoding = Encoding::kJson;
  else if (!content_type.empty() && content_type != kProtobufType)
    return fail(Errc::kInvalid, "a protobuf envelope around \"{}\"", content_type.substr(0, 64));
  return object;
}

Result<WireWatchEvent> unwrap_watch_event(std::string_view message_bytes) {
  WireWalk walk;
  WireWatchEvent event;
  std::string_view extension;
  WireMessage message(message_bytes, walk);
  WireValue value;
  while (message.next(value)) {
    if (value.field == 1 && !take(value, event.type)) break;
    if (value.field == 2 && !take_bytes(value, extension)) break;
  }
  WireMessage object(extension, walk);
  while (object.next(value))
    if (value.field == 1 && !take_bytes(value, event.object)) break;
  if (walk.failed()) return std::unexpected(walk.error());
  return event;
}

Result<WireList> unwrap_list(std::string_view raw,
                             function_ref<Result<void>(std::string_view item)> each_item) {
  WireWalk walk;
  WireList list;
  WireMessage message(raw, walk);
  WireValue value;
  while (message.next(value)) {
    std::string_view bytes;
    if (value.field == 1 && take_bytes(value, bytes) && !read_list_meta(bytes, walk, list)) break;
    if (value.field == 2 && take_bytes(value, bytes)) TRY(each_item(bytes));
  }
  if (walk.failed()) return std::unexpected(walk.error());
  return list;
}

}  // namespace amdahl::kube
