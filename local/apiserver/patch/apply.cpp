#include "local/apiserver/patch/apply.hpp"

#include <algorithm>
#include <array>

#include "local/apiserver/patch/field_merge.hpp"
#include "local/apiserver/patch/last_applied.hpp"
#include "local/apiserver/patch/ownership.hpp"
#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {
namespace {

// Owns what is there when the first apply meets an object nobody tracked.
constexpr std::string_view kBeforeFirstApply = "before-first-apply";
constexpr std::array kEntryTexts = {"apiVersion", "fieldsType",  "manager",
                                    "operation",  "subresource", "time"};

std::string text_at(const Json& object, const char* pointer) {
  const Json::json_pointer place(pointer);
  if (!object.contains(place)) return {};
  const Json& value = object[place];
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string shown_object(const Json& object) {
  const std::string version = text_at(object, "/apiVersion");
  return fmt::format("{}/{}; {}{}, Kind={}", text_at(object, "/metadata/namespace"),
                     text_at(object, "/metadata/name"),
                     version.find('/') == std::string::npos ? "/" : "", version,
                     text_at(object, "/kind"));
}

// What is no list of entries is none to kube-apiserver, and is left to the check of types.
bool lists_entries(const Json& managed) {
  const auto is_entry = [](const Json& item) {
    if (!item.is_object()) return false;
    return std::ranges::all_of(kEntryTexts, [&](const char* name) {
      const auto found = item.find(name);
      return found == item.end() || found->is_null() || found->is_string();
    });
  };
  return managed.is_array() && std::ranges::all_of(managed, is_entry);
}

// The configuration as it is merged.
Result<Json> readied(const FieldRules& rules, const FieldWriter& writer,
                     const Json& configuration) {
  if (!configuration.is_object())
    return fail(Errc::kCorrupt, "error decoding patch: the configuration is not an object");
  TRY(check_depth(configuration, "the configuration"));
  const std::string version = text_at(configuration, "/apiVersion");
  if (version != writer.api_version)
    return fail(Errc::kCorrupt,
                "Incorrect version specified in apply patch. Specified patch version: {}, "
                "expected: {}",
                version, writer.api_version);
  if (lists_entries(managed_fields_of(configuration)))
    return fail(Errc::kCorrupt, "metadata.managedFields must be nil");
  if (auto fits = check_configuration(configuration, rules.shape); !fits)
    return wrap(std::move(fits).error(), "failed to create typed patch object ({})",
                shown_object(configuration));
  Json ready = without_managed_fields(configuration);
  // Generated manifests carry it as null; it is the server's, so it must not be taken away.
  const Json::json_pointer created("/metadata/creationTimestamp");
  if (ready.contains(created) && ready[created].is_null())
    ready["metadata"].erase("creationTimestamp");
  return ready;
}

Result<ManagedFields> tracked_entries(const FieldRules& rules, const FieldWriter& writer,
                                      const Json* live, const Json& before) {
  if (live == nullptr) return ManagedFields{};
  auto entries = decode_managed_fields(managed_fields_of(*live));
  if (!entries)
    return fail(Errc::kTerminal, "failed to decode managed fields: {}", entries.error().context);
  if (!entries->empty()) return std::move(*entries);
  FieldWriter earlier = writer;
  earlier.manager = kBeforeFirstApply;
  const Json nothing = Json::object();
  const Json& unset = rules.unset != nullptr ? *rules.unset : nothing;
  give_fields(*entries, earlier, owned_difference(rules, unset, before).changed());
  return std::move(*entries);
}

// Removes what the manager applied last time, unless an entry still owns it. Fields nobody owns
// stay, and so does what only hangs below a removed parent.
Json pruned(Json object, const FieldSet& last, const ManagedFields& entries,
            const MergeShape* shape) {
  FieldSet owned = unowned_fields();  // the server's, and never removed by an apply
  for (const ManagedEntry& entry : entries) owned = owned.united(entry.fields);
  if (owned.contains(last)) return object;
  const FieldSet mine = with_named_parents(last, shape);
  const FieldSet all = with_named_parents(fields_of(object, shape), shape);
  const auto fields_without = [&](const FieldSet& gone) {
    return with_named_parents(fields_of(without_fields(object, gone, shape), shape), shape);
  };
  const FieldSet rest = fields_without(mine);
  const FieldSet kept = rest.united(with_named_parents(owned, shape));
  const FieldSet survivors = fields_without(all.without(kept));
  return without_fields(std::move(object), all.without(survivors).intersected(mine), shape);
}

struct Contested {
  FieldManager manager = {};
  FieldSet fields = {};
};

std::vector<Contested> contested_fields(const ManagedFields& entries, const FieldManager& self,
                                        const FieldSet& changed) {
  std::vector<Contested> found;
  for (const ManagedEntry& entry : entries) {
    if (entry.manager.same_entry(self)) continue;
    FieldSet fields = entry.fields.intersected(changed);
    if (!fields.empty()) found.push_back({.manager = entry.manager, .fields = std::move(fields)});
  }
  std::ranges::sort(found, {}, [](const Contested& one) { return shown_manager(one.manager); });
  return found;
}

ApplyConflict conflict_of(const std::vector<Contested>& contested) {
  ApplyConflict conflict;
  std::string lines;
  for (const Contested& one : contested) {
    const std::string manager = shown_manager(one.manager);
    lines += fmt::format("{}conflicts with {}:", lines.empty() ? "" : "\n", manager);
    for (const FieldPath& path : one.fields.paths()) {
      Cause cause{.reason = std::string(kCauseConflict),
                  .message = "conflict with " + manager,
                  .field = shown_path(path)};
      lines += "\n- " + cause.field;
      conflict.causes.push_back(std::move(cause));
    }
  }
  const std::size_t count = conflict.causes.size();
  conflict.message = count == 1 ? fmt::format("Apply failed with 1 conflict: {}: {}",
                                              conflict.causes[0].message, conflict.causes[0].field)
                                : fmt::format("Apply failed with {} conflicts: {}", count, lines);
  return conflict;
}

// For `kubectl`, what its client-side apply wrote is no conflict if that is all there is.
std::vector<Contested> serious(std::vector<Contested> contested, const FieldSet& harmless) {
  std::vector<Contested> left;
  for (Contested& one : contested) {
    one.fields = one.fields.without(harmless);
    if (!one.fields.empty()) left.push_back(std::move(one));
  }
  return left;
}

}  // namespace

Result<ApplyOutcome> server_side_apply(const FieldRules& rules, const FieldWriter& writer,
                                       const Json* live, const Json& configuration, bool force) {
  TRY(const Json ready, readied(rules, writer, configuration));
  const Json before = live == nullptr ? Json::object() : without_managed_fields(*live);
  TRY(check_depth(before, "the object"));
  TRY(ManagedFields entries, tracked_entries(rules, writer, live, before));
  const ManagedFields stored = entries;
  drop_other_groups(entries, writer);
  const FieldManager self = manager_of(writer, WriteOperation::kApply);
  if (find_entry(entries, self) == nullptr) entries.push_back({.manager = self});
  ManagedEntry& entry = *find_entry(entries, self);
  const FieldSet last = entry.fields;
  entry.manager = self;
  // What this endpoint does not write is merged all the same: the kind takes it back, or not.
  entry.fields = fields_of(without_fields(ready, rules.reset_fields, rules.shape), rules.shape)
                     .without(unowned_fields());

  Json object = pruned(merged(before, ready, rules.shape), last, entries, rules.shape);
  // A null that met an object which is now empty is set after all, or the next apply would do it.
  object = merged(std::move(object), ready, rules.shape);
  const FieldComparison difference = owned_difference(rules, before, object);
  auto contested = contested_fields(entries, self, difference.changed());
  if (!contested.empty() && writer.manager == kKubectlManager)
    contested = serious(std::move(contested), last_applied_fields(rules, writer, before));
  if (!contested.empty() && !force) return ApplyOutcome{.conflict = conflict_of(contested)};

  take_fields(entries, difference, &self);
  const bool changed = object != before;
  if (changed) entry.time = writer.now;
  drop_empty_entries(entries);
  if (writer.manager == kKubectlManager) refresh_last_applied(object, configuration);
  if (live != nullptr && object == before && same_ownership(entries, stored) &&
      !managed_fields_of(*live).is_null())
    return ApplyOutcome{.object = *live};
  set_managed_fields(object, encode_managed_fields(std::move(entries)));
  return ApplyOutcome{.object = std::move(object)};
}

}  // namespace amdahl::local
