#include "local/apiserver/patch/managed_fields.hpp"

#include <algorithm>
#include <tuple>

namespace amdahl::local {
namespace {

constexpr const char* kApplyName = "Apply";
constexpr const char* kUpdateName = "Update";

Result<std::string> text_member(const Json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end() || found->is_null()) return std::string();
  if (!found->is_string()) return fail(Errc::kCorrupt, "managedFields: {} is not a string", name);
  return found->get<std::string>();
}

Result<FieldManager> decode_manager(const Json& entry) {
  FieldManager manager;
  TRY(manager.name, text_member(entry, "manager"));
  TRY(const std::string operation, text_member(entry, "operation"));
  if (operation != kApplyName && operation != kUpdateName)
    return fail(Errc::kCorrupt, "operation must be `Apply` or `Update`");
  manager.operation = operation == kApplyName ? WriteOperation::kApply : WriteOperation::kUpdate;
  TRY(manager.api_version, text_member(entry, "apiVersion"));
  if (manager.api_version.empty()) return fail(Errc::kCorrupt, "apiVersion must not be empty");
  TRY(manager.subresource, text_member(entry, "subresource"));
  return manager;
}

Result<ManagedEntry> decode_entry(const Json& json, std::size_t index) {
  if (!json.is_object()) return fail(Errc::kCorrupt, "managedFields: entry is not an object");
  ManagedEntry entry;
  TRY(entry.manager, decode_manager(json));
  TRY(const std::string type, text_member(json, "fieldsType"));
  if (type.empty())
    return fail(Errc::kCorrupt, "missing fieldsType in managed fields entry {}", index);
  if (type != "FieldsV1")
    return fail(Errc::kCorrupt, "invalid fieldsType \"{}\" in managed fields entry {}", type,
                index);
  TRY(const std::string time, text_member(json, "time"));
  if (!time.empty()) {
    TRY(entry.time, parse_time(time));
  }
  const auto fields = json.find("fieldsV1");
  if (fields != json.end() && !fields->is_null()) {
    TRY(entry.fields, FieldSet::from_fields_v1(*fields));
  }
  return entry;
}

// Times count in seconds, as they are written.
std::int64_t seconds_of(const ManagedEntry& entry) {
  if (!entry.time) return 0;
  return std::chrono::floor<std::chrono::seconds>(*entry.time).time_since_epoch().count();
}

bool written_before(const ManagedEntry& one, const ManagedEntry& two) {
  const auto key = [](const ManagedEntry& entry) {
    return std::tuple<WriteOperation, std::int64_t, const std::string&, const std::string&,
                      const std::string&>(entry.manager.operation, seconds_of(entry),
                                          entry.manager.name, entry.manager.api_version,
                                          entry.manager.subresource);
  };
  return key(one) < key(two);
}

// Where updater `i` may be merged to: the bucket of its version, or the oldest entry of it.
std::optional<std::size_t> bucket_for(const ManagedFields& entries, std::size_t i) {
  const FieldManager& self = entries[i].manager;
  if (self.operation != WriteOperation::kUpdate) return std::nullopt;
  std::optional<std::size_t> oldest;
  std::optional<std::size_t> ancient;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const FieldManager& other = entries[k].manager;
    if (k == i || other.operation != self.operation || other.api_version != self.api_version)
      continue;
    if (k < i && !oldest) oldest = k;
    if (other.name == kAncientManager && other.subresource.empty()) ancient = k;
  }
  return oldest && ancient ? ancient : oldest;
}

}  // namespace

bool FieldManager::same_entry(const FieldManager& other) const {
  return name == other.name && operation == other.operation && subresource == other.subresource &&
         (operation == WriteOperation::kApply || api_version == other.api_version);
}

std::string shown_manager(const FieldManager& manager) {
  std::string text = fmt::format("\"{}\"", manager.name);
  if (!manager.subresource.empty())
    text += fmt::format(" with subresource \"{}\"", manager.subresource);
  if (manager.operation == WriteOperation::kUpdate)
    text += fmt::format(" using {}", manager.api_version);
  return text;
}

Result<ManagedFields> decode_managed_fields(const Json& list) {
  ManagedFields entries;
  if (list.is_null()) return entries;
  if (!list.is_array()) return fail(Errc::kCorrupt, "managedFields is not a list");
  if (list.size() > kManagedEntriesMax)
    return fail(Errc::kTooLarge, "managedFields has more than {} entries", kManagedEntriesMax);
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY(ManagedEntry entry, decode_entry(list[i], i));
    ManagedEntry* const known = find_entry(entries, entry.manager);
    if (known != nullptr)
      *known = std::move(entry);
    else
      entries.push_back(std::move(entry));
  }
  return entries;
}

Json encode_entry(const FieldManager& manager, const std::optional<WallTime>& time,
                  Json fields_v1) {
  Json json = Json::object();
  json["apiVersion"] = manager.api_version;
  json["fieldsType"] = "FieldsV1";
  json["fieldsV1"] = std::move(fields_v1);
  json["manager"] = manager.name;
  json["operation"] = manager.operation == WriteOperation::kApply ? kApplyName : kUpdateName;
  if (!manager.subresource.empty()) json["subresource"] = manager.subresource;
  if (time) json["time"] = format_time(*time);
  return json;
}

Json encode_managed_fields(ManagedFields entries) {
  std::ranges::sort(entries, written_before);
  Json list = Json::array();
  for (const ManagedEntry& entry : entries)
    list.push_back(encode_entry(entry.manager, entry.time, entry.fields.to_fields_v1()));
  return list;
}

ManagedEntry* find_entry(ManagedFields& entries, const FieldManager& manager) {
  const auto found = std::ranges::find_if(
      entries, [&](const ManagedEntry& entry) { return entry.manager.same_entry(manager); });
  return found == entries.end() ? nullptr : &*found;
}

void drop_empty_entries(ManagedFields& entries) {
  std::erase_if(entries, [](const ManagedEntry& entry) { return entry.fields.empty(); });
}

void cap_updaters(ManagedFields& entries) {
  std::ranges::sort(entries, written_before);
  auto updaters = static_cast<std::size_t>(
      std::ranges::count(entries, WriteOperation::kUpdate,
                         [](const ManagedEntry& entry) { return entry.manager.operation; }));
  // Oldest first: an entry joins the bucket of its version when an older one of that version
  // exists.
  for (std::size_t i = 0; i < entries.size() && updaters > kUpdateManagersMax;) {
    const auto bucket = bucket_for(entries, i);
    if (!bucket) {
      ++i;
      continue;
    }
    ManagedEntry& target = entries[*bucket];
    target.manager.name = kAncientManager;
    target.manager.subresource.clear();
    target.fields = target.fields.united(entries[i].fields);
    target.time = entries[i].time;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    --updaters;
  }
}

bool same_ownership(const ManagedFields& one, const ManagedFields& two) {
  return one.size() == two.size() && std::ranges::all_of(one, [&](const ManagedEntry& entry) {
           return std::ranges::any_of(two, [&](const ManagedEntry& other) {
             return other.manager == entry.manager && other.fields == entry.fields;
           });
         });
}

}  // namespace amdahl::local
