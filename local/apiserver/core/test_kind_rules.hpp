// A handful of kinds for tests: enough of each to see what the verbs do with them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "local/apiserver/core/kind_rules.hpp"
#include "local/apiserver/core/metadata.hpp"

namespace amdahl::local {

class TestKindRules : public KindRules {
 public:
  TestKindRules() {
    add({.version = "v1",
         .plural = "namespaces",
         .kind = "Namespace",
         .namespaced = false,
         .has_status = true,
         .unconditional_update = true,
         .returns_deleted = true});
    add({.version = "v1",
         .plural = "nodes",
         .kind = "Node",
         .namespaced = false,
         .unconditional_update = true});
    add({.version = "v1",
         .plural = "configmaps",
         .kind = "ConfigMap",
         .unconditional_update = true});
    add({.version = "v1",
         .plural = "pods",
         .kind = "Pod",
         .has_status = true,
         .unconditional_update = true,
         .returns_deleted = true,
         .graceful_delete = true});
    add({.group = "coordination.k8s.io",
         .version = "v1",
         .plural = "leases",
         .kind = "Lease",
         .create_on_update = true});
    add({.group = "example.com",
         .version = "v1",
         .plural = "widgets",
         .kind = "Widget",
         .custom = true,
         .has_status = true,
         .has_scale = true});
    add({.group = "example.com",
         .version = "v2",
         .plural = "widgets",
         .kind = "Widget",
         .custom = true,
         .has_status = true,
         .has_scale = true});
    add({.group = "authentication.k8s.io",
         .version = "v1",
         .plural = "tokenreviews",
         .kind = "TokenReview",
         .namespaced = false,
         .stored = false});
    add({.version = "v1", .plural = "events", .kind = "Event", .ttl = std::chrono::hours{1}});
    add({.group = "apiextensions.k8s.io",
         .version = "v1",
         .plural = "customresourcedefinitions",
         .kind = "CustomResourceDefinition",
         .namespaced = false,
         .observed = true});
  }

  const ResourceInfo* find(std::string_view group, std::string_view version,
                           std::string_view plural) const override {
    for (const ResourceInfo& one : kinds_)
      if (one.group == group && one.version == version && one.plural == plural) return &one;
    return nullptr;
  }
  const ResourceInfo* find_kind(std::string_view api_version,
                                std::string_view kind) const override {
    for (const ResourceInfo& one : kinds_)
      if (one.api_version() == api_version && one.kind == kind) return &one;
    return nullptr;
  }
  const ResourceInfo* find_storage(std::string_view storage) const override {
    for (const ResourceInfo& one : kinds_)
      if (one.storage == storage) return &one;
    return nullptr;
  }
  void changed(const ResourceInfo&, std::string_view name, const Json* object) override {
    seen.push_back((object != nullptr ? "+" : "-") + std::string(name));
  }

  Json convert(const ResourceInfo& to, Json object) const override {
    const bool renamed = to.plural == "widgets" && object.contains("spec");
    const char* from = to.version == "v1" ? "color" : "colour";
    if (renamed && object["spec"].contains(from)) {
      object["spec"][to.version == "v1" ? "colour" : "color"] = object["spec"][from];
      object["spec"].erase(from);
    }
    object["apiVersion"] = to.api_version();
    return object;
  }
  Outcome<std::vector<std::string>> decode(const ResourceInfo&, Json& object) const override {
    std::vector<std::string> dropped;
    if (object.erase("bogus") > 0) dropped.emplace_back("unknown field \"bogus\"");
    return dropped;
  }
  void apply_defaults(const ResourceInfo& info, Json& object) const override {
    if (info.plural != "pods") return;
    Json& spec = object["spec"];
    if (!spec.is_object()) spec = Json::object();
    if (!spec.contains("terminationGracePeriodSeconds")) spec["terminationGracePeriodSeconds"] = 30;
  }
  void prepare_create(const ResourceInfo& info, Json& object, WallTime) const override {
    if (info.has_status) object.erase("status");
    if (info.plural == "namespaces") {
      object["spec"] = {{"finalizers", {"kubernetes"}}};
      object["status"] = {{"phase", "Active"}};
    }
    if (info.plural == "pods") object["status"] = {{"phase", "Pending"}};
    if (info.custom || info.plural == "pods") metadata_of(object)["generation"] = 1;
  }
  void prepare_update(const ResourceInfo& info, std::string_view subresource, Json& object,
                      const Json& old) const override {
    if (!info.has_status) return;
    if (subresource == "status") {
      Json changed = old;
      changed["metadata"]["resourceVersion"] = object["metadata"].value("resourceVersion", "");
      if (object.contains("status")) changed["status"] = object["status"];
      object = std::move(changed);
      return;
    }
    if (info.plural == "namespaces") object["spec"] = old["spec"];
    object.erase("status");
    if (old.contains("status")) object["status"] = old["status"];
    const bool moved = object.value("spec", Json()) != old.value("spec", Json());
    if (moved && old["metadata"].contains("generation"))
      object["metadata"]["generation"] = old["metadata"]["generation"].get<int>() + 1;
  }
  std::vector<Cause> validate(const ResourceInfo&, std::string_view, const Json& object,
                              const Json*) const override {
    const auto spec = object.find("spec");
    if (spec == object.end() || !spec->is_object()) return {};
    if (spec->value("size", Json(1)) != Json(-1)) return {};
    return {{.reason = std::string(kCauseInvalid),
             .message = "Invalid value: -1: must not be negative",
             .field = "spec.size"}};
  }

  Outcome<Json> patch(const ResourceInfo&, PatchType type, const Json& live,
                      const Json& patch) const override {
    if (type != PatchType::kJson) {
      Json merged = live;
      merged.merge_patch(patch);
      return merged;
    }
    try {
      return live.patch(patch);
    } catch (const Json::exception& error) {
      return Status{.code = 422, .reason = "Invalid", .message = error.what()};
    }
  }
  Outcome<Json> apply(const ResourceInfo&, const Json* live, const Json& config,
                      const FieldEdit& edit) const override {
    Json merged = live != nullptr ? *live : Json::object();
    merged.merge_patch(config);
    merged["metadata"]["managedFields"] = {{{"manager", edit.manager}, {"operation", "Apply"}}};
    return merged;
  }
  void track(const ResourceInfo&, const Json* old, Json& object,
             const FieldEdit& edit) const override {
    if (edit.manager == "timekeeper")
      metadata_of(object)["managedFields"] = {
          {{"manager", edit.manager}, {"time", format_time(edit.now)}}};
    else if (old != nullptr && metadata_of(*old).contains("managedFields"))
      metadata_of(object)["managedFields"] = metadata_of(*old)["managedFields"];
  }

  PackedMap fields(const ResourceInfo& info, const Json& object) const override {
    if (info.plural != "pods") return {};
    const std::string phase = text_at(object.value("status", Json::object()), "phase");
    const std::string node = text_at(object.value("spec", Json::object()), "nodeName");
    return {{"status.phase", phase}, {"spec.nodeName", node}};
  }
  bool selectable(const ResourceInfo& info, std::string_view field) const override {
    return info.plural == "pods" && (field == "status.phase" || field == "spec.nodeName");
  }

  Json table_columns(const ResourceInfo&) const override {
    return {{{"name", "Name"}, {"type", "string"}}};
  }
  Json table_cells(const ResourceInfo&, const Json& object, WallTime) const override {
    return {text_at(metadata_of(object), "name")};
  }
  std::optional<ScalePaths> scale_paths(const ResourceInfo& info) const override {
    if (!info.has_scale) return std::nullopt;
    return ScalePaths{.spec_replicas = "/spec/replicas",
                      .status_replicas = "/status/replicas",
                      .selector = "/status/selector"};
  }
  bool reviews(const ResourceInfo&, std::string_view) const override { return false; }
  Outcome<Json> answer_review(const Review& review) const override {
    Json answer = *review.object;
    answer["status"] = {{"authenticated", true}, {"user", {{"username", review.user->name}}}};
    return answer;
  }
  std::optional<Document> document(std::string_view path, std::string_view) const override {
    if (path != "/version") return std::nullopt;
    return Document{.body = R"({"major":"1","minor":"34"})"};
  }

  std::vector<std::string> seen = {};  // what changed() was told

 private:
  void add(ResourceInfo info) {
    info.list_kind = info.kind + "List";
    info.storage = info.group.empty() ? info.plural : info.plural + "." + info.group;
    kinds_.push_back(std::move(info));
  }
  std::vector<ResourceInfo> kinds_;
};

}  // namespace amdahl::local
