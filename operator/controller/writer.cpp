#include "operator/controller/writer.hpp"

#include <algorithm>
#include <charconv>

#include "base/json_dump.hpp"
#include "base/json_load.hpp"
#include "base/rules.hpp"

namespace amdahl::controller {
namespace {

Result<Json> parse_object(const kube::Request& request, const std::string& body) {
  auto object = load_json(body);
  if (!object) object = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!object->is_object())
    return fail(Errc::kCorrupt, "{} {}: the answer is no JSON object", name(request.verb),
                request.subject);
  return *std::move(object);
}

std::string describe(const std::optional<Owner>& owner) {
  if (!owner) return "nobody";
  return fmt::format("{} {} (uid {})", owner->kind, owner->name, owner->uid);
}

Json condition_on(std::string_view version, Json change) {
  change["metadata"]["resourceVersion"] = version;
  return change;
}

std::optional<std::int64_t> recorded_epoch(const kube::ObjectMeta& meta) {
  const auto text = meta.annotations.find(kEpochKey);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_body(const Json& object) {
  return dump_json(object);
}

Json merge_diff(const Json& before, const Json& after) {
  if (!before.is_object() || !after.is_object()) return after;
  Json patch = Json::object();
  for (const auto& [key, value] : before.items())
    if (!after.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : after.items()) {
    const auto old = before.find(key);
    if (old == before.end()) {
      patch[key] = value;
    } else if (*old != value) {
      patch[key] = merge_diff(*old, value);
    }
  }
  return patch;
}

Writer::Writer(kube::Client& client, WriteGate& gate, ObjectKey owner, WriterOptions options)
    : client_(client), gate_(gate), owner_(std::move(owner)), options_(std::move(options)) {}

Task<Result<Json>> Writer::create_child(kube::Resource resource, Json object, OwnerObject owner) {
  if (owner.deleting)
    co_return fail(Errc::kConflict, "{} {} is being deleted and gets no new {}",
                   owner.resource.kind, to_string(owner.key), resource.kind);
  CO_TRY(set_owner(object, owner));
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  object["metadata"]["labels"][kEpochKey] = std::to_string(options_.epoch.transitions);
  const ObjectKey key{.ns = object["metadata"].value("namespace", ""),
                      .name = object["metadata"]["name"].get<std::string>()};
  if (!rule_on(Rule::kW1)) {  // what controllers did before they knew better
    object["metadata"].erase("name");
    object["metadata"]["generateName"] = key.name + "-";
  }
  auto created = co_await write(
      resource,
      kube::create_request(resource, key.ns, key.name, to_body(object), options_.field_manager));
  if (created || created.error().code != Errc::kAlreadyExists) co_return created;
  co_return co_await existing_child(std::move(resource), key, std::move(owner));
}

Task<Result<Json>> Writer::existing_child(kube::Resource resource, ObjectKey key,
                                          OwnerObject owner) {
  CO_TRY(Json found, co_await read_live(resource, key));
  const LiveObject live = live_object(found);
  if (!live.controller || live.controller->uid != owner.uid)
    co_return fail(Errc::kConflict,
                   "create {} {}: the name is taken by an object of {}, and {} {} (uid {}) wants "
                   "it. Delete or rename one of them; it is not adopted",
                   resource.kind, to_string(key), describe(live.controller), owner.resource.kind,
                   to_string(owner.key), owner.uid);
  if (live.deleting)
    co_return fail(Errc::kConflict, "create {} {}: the old one is still being deleted",
                   resource.kind, to_string(key));
  gate_.note(owner_, resource.kind, live.version, client_.clock().monotonic());
  co_return found;
}

Task<Result<DeleteOutcome>> Writer::delete_child(DeleteChild what) {
  if (!rule_on(Rule::kW3)) {  // by name, whatever it is by now
    what.uid.clear();
    co_return co_await delete_exactly(what, "");
  }
  if (!what.version.empty()) {
    auto deleted = co_await delete_exactly(what, what.version);
    if (deleted || deleted.error().code != Errc::kConflict) co_return deleted;
  }
  co_return co_await delete_live(what);
}

Task<Result<DeleteOutcome>> Writer::delete_live(DeleteChild what) {
  auto found = co_await read_live(what.resource, what.key);
  if (!found && found.error().code == Errc::kNotFound) co_return DeleteOutcome::kGone;
  if (!found) co_return std::unexpected<Error>(std::move(found).error());
  const LiveObject live = live_object(*found);
  if (live.uid != what.uid) co_return DeleteOutcome::kNotOurs;
  if (live.deleting) co_return DeleteOutcome::kDeleting;
  if (what.still_wanted && what.still_wanted(*found)) co_return DeleteOutcome::kStillWanted;
  co_return co_await delete_exactly(what, live.version);
}

Task<Result<DeleteOutcome>> Writer::delete_exactly(DeleteChild what, std::string version) {
  const kube::DeleteOptions options{.uid = what.uid,
                                    .version = std::move(version),
                                    .grace_seconds = what.grace_seconds,
                                    .propagation = what.propagation};
  auto deleted =
      co_await write(what.resource, kube::delete_request(what.resource, what.key, options));
  if (deleted) co_return DeleteOutcome::kDeleted;
  if (deleted.error().code == Errc::kNotFound) co_return DeleteOutcome::kGone;
  co_return std::unexpected<Error>(std::move(deleted).error());
}

Task<Result<Json>> Writer::apply_object(ApplyObject what) {
  Json& object = what.object;
  if (!object.is_object() || !object["metadata"].is_object())
    co_return fail(Errc::kInvalid, "apply {}: no object with metadata", what.resource.kind);
  object["apiVersion"] = what.resource.api_version();
  object["kind"] = what.resource.kind;
  // The UID is a precondition: a name that was recreated by somebody else is not taken over.
  if (!what.uid.empty()) object["metadata"]["uid"] = what.uid;
  const ObjectKey key{.ns = object["metadata"].value("namespace", ""),
                      .name = object["metadata"].value("name", "")};
  co_return co_await write(what.resource,
                           kube::patch_request(what.resource, key, to_body(object),
                                               {.kind = kube::PatchKind::kApply,
                                                .field_manager = options_.field_manager,
                                                .force = what.force,
                                                .subresource = ""}));
}

Task<Result<bool>> Writer::update_status(StatusUpdate what) {
  if (what.before == what.after) co_return false;
  const Json change = condition_on(what.version, {{"status", merge_diff(what.before, what.after)}});
  CO_TRY(co_await write(what.resource, kube::patch_request(what.resource, what.key, to_body(change),
                                                           {.kind = kube::PatchKind::kMerge,
                                                            .field_manager = options_.field_manager,
                                                            .force = false,
                                                            .subresource = "status"})));
  co_return true;
}

Task<Result<Json>> Writer::patch(kube::Resource resource, ObjectKey key, std::string version,
                                 Json change) {
  if (version.empty())
    co_return fail(Errc::kInvalid, "patch {} {}: needs the version it was decided upon",
                   resource.kind, to_string(key));
  const std::string body = to_body(condition_on(version, std::move(change)));
  co_return co_await write(resource, kube::patch_request(resource, key, body,
                                                         {.kind = kube::PatchKind::kMerge,
                                                          .field_manager = options_.field_manager,
                                                          .force = false,
                                                          .subresource = ""}));
}

Task<Result<bool>> Writer::add_finalizer(kube::Resource resource, kube::ObjectMeta seen,
                                         std::string finalizer) {
  if (std::ranges::find(seen.finalizers, finalizer) != seen.finalizers.end()) co_return false;
  if (seen.deleted)
    co_return fail(Errc::kConflict, "{} {} is being deleted: finalizer {} comes too late",
                   resource.kind, to_string(seen.key()), finalizer);
  Json operations = Json::array(
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", seen.version}}});
  if (seen.finalizers.empty()) {
    operations.push_back(
        {{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", Json::array({finalizer})}});
  } else {
    operations.push_back({{"op", "add"}, {"path", "/metadata/finalizers/-"}, {"value", finalizer}});
  }
  co_return co_await patch_finalizers(std::move(resource), seen.key(), std::move(operations));
}

Task<Result<bool>> Writer::remove_finalizer(kube::Resource resource, kube::ObjectMeta seen,
                                            std::string finalizer) {
  const auto place = std::ranges::find(seen.finalizers, finalizer);
  if (place == seen.finalizers.end()) co_return false;
  const std::string path = fmt::format("/metadata/finalizers/{}", place - seen.finalizers.begin());
  // Only its own presence is tested: others may come and go while ours waits for cleanup.
  Json operations = Json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", seen.uid}},
                                 {{"op", "test"}, {"path", path}, {"value", finalizer}},
                                 {{"op", "remove"}, {"path", path}}});
  // The object goes with its last finalizer: the server need not work out who owns which field.
  if (seen.deleted && seen.finalizers.size() == 1)
    operations.push_back({{"op", "add"},
                          {"path", "/metadata/managedFields"},
                          {"value", Json::array({Json::object()})}});
  auto removed = co_await patch_finalizers(std::move(resource), seen.key(), std::move(operations));
  if (!removed && removed.error().code == Errc::kNotFound) co_return false;
  co_return removed;
}

Task<Result<bool>> Writer::patch_finalizers(kube::Resource resource, ObjectKey key,
                                            Json operations) {
  auto patched =
      co_await write(resource, kube::patch_request(resource, key, to_body(operations),
                                                   {.kind = kube::PatchKind::kJson,
                                                    .field_manager = options_.field_manager,
                                                    .force = false,
                                                    .subresource = ""}));
  if (patched) co_return true;
  Error error = std::move(patched).error();
  // The server answers a failed test with "invalid"; for us it means: look again.
  if (error.code == Errc::kInvalid) error.code = Errc::kConflict;
  co_return std::unexpected<Error>(std::move(error));
}

Task<Result<bool>> Writer::claim_epoch(kube::Resource resource, kube::ObjectMeta seen) {
  const std::int64_t recorded = recorded_epoch(seen).value_or(-1);
  if (recorded == options_.epoch.transitions) co_return false;
  if (recorded > options_.epoch.transitions)
    co_return fail(Errc::kFenced, "{} {} belongs to epoch {}, and ours is {}", resource.kind,
                   to_string(seen.key()), recorded, options_.epoch.transitions);
  Json change;
  change["metadata"]["annotations"][kEpochKey] = std::to_string(options_.epoch.transitions);
  const ObjectKey key = seen.key();
  CO_TRY(co_await patch(std::move(resource), key, seen.version, std::move(change)));
  co_return true;
}

Task<Result<Json>> Writer::read_live(kube::Resource resource, ObjectKey key) {
  CO_TRY(kube::Request request, kube::get_request(resource, key));
  CO_TRY(kube::Response response, co_await client_.send(request));
  co_return parse_object(request, response.body);
}

Task<Result<Json>> Writer::write(kube::Resource resource, Result<kube::Request> built) {
  CO_TRY(kube::Request request, std::move(built));
  if (request.body.size() > kObjectBytesMax)
    co_return fail(Errc::kTooLarge, "{} {}: {} bytes, and the limit is {}. Make it smaller",
                   name(request.verb), request.subject, request.body.size(), kObjectBytesMax);
  kube::answer_with_metadata(request);
  CO_TRY(kube::Response response, co_await client_.send(request));
  CO_TRY(Json object, parse_object(request, response.body));
  const LiveObject live = live_object(object);
  // A delete may be answered with a Status, which has no version: then W3 guards the next step.
  if (!live.version.empty())
    gate_.note(owner_, resource.kind, live.version, client_.clock().monotonic());
  co_return object;
}

}  // namespace amdahl::controller
