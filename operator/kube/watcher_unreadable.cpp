// What a watch does with an object that cannot be read: anybody who may write objects of a kind can
// make one, and it must not keep the others from being seen.

#include "base/json_decode.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::kube {
namespace {

// An unreadable object may be written again and again.
constexpr std::chrono::minutes kReportEvery{1};

struct Name {
  std::string ns = {};
  std::string name = {};
};
template <class V>
constexpr void fields(V& v, Name& name) {
  v.optional("name", name.name, {.wire = 1});
  v.optional("namespace", name.ns, {.wire = 3});
}
struct Named {
  Name metadata = {};
};
template <class V>
constexpr void fields(V& v, Named& object) {
  v.optional("metadata", object.metadata, {.wire = 1});
}

std::string name_of(const RawObject& object) {
  const auto named = object.encoding == Encoding::kProtobuf ? decode_wire<Named>(object.bytes)
                                                            : decode<Named>(object.bytes);
  if (!named) return "an object without a readable name";
  return to_string(ObjectKey{.ns = named->metadata.ns, .name = named->metadata.name});
}

}  // namespace

Result<std::string_view> ObjectSink::decode_parts(RawObject /*object*/) {
  return fail(Errc::kCorrupt, "the identity of the object cannot be read");
}

Result<std::string_view> Watcher::decode(RawObject object) {
  auto version = sink_.decode(object);
  if (version) return version;
  auto parts = sink_.decode_parts(object);
  if (!parts && !is_listing()) return version;
  unreadable(object, version.error());
  return parts;
}

void Watcher::unreadable(RawObject object, const Error& error) {
  ++counts_.unreadable;
  const Monotonic now = clock_.monotonic();
  if (last_unreadable_ && now - *last_unreadable_ < kReportEvery) return;
  last_unreadable_ = now;
  report({.code = error.code,
          .context = fmt::format("{}: {} is taken without the part that cannot be read: {} "
                                 "(unreadable so far: {})",
                                 described(), name_of(object), error.context, counts_.unreadable)});
}

}  // namespace amdahl::kube
