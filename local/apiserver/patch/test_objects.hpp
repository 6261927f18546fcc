// A stored object and the people who write it, for tests of ownership.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "local/apiserver/patch/apply.hpp"
#include "local/apiserver/patch/managed_fields.hpp"
#include "local/apiserver/patch/ownership.hpp"

namespace amdahl::local::test {

// One object of kind Thing; each write happens a second after the last.
class Stored {
 public:
  explicit Stored(MergeShapePtr shape = nullptr) : shape_(std::move(shape)) {}

  FieldRules rules = {};
  std::string subresource = {};

  const Json& object() const { return object_; }
  Json content() const { return without_managed_fields(object_); }

  void update(const std::string& manager, const char* body) {
    Json written = complete(body);
    REQUIRE(track_update(with_shape(), writer(manager), live(), written));
    object_ = std::move(written);
    exists_ = true;
  }
  Result<ApplyOutcome> try_apply(const std::string& manager, const char* body, bool force = false) {
    return server_side_apply(with_shape(), writer(manager), live(), complete(body), force);
  }
  void apply(const std::string& manager, const char* body, bool force = false) {
    auto result = try_apply(manager, body, force);
    if (!result) FAIL(result.error().context);
    if (result->conflict) FAIL(result->conflict->message);
    object_ = std::move(result->object);
    exists_ = true;
  }
  ApplyConflict conflict(const std::string& manager, const char* body) {
    auto result = try_apply(manager, body);
    if (!result) FAIL(result.error().context);
    REQUIRE(result->conflict.has_value());
    CHECK(result->object.is_null());
    return std::move(*result->conflict);
  }
  std::string refusal(const std::string& manager, const char* body) {
    auto result = try_apply(manager, body);
    REQUIRE_FALSE(result.has_value());
    return result.error().context;
  }

  // FieldsV1 of a manager's entry as text, and "" when it has none.
  std::string owned(const std::string& manager, WriteOperation operation) {
    auto entries = decode_managed_fields(managed_fields_of(object_));
    REQUIRE(entries.has_value());
    FieldWriter who = writer(manager);
    const ManagedEntry* const entry = find_entry(*entries, manager_of(who, operation));
    return entry == nullptr ? "" : entry->fields.to_fields_v1().dump();
  }
  std::string applied(const std::string& manager) { return owned(manager, WriteOperation::kApply); }
  std::string updated(const std::string& manager) {
    return owned(manager, WriteOperation::kUpdate);
  }
  void forget_ownership() { object_ = without_managed_fields(std::move(object_)); }

 private:
  const Json* live() const { return exists_ ? &object_ : nullptr; }
  FieldRules with_shape() const {
    FieldRules all = rules;
    all.shape = shape_.get();
    return all;
  }
  FieldWriter writer(const std::string& manager) {
    now_ += std::chrono::seconds{1};
    return {.manager = manager, .api_version = "x/v1", .subresource = subresource, .now = now_};
  }
  static Json complete(const char* body) {
    Json object = Json::parse(body);
    object["apiVersion"] = "x/v1";
    object["kind"] = "Thing";
    object["metadata"]["name"] = "one";
    return object;
  }

  MergeShapePtr shape_;
  Json object_ = Json::object();
  bool exists_ = false;
  WallTime now_{std::chrono::seconds{1'800'000'000}};
};

}  // namespace amdahl::local::test
