// The schema of a CRD in this project's style, abridged: what tests of this folder share.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

inline constexpr const char* kTrainingJobSchema = R"json({
  "type": "object",
  "required": ["spec"],
  "properties": {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
    "spec": {
      "type": "object",
      "required": ["nodes", "runtime", "template"],
      "properties": {
        "runtime": {"type": "string", "enum": ["Torchrun", "DeepSpeed", "Python"]},
        "nodes": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 4096},
        "family": {"type": "string", "minLength": 1, "maxLength": 40,
                   "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        "template": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "suspend": {"type": "boolean", "default": false},
        "cancel": {"type": "boolean", "default": false},
        "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 5},
                   "maxProperties": 3},
        "port": {"x-kubernetes-int-or-string": true,
                 "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "checkpoint": {
          "type": "object",
          "default": {},
          "properties": {
            "interval": {"type": "string", "default": "Auto"},
            "keepLast": {"type": "integer", "default": 3, "minimum": 0}
          }
        },
        "volumes": {
          "type": "array", "maxItems": 4, "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name", "protocol"],
          "items": {
            "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"},
                           "protocol": {"type": "string", "default": "TCP"},
                           "size": {"type": "integer"}},
            "x-kubernetes-validations": [
              {"rule": "!has(oldSelf.size) || self.size >= oldSelf.size",
               "message": "a volume does not shrink"}]
          }
        },
        "zones": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
      },
      "x-kubernetes-validations": [
        {"rule": "!oldSelf.cancel || self.cancel", "message": "cancel cannot be taken back",
         "fieldPath": ".cancel", "reason": "FieldValueForbidden"},
        {"rule": "self.runtime == oldSelf.runtime", "message": "runtime is immutable"},
        {"rule": "(has(self.suspend) && self.suspend) || self.template == oldSelf.template"}
      ]
    },
    "status": {"type": "object", "properties": {
      "phase": {"type": "string"}, "startedAt": {"type": "string", "format": "date-time"}}}
  },
  "x-kubernetes-validations": [
    {"rule": "size(self.metadata.name) <= 40", "message": "name must be at most 40 characters"}]
})json";

inline SchemaPtr training_job_schema() {
  const CompiledSchema compiled = compile_crd_schema(
      Json::parse(kTrainingJobSchema), CrdSchemaOptions{.prefix = "s", .status_subresource = true});
  for (const Cause& cause : compiled.causes) UNSCOPED_INFO(cause.field << ": " << cause.message);
  REQUIRE(compiled.schema != nullptr);
  return compiled.schema;
}

inline Json training_job() {
  return Json::parse(R"json({"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "llama"},
    "spec": {"runtime": "Torchrun", "nodes": 2, "template": {"spec": {"containers": []}},
             "suspend": false, "cancel": false}})json");
}

// "field: message", as `kubectl apply` shows causes.
inline std::vector<std::string> texts(const std::vector<Cause>& causes) {
  std::vector<std::string> lines;
  for (const Cause& cause : causes) lines.push_back(cause.field + ": " + cause.message);
  return lines;
}

// One property "x" of the spec, and nothing else.
inline SchemaPtr schema_with(const std::string& property) {
  const CompiledSchema compiled =
      compile_crd_schema(Json::parse(R"({"type": "object", "properties": {"spec": {"type": "object",
                     "properties": {"x": )" +
                                     property + "}}}}"),
                         CrdSchemaOptions{.prefix = "s"});
  for (const Cause& cause : compiled.causes) UNSCOPED_INFO(cause.field << ": " << cause.message);
  REQUIRE(compiled.schema != nullptr);
  return compiled.schema;
}

}  // namespace amdahl::local
