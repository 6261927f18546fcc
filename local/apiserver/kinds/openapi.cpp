#include "local/apiserver/kinds/openapi.hpp"

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/builtin_bytes.hpp"
#include "local/apiserver/kinds/digest.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

constexpr std::string_view kRef = "#/components/schemas/";
constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

std::string root_of(const Kind& kind) {
  return (kind.group.empty() ? "/api/" : "/apis/") + kind.api_version();
}

Json kind_of(const Kind& kind) {
  return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

// "example.com" and v1 Widget is com.example.v1.Widget.
std::string custom_name(const Kind& kind) {
  std::string reversed;
  std::string_view group = kind.group;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    reversed += group.substr(dot == std::string_view::npos ? 0 : dot + 1);
    reversed += '.';
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return reversed + kind.version + "." + kind.kind;
}

Json parameter(std::string_view name, std::string_view type) {
  return {{"name", name}, {"in", "query"}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
}

Json reference(const std::string& name) {
  return {{"$ref", std::string(kRef) + name}};
}

// kubectl apply reads here whether a kind knows strategic merge patches; custom ones do not.
Json body_of(const Kind& kind, const std::string& schema, std::string_view action) {
  Json content = Json::object();
  if (action != "patch") {
    content["*/*"] = {{"schema", reference(schema)}};
    return {{"content", std::move(content)}};
  }
  for (const char* type : {"application/apply-patch+yaml", "application/json-patch+json",
                           "application/merge-patch+json"}) {
    content[type] = {{"schema", {{"type", "object"}}}};
  }
  if (kind.builtin) {
    content["application/strategic-merge-patch+json"] = {{"schema", {{"type", "object"}}}};
  }
  return {{"content", std::move(content)}, {"required", true}};
}

// verb: of Kind::verbs; action: as Kubernetes calls it in x-kubernetes-action.
Json operation(const Kind& kind, const std::string& schema, std::string_view action) {
  Json entry = {{"operationId", std::string(action) + kind.kind + kind.version},
                {"x-kubernetes-action", action},
                {"x-kubernetes-group-version-kind", kind_of(kind)},
                {"responses",
                 {{"200",
                   {{"description", "OK"},
                    {"content", {{"application/json", {{"schema", reference(schema)}}}}}}}}}};
  const bool writes = action == "post" || action == "put" || action == "patch";
  if (writes) {
    entry["parameters"] =
        Json::array({parameter("dryRun", "string"), parameter("fieldManager", "string"),
                     parameter("fieldValidation", "string")});
    if (action == "patch") entry["parameters"].push_back(parameter("force", "boolean"));
    entry["requestBody"] = body_of(kind, schema, action);
  }
  if (action == "delete") {
    entry["parameters"] =
        Json::array({parameter("dryRun", "string"), parameter("gracePeriodSeconds", "integer"),
                     parameter("propagationPolicy", "string")});
    entry["requestBody"] = {
        {"content", {{"*/*", {{"schema", reference(std::string(kDeleteOptions))}}}}}};
  }
  return entry;
}

void add_paths(Json& paths, const Kind& kind, const std::string& schema) {
  const std::string scoped = kind.namespaced ? "/namespaces/{namespace}/" : "/";
  const std::string collection = root_of(kind) + scoped + kind.plural;
  const std::string item = collection + "/{name}";
  if (kind.can("list")) {
    paths[collection]["get"] = operation(kind, schema, "list");
    if (kind.namespaced) {
      paths[root_of(kind) + "/" + kind.plural]["get"] = operation(kind, schema, "list");
    }
  }
  if (kind.can("create")) paths[collection]["post"] = operation(kind, schema, "post");
  constexpr std::array<std::array<std::string_view, 3>, 4> kItem = {
      {{"get", "get", "get"},
       {"update", "put", "put"},
       {"patch", "patch", "patch"},
       {"delete", "delete", "delete"}}};
  for (const auto& [verb, method, action] : kItem) {
    if (kind.can(verb)) paths[item][std::string(method)] = operation(kind, schema, action);
  }
  if (!kind.has_status) return;
  for (const std::string method : {"get", "put", "patch"}) {
    paths[item + "/status"][method] = operation(kind, schema, method);
  }
}

// A stored schema in OpenAPI's words; what it refers to is added to `found`.
Json published(const Json& schema, std::set<std::string>& found, int depth) {
  if (!schema.is_object() || depth > kStructureDepthMax) return schema;
  Json entry = Json::object();
  for (const auto& [name, value] : schema.items()) {
    if (name.starts_with("x-amdahl-")) continue;
    if (name == "$ref" && value.is_string()) {
      const auto target = value.get<std::string>();
      found.insert(target);
      // Nothing may stand beside a reference.
      if (schema.size() == 1) {
        entry = reference(target);
      } else {
        entry["allOf"] = Json::array({reference(target)});
      }
    } else if (name == "properties") {
      for (const auto& [field, property] : value.items()) {
        entry["properties"][field] = published(property, found, depth + 1);
      }
    } else if (name == "items" || name == "additionalProperties") {
      entry[name] = published(value, found, depth + 1);
    } else {
      entry[name] = value;
    }
  }
  return entry;
}

Json custom_schema(const Kind& kind, std::set<std::string>& found) {
  Json schema = kind.schema == nullptr ? Json{{"type", "object"}} : *kind.schema;
  if (!schema.is_object()) schema = {{"type", "object"}};
  found.insert(std::string(kObjectMeta));
  if (!schema["properties"].is_object()) schema["properties"] = Json::object();
  Json& properties = schema["properties"];
  properties["apiVersion"] = {{"type", "string"}, {"description", "Group and version."}};
  properties["kind"] = {{"type", "string"}, {"description", "The kind of the object."}};
  properties["metadata"] = {{"allOf", Json::array({reference(std::string(kObjectMeta))})},
                            {"description", "Name, labels, owners and the like."}};
  schema["x-kubernetes-group-version-kind"] = Json::array({kind_of(kind)});
  return schema;
}

void add_reachable(Json& schemas, const BuiltinSchemas& known, std::set<std::string> todo) {
  while (!todo.empty()) {
    const std::string name = *todo.begin();
    todo.erase(todo.begin());
    const Json* schema = known.named(name);
    if (schema == nullptr || schemas.contains(name)) continue;
    std::set<std::string> found;
    schemas[name] = published(*schema, found, 0);
    todo.merge(found);
  }
}

// Changes when the document does: what it is made of, not the document, is looked at.
std::string document_hash(const KindTable& kinds, const std::string& group,
                          const std::string& version) {
  std::string all(builtin_schema_bytes());
  for (const KindPtr& kind : kinds.of(group, version)) {
    all += kind->kind + "/" + kind->plural + (kind->has_status ? "+" : "-");
    if (kind->schema != nullptr) {
      all += kind->schema->dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  return sha512_hex(all);
}

}  // namespace

Json openapi_index(const KindTable& kinds) {
  Json paths = Json::object();
  const auto add = [&](const std::string& path, const std::string& group,
                       const std::string& version) {
    paths[path] = {{"serverRelativeURL",
                    "/openapi/v3/" + path + "?hash=" + document_hash(kinds, group, version)}};
  };
  add("api/v1", "", "v1");
  for (const std::string& group : kinds.groups()) {
    for (const std::string& version : kinds.versions(group)) {
      add("apis/" + group + "/" + version, group, version);
    }
  }
  return {{"paths", std::move(paths)}};
}

std::optional<Json> openapi_document(const KindTable& kinds, const BuiltinSchemas& schemas,
                                     std::string_view group, std::string_view version) {
  const std::vector<KindPtr> served = kinds.of(group, version);
  if (served.empty()) return std::nullopt;
  Json paths = Json::object();
  Json published_schemas = Json::object();
  std::set<std::string> todo = {std::string(kDeleteOptions)};
  for (const KindPtr& kind : served) {
    std::string name(schemas.name(kind->group, kind->version, kind->kind));
    if (kind->builtin) {
      todo.insert(name);
    } else {
      name = custom_name(*kind);
      published_schemas[name] = custom_schema(*kind, todo);
    }
    add_paths(paths, *kind, name);
  }
  add_reachable(published_schemas, schemas, std::move(todo));
  for (const KindPtr& kind : served) {
    const std::string name(schemas.name(kind->group, kind->version, kind->kind));
    if (kind->builtin && published_schemas.contains(name)) {
      published_schemas[name]["description"] =
          kind->kind + " of " + kind->api_version() + ", structured as in Kubernetes 1.34.";
    }
  }
  return Json{{"openapi", "3.0.0"},
              {"info", {{"title", "Kubernetes"}, {"version", "1.34"}}},
              {"paths", std::move(paths)},
              {"components", {{"schemas", std::move(published_schemas)}}}};
}

}  // namespace amdahl::local
