#include "tests/kit/memory_server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/http_message.hpp"
#include "tests/kit/memory_answer.hpp"

namespace amdahl::testkit {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(percent_decode(text.substr(0, end)).value_or(""));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Everything but the parts the server keeps by itself.
Json spec_of(Json object) {
  object.erase("metadata");
  object.erase("status");
  return object;
}

std::vector<std::string> finalizers(const Json& object) {
  const auto list = object["metadata"].find("finalizers");
  return list == object["metadata"].end() || list->is_null()
             ? std::vector<std::string>()
             : list->get<std::vector<std::string>>();
}

}  // namespace

MemoryServer::MemoryServer(boost::asio::any_io_executor executor, Clock& clock)
    : clock_(clock), changed_(std::move(executor)) {}

std::optional<MemoryServer::Target> MemoryServer::parse(std::string_view text) {
  Target target;
  const auto question = std::min(text.find('?'), text.size());
  std::vector<std::string> path = split(text.substr(0, question), '/');
  for (const std::string& pair : split(text.substr(std::min(question + 1, text.size())), '&')) {
    const auto equals = std::min(pair.find('='), pair.size());
    target.query[pair.substr(0, equals)] = pair.substr(std::min(equals + 1, pair.size()));
  }
  const std::size_t root = !path.empty() && path[0] == "api" ? 2 : 3;
  if (path.size() <= root) return std::nullopt;
  const std::string group = root == 2 ? "" : path[1];
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(root));
  if (path[0] == "namespaces" && path.size() > 2) {
    target.ns = path[1];
    path.erase(path.begin(), path.begin() + 2);
  }
  target.collection = group + "/" + path[0];
  if (path.size() > 1) target.name = path[1];
  if (path.size() > 2) target.subresource = path[2];
  return target;
}

kube::Response MemoryServer::handle(const kube::Request& request) {
  const auto target = parse(request.target);
  if (!target) return refuse(404, "NotFound", "the server could not find the requested resource");
  if (request.method == "GET") return target->name.empty() ? list_all(*target) : get(*target);
  const std::uint64_t before = version_;
  Json body = request.body.empty() ? Json::object() : Json::parse(request.body, nullptr, false);
  if (body.is_discarded()) return refuse(400, "BadRequest", "the body is no JSON");
  kube::Response response;
  if (request.method == "POST") response = post(*target, std::move(body));
  if (request.method == "PUT") response = replace(*target, std::move(body));
  if (request.method == "DELETE") response = erase(*target, body);
  if (request.method == "PATCH") {
    const auto type = std::ranges::find(request.headers, "Content-Type", &kube::Header::name);
    response = patch(*target, type == request.headers.end() ? "" : type->value, body);
  }
  if (version_ != before) writes_.push_back(request.method + " " + request.target);
  return response;
}

const Json* MemoryServer::stored(const Target& target) const {
  const auto collection = collections_.find(target.collection);
  if (collection == collections_.end()) return nullptr;
  const auto found = collection->second.find({.ns = target.ns, .name = target.name});
  return found == collection->second.end() ? nullptr : &found->second;
}

kube::Response MemoryServer::get(const Target& target) const {
  const Json* object = stored(target);
  if (object == nullptr)
    return refuse(404, "NotFound",
                  fmt::format("{} \"{}\" not found", target.collection, target.name));
  return answer(200, *object);
}

kube::Response MemoryServer::list_all(const Target& target) const {
  Json items = Json::array();
  if (const auto found = collections_.find(target.collection); found != collections_.end())
    for (const auto& [key, object] : found->second)
      if (selected(object, target.query, target.ns)) items.push_back(object);
  return answer(200, {{"kind", "List"},
                      {"apiVersion", "v1"},
                      {"items", std::move(items)},
                      {"metadata", {{"resourceVersion", std::to_string(version_)}}}});
}

Json MemoryServer::commit(const std::string& collection, const kube::ObjectKey& key, Json before,
                          Json now) {
  const std::string version = std::to_string(++version_);
  Json& versioned = now.is_null() ? before : now;
  versioned["metadata"]["resourceVersion"] = version;
  Json result = versioned;
  if (now.is_null()) {
    collections_[collection].erase(key);
    managers_.erase(collection + "/" + to_string(key));
  } else {
    collections_[collection][key] = now;
  }
  history_.push_back({version_, collection, std::move(before), std::move(now)});
  changed_.notify_all();
  return result;
}

kube::Response MemoryServer::post(const Target& target, Json object) {
  Json& metadata = object["metadata"];
  if (!metadata.contains("name") && metadata.contains("generateName"))
    metadata["name"] =
        fmt::format("{}{:05x}", metadata["generateName"].get<std::string>(), next_uid_);
  Target named = target;
  named.name = meta(object, "name");
  if (named.name.empty()) return refuse(422, "Invalid", "metadata.name: Required value");
  if (stored(named) != nullptr)
    return refuse(409, "AlreadyExists",
                  fmt::format("{} \"{}\" already exists", target.collection, named.name));
  if (!target.ns.empty()) metadata["namespace"] = target.ns;
  metadata["uid"] = fmt::format("uid-{}", next_uid_++);
  metadata["creationTimestamp"] = format_time(clock_.wall());
  metadata["generation"] = 1;
  object.erase("status");  // is set through its own subresource
  note_manager(named, object);
  return answer(201,
                commit(target.collection, {.ns = target.ns, .name = named.name}, nullptr, object));
}

kube::Response MemoryServer::replace(const Target& target, Json next) {
  const Json* found = stored(target);
  if (found == nullptr) return get(target);
  const Json before = *found;
  for (const char* field : {"resourceVersion", "uid"})
    if (const std::string given = meta(next, field); !given.empty() && given != meta(before, field))
      return refuse(
          409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has been modified",
                      target.collection, target.name));
  Json now = target.subresource == "status" ? before : std::move(next);
  if (target.subresource == "status") {
    if (next.contains("status")) now["status"] = next["status"];
  } else {
    now.erase("status");
    if (before.contains("status")) now["status"] = before["status"];
    for (const char* field : {"name", "namespace", "uid", "creationTimestamp", "generation",
                              "deletionTimestamp", "resourceVersion"})
      if (before["metadata"].contains(field)) now["metadata"][field] = before["metadata"][field];
    if (spec_of(now) != spec_of(before))
      now["metadata"]["generation"] = before["metadata"]["generation"].get<int>() + 1;
  }
  const bool deleting = before["metadata"].contains("deletionTimestamp");
  const auto had = finalizers(before);
  for (const std::string& one : finalizers(now))
    if (deleting && std::ranges::find(had, one) == had.end())
      return refuse(422, "Invalid",
                    "metadata.finalizers: Forbidden: no new finalizers can be added");
  if (now == before) return answer(200, before);  // equal writes have no version of their own
  const kube::ObjectKey key{.ns = target.ns, .name = target.name};
  const bool last = deleting && finalizers(now).empty();
  return answer(200, commit(target.collection, key, last ? now : before, last ? Json() : now));
}

kube::Response MemoryServer::patch(const Target& target, std::string_view type,
                                   const Json& change) {
  if (type.starts_with("application/apply-patch")) return apply(target, change);
  const Json* found = stored(target);
  if (found == nullptr) return get(target);
  Json next = *found;
  if (type.starts_with("application/merge-patch")) {
    next.merge_patch(change);
    return replace(target, std::move(next));
  }
  try {
    next = next.patch(change);
  } catch (const Json::exception& error) {
    return refuse(422, "Invalid", error.what());
  }
  return replace(target, std::move(next));
}

kube::Response MemoryServer::erase(const Target& target, const Json& options) {
  const Json* found = stored(target);
  if (found == nullptr) return get(target);
  const Json preconditions = options.value("preconditions", Json::object());
  for (const char* field : {"resourceVersion", "uid"})
    if (preconditions.contains(field) && preconditions[field] != meta(*found, field))
      return refuse(409, "Conflict", fmt::format("Precondition failed: {} does not match", field));
  const kube::ObjectKey key{.ns = target.ns, .name = target.name};
  const Json before = *found;
  if (finalizers(before).empty()) {
    commit(target.collection, key, before, nullptr);
    return answer(200, {{"kind", "Status"}, {"status", "Success"}});
  }
  if (before["metadata"].contains("deletionTimestamp")) return answer(200, before);
  Json now = before;
  now["metadata"]["deletionTimestamp"] = format_time(clock_.wall());
  return answer(200, commit(target.collection, key, before, now));
}

Json MemoryServer::find(const kube::Resource& resource, const kube::ObjectKey& key) const {
  const Json* object = stored(
      {.collection = resource.group + "/" + resource.plural, .ns = key.ns, .name = key.name});
  return object == nullptr ? Json() : *object;
}

std::vector<Json> MemoryServer::list(const kube::Resource& resource) const {
  std::vector<Json> objects;
  if (const auto found = collections_.find(resource.group + "/" + resource.plural);
      found != collections_.end())
    for (const auto& [key, object] : found->second) objects.push_back(object);
  return objects;
}

Json MemoryServer::create(const kube::Resource& resource, Json object) {
  const std::string ns = meta(object, "namespace");
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  const auto made =
      post({.collection = resource.group + "/" + resource.plural, .ns = ns}, std::move(object));
  AMDAHL_CHECK(made.status == 201);
  return Json::parse(made.body);
}

Json MemoryServer::merge(const kube::Resource& resource, const kube::ObjectKey& key,
                         const Json& change, std::string_view subresource) {
  const Target target{.collection = resource.group + "/" + resource.plural,
                      .ns = key.ns,
                      .name = key.name,
                      .subresource = std::string(subresource)};
  const auto merged = patch(target, "application/merge-patch+json", change);
  AMDAHL_CHECK(merged.status == 200);
  return Json::parse(merged.body);
}

void MemoryServer::remove(const kube::Resource& resource, const kube::ObjectKey& key) {
  (void)erase(
      {.collection = resource.group + "/" + resource.plural, .ns = key.ns, .name = key.name},
      Json::object());
}

std::size_t MemoryServer::count_writes(std::string_view part) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      writes_, [&](const std::string& write) { return write.contains(part); }));
}

void MemoryServer::inject(Fault fault, std::string_view method, std::string_view part, int times) {
  faults_.push_back({fault, std::string(method), std::string(part), times});
}

std::optional<Fault> MemoryServer::take_fault(const kube::Request& request) {
  for (auto place = faults_.begin(); place != faults_.end(); ++place) {
    if (place->method != request.method || !request.target.contains(place->part)) continue;
    const Fault fault = place->fault;
    if (--place->times == 0) faults_.erase(place);
    return fault;
  }
  return std::nullopt;
}

void MemoryServer::release_watches() {
  held_.clear();
  changed_.notify_all();
}

void MemoryServer::send_bookmarks() {
  ++bookmarks_;
  changed_.notify_all();
}

void MemoryServer::compact() {
  compacted_ = version_;
}

}  // namespace amdahl::testkit
