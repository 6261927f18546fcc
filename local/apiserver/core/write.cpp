#include "local/apiserver/core/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "local/apiserver/core/decode.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/render.hpp"

namespace amdahl::local {
namespace {

constexpr int kNameAttemptsMax = 8;
constexpr std::size_t kSuffixLength = 5;
constexpr std::size_t kGeneratedBaseMax = 63 - kSuffixLength;

std::string random_uid(Rng& rng) {
  const std::uint64_t high = (rng.next() & ~0xf000ULL) | 0x4000ULL;          // version 4
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

Outcome<Written> create_once(ServerState& state, const Request& request, Json object) {
  const ResourceInfo& info = *request.info;
  Json& meta = metadata_of(object);
  const bool generated = text_at(meta, "name").empty();
  fill_system_fields(state, meta);
  state.rules.prepare_create(info, object, state.now);
  if (std::vector<Cause> causes = state.rules.validate(info, "", object, nullptr); !causes.empty())
    return invalid(info.kind_name(), text_at(metadata_of(object), "name"), std::move(causes));
  const std::string name = text_at(metadata_of(object), "name");
  OUTCOME_CHECK(check_name(request, name));
  const std::string key = object_key(info.namespaced ? request.route.ns : "", name);
  if (const ObjectPtr found = state.table.get(request.resource, key))
    return exists_already(request, *found, generated);
  if (request.query.dry()) {
    PackedMap fields = state.rules.fields(info, object);
    return Written{make_object(std::move(object), 0, std::move(fields)), true};
  }
  return Written{put_object(state, info, std::move(object)), true};
}

// Times of managed fields move with every write; alone they are no change.
void drop_field_times(Json& object) {
  Json& meta = metadata_of(object);
  const auto found = meta.find("managedFields");
  if (found == meta.end() || !found->is_array()) return;
  for (Json& entry : *found)
    if (entry.is_object()) entry.erase("time");
}

bool same_object(Json left, Json right) {
  drop_field_times(left);
  drop_field_times(right);
  return left == right;
}

Outcome<Done> check_versions(const Request& request, const UpdateOf& update, Json& meta) {
  const ResourceInfo& info = *request.info;
  const std::string name(update.old->name());
  const std::string uid = text_at(meta, "uid");
  if (!uid.empty() && uid != update.old->uid && !update.from_patch)
    return conflict(info.resource_name(), name,
                    fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}/{}, "
                                "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID "
                                "in precondition: {}, UID in object meta: {}",
                                info.plural, update.old->key, uid, update.old->uid));
  const std::string version = text_at(meta, "resourceVersion");
  if (version.empty() || version == "0") {
    if (info.unconditional_update) return Done{};
    return invalid(info.resource_name(), name,
                   {{.reason = std::string(kCauseInvalid),
                     .message = "Invalid value: 0x0: must be specified for an update",
                     .field = "metadata.resourceVersion"}});
  }
  if (version != std::to_string(update.old->version))
    return modified_meanwhile(info.resource_name(), name);
  return Done{};
}

void keep_system_fields(Json& meta, const Json& old_meta) {
  const auto keep = [&](const char* key) {
    if (const auto found = old_meta.find(key); found != old_meta.end()) meta[key] = *found;
  };
  if (text_at(meta, "uid").empty()) keep("uid");
  keep("creationTimestamp");
  keep("deletionTimestamp");
  if (!meta.contains("deletionGracePeriodSeconds")) keep("deletionGracePeriodSeconds");
  meta.erase("generation");
  keep("generation");
}

// What no update may change, whatever the kind.
std::vector<Cause> fixed_breaches(const Json& meta, const Json& old_meta) {
  std::vector<Cause> causes;
  for (const char* key : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const auto now = meta.find(key);
    const auto before = old_meta.find(key);
    const bool same = (now == meta.end()) == (before == old_meta.end()) &&
                      (now == meta.end() || *now == *before);
    if (same) continue;
    causes.push_back({.reason = std::string(kCauseInvalid),
                      .message = fmt::format("Invalid value: {}: field is immutable",
                                             now == meta.end() ? "null" : json_text(*now)),
                      .field = std::string("metadata.") + key});
  }
  if (!old_meta.contains("deletionTimestamp")) return causes;
  const std::vector<std::string> before = finalizers_of(old_meta);
  std::vector<std::string> added = finalizers_of(meta);
  std::erase_if(added, [&](const std::string& one) {
    return std::ranges::find(before, one) != before.end();
  });
  if (!added.empty())
    causes.push_back({.reason = std::string(kCauseForbidden),
                      .message = fmt::format("Forbidden: no new finalizers can be added if the "
                                             "object is being deleted, found new finalizers "
                                             "[]string{{\"{}\"}}",
                                             fmt::join(added, "\", \"")),
                      .field = "metadata.finalizers"});
  return causes;
}

bool is_namespace(const ResourceInfo& info) {
  return info.group.empty() && info.plural == "namespaces";
}

// Its last finalizer went with this update, so the object does.
bool goes_now(const ResourceInfo& info, const Json& object, const Json& old) {
  const Json& old_meta = metadata_of(old);
  if (!finalizers_of(metadata_of(object)).empty()) return false;
  if (!old_meta.contains("deletionTimestamp")) return false;
  if (number_at(old_meta, "deletionGracePeriodSeconds").value_or(0) != 0) return false;
  if (!is_namespace(info)) return true;
  const auto spec = object.find("spec");
  if (spec == object.end() || !spec->is_object()) return true;
  const auto finalizers = spec->find("finalizers");
  return finalizers == spec->end() || finalizers->empty();
}

void finalize_only(Json& object, const Json& old) {
  const auto spec = object.find("spec");
  Json finalizers = Json::array();
  if (spec != object.end() && spec->is_object() && spec->contains("finalizers"))
    finalizers = (*spec)["finalizers"];
  Json version = metadata_of(object).value("resourceVersion", Json());
  object = old;
  if (version.is_string()) metadata_of(object)["resourceVersion"] = std::move(version);
  if (!object.contains("spec") || !object["spec"].is_object()) object["spec"] = Json::object();
  object["spec"]["finalizers"] = std::move(finalizers);
}

}  // namespace

ObjectPtr put_object(ServerState& state, const ResourceInfo& info, Json object) {
  PackedMap fields = state.rules.fields(info, object);
  const ObjectPtr stored = make_object(object, state.table.version() + 1, std::move(fields));
  state.table.put(state.table.resource(info.storage), stored);
  if (info.observed) {
    metadata_of(object)["resourceVersion"] = std::to_string(stored->version);
    state.rules.changed(info, stored->name(), &object);
  }
  return stored;
}

void remove_object(ServerState& state, const ResourceInfo& info, const StoredObject& object) {
  const ObjectPtr last = with_version(object, state.table.version() + 1);
  state.table.remove(state.table.resource(info.storage), last);
  if (info.observed) state.rules.changed(info, last->name(), nullptr);
}

Outcome<Written> store_new(ServerState& state, const Request& request, Json object) {
  Json& meta = metadata_of(object);
  wipe_system_fields(meta);
  if (const std::string version = text_at(meta, "resourceVersion");
      !version.empty() && version != "0")
    return unknown_failure("resourceVersion should not be set on objects to be created");
  meta.erase("resourceVersion");
  OUTCOME_CHECK(check_namespace(state, request, object));
  const bool generated =
      text_at(meta, "name").empty() && !text_at(meta, "generateName").empty();
  for (int attempt = 1; generated && attempt < kNameAttemptsMax; ++attempt) {
    auto made = create_once(state, request, object);
    if (made || made.error().reason != "AlreadyExists") return made;
  }
  return create_once(state, request, std::move(object));
}

Outcome<Written> store_update(ServerState& state, const Request& request, const UpdateOf& update,
                              Json object) {
  const ResourceInfo& info = *request.info;
  const Json old = parsed(*update.old);
  OUTCOME_CHECK(check_versions(request, update, metadata_of(object)));
  if (update.subresource == "finalize") finalize_only(object, old);
  keep_system_fields(metadata_of(object), metadata_of(old));
  state.rules.prepare_update(info, update.subresource, object, old);
  if (update.tracked)
    state.rules.track(info, &old, object,
                      {.manager = request.manager(),
                       .subresource = update.subresource,
                       .now = state.now});
  std::vector<Cause> causes = fixed_breaches(metadata_of(object), metadata_of(old));
  for (Cause& cause : state.rules.validate(info, update.subresource, object, &old))
    causes.push_back(std::move(cause));
  if (!causes.empty())
    return invalid(info.kind_name(), update.old->name(), std::move(causes));
  metadata_of(object)["resourceVersion"] = std::to_string(update.old->version);
  if (same_object(object, old)) return Written{update.old};
  PackedMap fields = state.rules.fields(info, object);
  if (goes_now(info, object, old)) {
    ObjectPtr last = make_object(std::move(object), update.old->version, std::move(fields));
    if (!request.query.dry()) remove_object(state, info, *update.old);
    return Written{std::move(last)};
  }
  if (request.query.dry())
    return Written{make_object(std::move(object), update.old->version, std::move(fields))};
  return Written{put_object(state, info, std::move(object))};
}

Outcome<Reply> create(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_write_options(request.query, "CreateOptions"));
  OUTCOME_TRY(Json object, read_object(state, request));
  OUTCOME_CHECK(match_path(request, object));
  if (!request.info->stored) {
    OUTCOME_TRY(const Json answer, state.rules.answer_review({.info = request.info,
                                                              .object = &object,
                                                              .user = &request.call->user,
                                                              .now = state.now}));
    return json_reply(request, 201, answer);
  }
  wipe_system_fields(metadata_of(object));
  const std::string manager = request.manager();
  state.rules.track(*request.info, nullptr, object, {.manager = manager, .now = state.now});
  OUTCOME_TRY(const Written written, store_new(state, request, std::move(object)));
  return object_reply(state, request, 201, *written.object);
}

Outcome<Reply> update(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_write_options(request.query, "UpdateOptions"));
  OUTCOME_TRY(Json object, read_object(state, request));
  OUTCOME_CHECK(match_path(request, object));
  const ObjectPtr old = state.table.get(request.resource, request.key());
  if (!old) {
    if (!request.info->create_on_update || !request.route.subresource.empty())
      return not_found(request.info->resource_name(), request.route.name);
    const std::string manager = request.manager();
    state.rules.track(*request.info, nullptr, object, {.manager = manager, .now = state.now});
    OUTCOME_TRY(const Written made, store_new(state, request, std::move(object)));
    return object_reply(state, request, 201, *made.object);
  }
  OUTCOME_TRY(const Written written,
              store_update(state, request,
                           {.old = old, .subresource = request.route.subresource},
                           std::move(object)));
  return object_reply(state, request, 200, *written.object);
}

}  // namespace amdahl::local
