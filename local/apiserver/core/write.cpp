#include "local/apiserver/core/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "local/apiserver/core/decode.hpp"
#include "local/apiserver/core/deletion.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/render.hpp"

namespace amdahl::local {
namespace {

constexpr int kNameAttemptsMax = 8;
constexpr std::size_t kSuffixLength = 5;
constexpr std::size_t kGeneratedBaseMax = 63 - kSuffixLength;

std::string random_uid(Rng& rng) {
  const std::uint64_t high = (rng.next() & ~0xf000ULL) | 0x4000ULL;         // version 4
  const std::uint64_t low = (rng.next() & ~(3ULL << 62U)) | (2ULL << 62U);  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU,
                     high & 0xffffU, low >> 48U, low & 0xffffffffffffULL);
}

// Objects go only into a namespace that is there and stays.
Outcome<Done> check_namespace(ServerState& state, const Request& request, const Json& object) {
  if (!request.info->namespaced) return Done{};
  const std::string& ns = request.route.ns;
  const ObjectPtr found = state.table.get(state.table.resource("namespaces"), ns);
  if (!found) return not_found({.name = "namespaces"}, ns);
  if (!found->deleting) return Done{};
  std::string name = text_at(metadata_of(object), "name");
  if (name.empty()) name = text_at(metadata_of(object), "generateName");
  Status status = forbidden(
      request.info->resource_name(), name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  ns));
  status.causes.push_back({.reason = "NamespaceTerminating",
                           .message = fmt::format("namespace {} is being terminated", ns),
                           .field = "metadata.namespace"});
  return status;
}

// A name is one segment of a path and of a key.
Outcome<Done> check_name(const Request& request, const std::string& name) {
  std::string why;
  std::string_view reason = kCauseInvalid;
  if (name.empty()) {
    reason = kCauseRequired;
    why = "Required value: name or generateName is required";
  } else if (name == "." || name == "..") {
    why = fmt::format("Invalid value: \"{}\": may not be '{}'", name, name);
  } else if (const auto at = name.find_first_of("/%"); at != std::string::npos) {
    why = fmt::format("Invalid value: \"{}\": may not contain '{}'", name, name[at]);
  }
  if (why.empty()) return Done{};
  return invalid(request.info->kind_name(), name,
                 {{.reason = std::string(reason), .message = why, .field = "metadata.name"}});
}

void fill_system_fields(ServerState& state, Json& meta) {
  meta["uid"] = random_uid(state.rng);
  meta["creationTimestamp"] = format_time(state.now);
  const std::string base = text_at(meta, "generateName");
  if (text_at(meta, "name").empty() && !base.empty())
    meta["name"] = base.substr(0, kGeneratedBaseMax) + state.rng.suffix(kSuffixLength);
}

Status exists_already(const Request& request, const StoredObject& found, bool generated) {
  const std::string name(found.name());
  Status status = generated ? name_not_generated(request.info->resource_name(), name)
                            : already_exists(request.info->resource_name(), name);
  if (found.deleting) status.message = "object is being deleted: " + status.message;
  return status;
}

bool says_other_kind(const ResourceInfo& info, const Json& object) {
  return info.custom && text_at(object, "kind") != info.kind;
}

// What is new has no version; "0" says as much.
Outcome<Done> take_version(Json& meta) {
  const std::string version = text_at(meta, "resourceVersion");
  if (!version.empty() && version != "0")
    return unknown_failure("resourceVersion should not be set on objects to be created");
  meta.erase("resourceVersion");
  return Done{};
}

Outcome<Written> create_once(ServerState& state, Request& request, Json object) {
  const ResourceInfo& info = *request.info;
  Json& meta = metadata_of(object);
  const bool generated = text_at(meta, "name").empty();
  fill_system_fields(state, meta);
  state.rules.prepare_create(info, object, state.now);
  std::vector<Cause> causes;
  if (!says_other_kind(info, object)) causes = state.rules.validate(info, "", object, nullptr);
  OUTCOME_CHECK(refuse(state, info, object, std::move(causes)));
  std::ranges::move(state.rules.warnings(info, object, nullptr),
                    std::back_inserter(request.warnings));
  OUTCOME_CHECK(take_version(metadata_of(object)));
  const std::string name = text_at(metadata_of(object), "name");
  OUTCOME_CHECK(check_name(request, name));
  const std::string key = object_key(info.namespaced ? request.route.ns : "", name);
  if (const ObjectPtr found = state.table.get(request.resource, key))
    return exists_already(request, *found, generated);
  const bool dry = request.query.dry();
  OUTCOME_TRY(ObjectPtr made,
              bounded_object(state, info, std::move(object), dry ? 0 : state.table.version() + 1));
  if (!dry) commit_object(state, info, made);
  return Written{std::move(made), true};
}

}  // namespace

Outcome<Done> refuse(const ServerState& state, const ResourceInfo& info, const Json& object,
                     std::vector<Cause> causes) {
  const std::string name = text_at(metadata_of(object), "name");
  const std::string kind = text_at(object, "kind");
  if (says_other_kind(info, object)) {
    std::erase_if(causes, [](const Cause& one) { return !one.field.starts_with("metadata."); });
    causes.push_back({.reason = std::string(kCauseInvalid),
                      .message = fmt::format("Invalid value: \"{}\": must be {}", kind, info.kind),
                      .field = "kind"});
    return invalid({.group = info.group, .name = kind}, name, std::move(causes));
  }
  if (causes.empty()) return Done{};
  return invalid(stored_kind(state, info), name, std::move(causes));
}

GroupName stored_kind(const ServerState& state, const ResourceInfo& info) {
  const ResourceInfo* kept = info.custom ? nullptr : state.rules.find_storage(info.storage);
  return kept == nullptr ? info.kind_name() : kept->kind_name();
}

ObjectPtr stored_form(const ServerState& state, const ResourceInfo& info, Json object,
                      std::uint64_t version) {
  const ResourceInfo* kept = state.rules.find_storage(info.storage);
  const ResourceInfo& as = kept != nullptr ? *kept : info;
  object = in_version(state.rules, as, std::move(object));
  PackedMap fields = state.rules.fields(as, object);
  return make_object(std::move(object), version, std::move(fields));
}

Outcome<ObjectPtr> bounded_object(const ServerState& state, const ResourceInfo& info, Json object,
                                  std::uint64_t version) {
  ObjectPtr made = stored_form(state, info, std::move(object), version);
  if (made->text.size() <= kObjectBytesMax) return made;
  return Status{
      .code = 413,
      .reason = "RequestEntityTooLarge",
      .message = fmt::format("Request entity too large: the object has more than {} bytes",
                             kObjectBytesMax)};
}

void commit_object(ServerState& state, const ResourceInfo& info, const ObjectPtr& object) {
  const ResourceId resource = state.table.resource(info.storage);
  state.table.put(resource, object);
  if (info.ttl.count() > 0)
    state.expiring.emplace(state.now + info.ttl,
                           Expiring{{resource, object->key}, object->version});
  if (!info.observed) return;
  const Json json = parsed(*object);
  state.rules.changed(info, object->name(), &json);
}

ObjectPtr put_object(ServerState& state, const ResourceInfo& info, Json object) {
  ObjectPtr made = stored_form(state, info, std::move(object), state.table.version() + 1);
  commit_object(state, info, made);
  return made;
}

// NOLINTBEGIN(misc-no-recursion): a namesake has none of its own.
static void remove_namesake(ServerState& state, const ResourceInfo& info, const std::string& key) {
  const ResourceInfo* other = state.rules.find_storage(info.namesake);
  if (other == nullptr) return;
  const ObjectPtr found = state.table.get(state.table.resource(other->storage), key);
  // Without options nothing is refused; finalizers may keep it for a while.
  if (found) (void)delete_object(state, *other, found, {});
}

ObjectPtr remove_object(ServerState& state, const ResourceInfo& info, const StoredObject& object) {
  ObjectPtr last = with_version(object, state.table.version() + 1);
  state.table.remove(state.table.resource(info.storage), last);
  if (info.observed) state.rules.changed(info, last->name(), nullptr);
  if (!info.namesake.empty()) remove_namesake(state, info, last->key);
  return last;
}
// NOLINTEND(misc-no-recursion)

Outcome<Written> store_new(ServerState& state, Request& request, Json object) {
  Json& meta = metadata_of(object);
  wipe_system_fields(meta);
  OUTCOME_CHECK(check_namespace(state, request, object));
  const bool generated = text_at(meta, "name").empty() && !text_at(meta, "generateName").empty();
  for (int attempt = 1; generated && attempt < kNameAttemptsMax; ++attempt) {
    auto made = create_once(state, request, object);
    if (made || made.error().reason != "AlreadyExists") return made;
  }
  return create_once(state, request, std::move(object));
}

Outcome<Reply> create(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_write_options(request.query, "CreateOptions"));
  OUTCOME_TRY(Json object, read_object(state, request));
  OUTCOME_CHECK(match_path(request, object));
  const std::string manager = request.manager();
  if (!request.info->stored) {
    state.rules.track(*request.info, nullptr, object, {.manager = manager, .now = state.now});
    OUTCOME_TRY(const Json answer, state.rules.answer_review({.info = request.info,
                                                              .object = &object,
                                                              .user = &request.call->user,
                                                              .now = state.now}));
    return json_reply(request, 201, answer);
  }
  wipe_system_fields(metadata_of(object));
  state.rules.track(*request.info, nullptr, object, {.manager = manager, .now = state.now});
  OUTCOME_TRY(const Written written, store_new(state, request, std::move(object)));
  return object_reply(state, request, 201, *written.object);
}

}  // namespace amdahl::local
