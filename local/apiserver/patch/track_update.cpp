#include "local/apiserver/patch/created_fields.hpp"
#include "local/apiserver/patch/ownership.hpp"

namespace amdahl::local {
namespace {

bool clears_ownership(const Json& list) {
  if (!list.is_array()) return false;
  return list.empty() || (list.size() == 1 && list[0].is_object() && list[0].empty());
}

ManagedFields stored_entries(const Json* live) {
  if (live == nullptr) return {};
  // Entries that do not parse cannot be kept; losing them must not make the object unwritable.
  return decode_managed_fields(managed_fields_of(*live)).value_or(ManagedFields{});
}

// Clients that do not know managedFields leave them out, and must not clear them by that.
ManagedFields entries_to_start_from(const FieldWriter& writer, const Json* live,
                                    const Json& written) {
  if (writer.subresource.empty()) {
    const Json& sent = managed_fields_of(written);
    if (clears_ownership(sent)) return {};
    auto entries = decode_managed_fields(sent);
    if (entries && !entries->empty()) return std::move(*entries);
  }
  return stored_entries(live);
}

void give_all(const FieldRules& rules, const FieldWriter& writer, Json& created) {
  Json list = Json::array();
  Json fields = created_fields(rules, created);
  if (!fields.empty())
    list.push_back(
        encode_entry(manager_of(writer, WriteOperation::kUpdate), writer.now, std::move(fields)));
  set_managed_fields(created, std::move(list));
}

}  // namespace

Result<void> track_update(const FieldRules& rules, const FieldWriter& writer, const Json* live,
                          Json& written) {
  TRY(check_depth(written, "the object"));
  if (live != nullptr) TRY(check_depth(*live, "the stored object"));
  if (!written.is_object()) return fail(Errc::kCorrupt, "the object is not a JSON object");
  ManagedFields entries = entries_to_start_from(writer, live, written);
  if (live != nullptr && entries.empty()) {
    written = without_managed_fields(std::move(written));
    return {};
  }
  if (entries.empty()) {
    give_all(rules, writer, written);
    return {};
  }
  const Json nothing = Json::object();
  const Json& unset = rules.unset != nullptr ? *rules.unset : nothing;
  // Also by a write that changes nothing else: kube-apiserver cannot compare what another group
  // wrote.
  drop_other_groups(entries, writer);
  FieldComparison difference = owned_difference(rules, live != nullptr ? *live : unset, written);
  if (live != nullptr && difference.same() && same_ownership(entries, stored_entries(live))) {
    set_managed_fields(written, managed_fields_of(*live));
    return {};
  }
  take_fields(entries, difference, nullptr);
  difference.modified.add(std::move(difference.added));
  give_fields(entries, writer, std::move(difference.modified));
  drop_empty_entries(entries);
  cap_updaters(entries);
  set_managed_fields(written, encode_managed_fields(std::move(entries)));
  return {};
}

}  // namespace amdahl::local
