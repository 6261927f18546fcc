// Who set which field in the server in memory, and server-side apply on top of it.
#include <fmt/format.h>

#include "tests/kit/memory_answer.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::testkit {
namespace {

void collect_leaves(const Json& value, const std::string& path, std::map<std::string, Json>& into) {
  static const std::set<std::string> kIdentity = {"/apiVersion",    "/kind",
                                                  "/metadata/name", "/metadata/namespace",
                                                  "/metadata/uid",  "/metadata/resourceVersion"};
  if (kIdentity.contains(path)) return;
  if (!value.is_object()) {
    into[path] = value;
    return;
  }
  for (const auto& [key, child] : value.items()) {
    std::string escaped;  // a JSON pointer
    for (const char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    collect_leaves(child, path + "/" + escaped, into);
  }
}

}  // namespace

MemoryServer::Managers& MemoryServer::managers_of(const Target& target) {
  return managers_[target.collection + "/" + to_string(kube::ObjectKey{target.ns, target.name})];
}

void MemoryServer::note_manager(const Target& target, const Json& object) {
  const auto manager = target.query.find("fieldManager");
  if (manager == target.query.end()) return;
  std::map<std::string, Json> leaves;
  collect_leaves(object, "", leaves);
  for (const auto& [path, value] : leaves) managers_of(target)[path] = manager->second;
}

kube::Response MemoryServer::apply(const Target& target, Json intent) {
  const std::string manager =
      target.query.contains("fieldManager") ? target.query.at("fieldManager") : "";
  const bool force = target.query.contains("force");
  const Json* found = stored(target);
  if (found == nullptr && !meta(intent, "uid").empty())
    return refuse(409, "Conflict", "uid mismatch: no existing object was found");
  if (found == nullptr) return post(target, std::move(intent));
  std::map<std::string, Json> leaves;
  collect_leaves(intent, "", leaves);
  Managers& managers = managers_of(target);
  Json next = *found;
  for (const auto& [path, value] : leaves) {
    const Json::json_pointer pointer(path);
    const bool differs = !next.contains(pointer) || next[pointer] != value;
    const auto owner = managers.find(path);
    if (differs && !force && owner != managers.end() && owner->second != manager)
      return refuse(409, "Conflict",
                    fmt::format("Apply failed with 1 conflict: conflict with \"{}\": {}",
                                owner->second, path));
  }
  for (const auto& [path, owner] : managers)  // what this manager no longer wants is pruned
    if (owner == manager && !leaves.contains(path))
      next = next.patch({{{"op", "remove"}, {"path", path}}});
  std::erase_if(managers, [&](const auto& entry) {
    return entry.second == manager && !leaves.contains(entry.first);
  });
  for (const auto& [path, value] : leaves) {
    next[Json::json_pointer(path)] = value;
    managers[path] = manager;
  }
  if (const std::string uid = meta(intent, "uid"); !uid.empty()) next["metadata"]["uid"] = uid;
  return replace(target, std::move(next));
}

}  // namespace amdahl::testkit
