#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/core/decode.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/read.hpp"
#include "local/apiserver/core/render.hpp"
#include "local/apiserver/core/write.hpp"

namespace amdahl::local {
namespace {

// Times of managed fields move with every write; alone they are no change.
bool same_but_for_time(const Json& left, const Json& right) {
  if (!left.is_object() || !right.is_object()) return left == right;
  const auto counted = [](const Json& entry) { return entry.size() - entry.count("time"); };
  return counted(left) == counted(right) &&
         std::ranges::all_of(left.get_ref<const Json::object_t&>(), [&](const auto& member) {
           const auto other = right.find(member.first);
           return member.first == "time" || (other != right.end() && member.second == *other);
         });
}

bool same_managed_fields(const Json& left, const Json& right) {
  return std::ranges::equal(left.get_ref<const Json::array_t&>(),
                            right.get_ref<const Json::array_t&>(), same_but_for_time);
}

bool same_metadata(const Json& left, const Json& right) {
  if (left.size() != right.size()) return false;
  for (const auto& [key, value] : left.items()) {
    const auto other = right.find(key);
    if (other == right.end()) return false;
    if (value == *other) continue;
    const bool lists = value.is_array() && other->is_array();
    if (key != "managedFields" || !lists || !same_managed_fields(value, *other)) return false;
  }
  return true;
}

bool same_object(const Json& left, const Json& right) {
  if (left.size() != right.size()) return false;
  for (const auto& [key, value] : left.items()) {
    const auto other = right.find(key);
    if (other == right.end()) return false;
    if (key == "metadata" ? !same_metadata(value, *other) : value != *other) return false;
  }
  return true;
}

// Where etcd would keep objects of the kind.
std::string registry_path(const ResourceInfo& info) {
  if (info.custom) return info.group + "/" + info.plural;
  if (info.group.empty() && info.plural == "services") return "services/specs";
  if (info.group.empty() && info.plural == "endpoints") return "services/endpoints";
  if (info.group.empty() && info.plural == "nodes") return "minions";
  return info.plural;
}

struct UidPair {
  std::string_view wanted = {};
  std::string_view found = {};
};

Status other_uid(const ResourceInfo& info, std::string_view key, const UidPair& uids) {
  const std::string_view name = key.substr(key.find('/') + 1);  // the whole key when there is none
  return conflict(info.resource_name(), name,
                  fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}/{}, "
                              "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID "
                              "in precondition: {}, UID in object meta: {}",
                              registry_path(info), key, uids.wanted, uids.found));
}

Outcome<Done> check_versions(const Request& request, const UpdateOf& update, Json& meta) {
  const ResourceInfo& info = *request.info;
  const std::string name(update.old->name());
  const std::string uid = text_at(meta, "uid");
  if (!uid.empty() && uid != update.old->uid && !update.from_patch)
    return other_uid(info, update.old->key, {.wanted = uid, .found = update.old->uid});
  const std::string version = text_at(meta, "resourceVersion");
  if (version.empty() || version == "0") {
    if (info.unconditional_update) return Done{};
    return invalid(info.resource_name(), name,
                   {{.reason = std::string(kCauseInvalid),
                     .message = "Invalid value: 0: must be specified for an update",
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
    const bool same =
        (now == meta.end()) == (before == old_meta.end()) && (now == meta.end() || *now == *before);
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

Outcome<Written> store_update(ServerState& state, Request& request, const UpdateOf& update,
                              Json object) {
  const ResourceInfo& info = *request.info;
  const Json read =
      update.live != nullptr ? Json() : in_version(state.rules, info, parsed(*update.old));
  const Json& old = update.live != nullptr ? *update.live : read;
  OUTCOME_CHECK(check_versions(request, update, metadata_of(object)));
  const bool finalizes = update.subresource == "finalize";
  if (finalizes) finalize_only(object, old);
  keep_system_fields(metadata_of(object), metadata_of(old));
  // As the writer sent it: who sets a field that the kind then takes back has asked for it.
  if (update.tracked)
    state.rules.track(
        info, &old, object,
        {.manager = request.manager(), .subresource = update.subresource, .now = state.now});
  if (!finalizes) state.rules.prepare_update(info, update.subresource, object, old);
  std::vector<Cause> causes = fixed_breaches(metadata_of(object), metadata_of(old));
  for (Cause& cause : state.rules.validate(info, update.subresource, object, &old))
    causes.push_back(std::move(cause));
  OUTCOME_CHECK(refuse(state, info, object, std::move(causes)));
  std::ranges::move(state.rules.warnings(info, object, &old), std::back_inserter(request.warnings));
  metadata_of(object)["resourceVersion"] = std::to_string(update.old->version);
  if (same_object(object, old)) return Written{update.old};
  const bool goes = goes_now(info, object, old);
  const bool puts = !goes && !request.query.dry();
  OUTCOME_TRY(ObjectPtr made,
              bounded_object(state, info, std::move(object),
                             puts ? state.table.version() + 1 : update.old->version));
  if (puts) commit_object(state, info, made);
  if (goes && !request.query.dry()) remove_object(state, info, *update.old);
  return Written{std::move(made)};
}

namespace {

// A dry run shows the version that the writer named, because nothing gave the object another.
Outcome<Reply> create_by_update(ServerState& state, Request& request, Json object) {
  const auto named = parse_version(text_at(metadata_of(object), "resourceVersion"));
  metadata_of(object).erase("resourceVersion");
  const std::string manager = request.manager();
  state.rules.track(*request.info, nullptr, object, {.manager = manager, .now = state.now});
  OUTCOME_TRY(const Written made, store_new(state, request, std::move(object)));
  const bool shows = request.query.dry() && named && *named;
  return object_reply(state, request, 201,
                      shows ? *with_version(*made.object, **named) : *made.object);
}

}  // namespace

Outcome<Reply> update(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_write_options(request.query, "UpdateOptions"));
  OUTCOME_TRY(Json object, read_object(state, request));
  OUTCOME_CHECK(match_path(request, object));
  const ObjectPtr old = state.table.get(request.resource, request.key());
  if (!old) {
    if (!request.info->create_on_update || !request.route.subresource.empty())
      return not_found(request.info->resource_name(), request.route.name);
    if (const std::string uid = text_at(metadata_of(object), "uid"); !uid.empty())
      return other_uid(*request.info, request.key(), {.wanted = uid});
    return create_by_update(state, request, std::move(object));
  }
  OUTCOME_TRY(const Written written,
              store_update(state, request, {.old = old, .subresource = request.route.subresource},
                           std::move(object)));
  return object_reply(state, request, 200, *written.object);
}

}  // namespace amdahl::local
