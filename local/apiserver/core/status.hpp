// metav1.Status: how a request was refused, with the reasons and texts of Kubernetes.
//
// Plain values; any thread. Outcome<T> is a T or the Status that is sent instead: Result<T> is for
// errors of our own, a Status is an answer to a client.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "local/apiserver/model/cause.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

// "pods" or "deployments.apps", and the same with a kind: as Kubernetes writes them in messages.
struct GroupName {
  std::string_view group = {};
  std::string_view name = {};
};
std::string qualified(const GroupName& what);

struct Status {
  int code = 500;
  std::string reason = {};
  std::string message = {};
  std::string name = {};  // from here on: details
  std::string group = {};
  std::string kind = {};
  std::string uid = {};
  std::vector<Cause> causes = {};
  bool has_details = false;  // shown even when nothing is in them
  int retry_after_seconds = 0;
  std::string continue_token = {};  // metadata.continue, of an expired list
};

Json to_json(const Status& status);

template <class T>
class [[nodiscard]] Outcome {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): returned as a plain value.
  Outcome(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Outcome(Status status) : value_(std::move(status)) {}
  explicit operator bool() const { return value_.index() == 0; }
  T& operator*() { return std::get<0>(value_); }
  const T& operator*() const { return std::get<0>(value_); }
  T* operator->() { return &std::get<0>(value_); }
  Status& error() { return std::get<1>(value_); }

 private:
  std::variant<T, Status> value_;
};

struct Done {};  // Outcome<Done>: nothing but success

Status not_found(const GroupName& resource, std::string_view name);
Status already_exists(const GroupName& resource, std::string_view name);
Status name_not_generated(const GroupName& resource, std::string_view name);
Status forbidden(const GroupName& resource, std::string_view name, std::string_view why);
Status conflict(const GroupName& resource, std::string_view name, std::string_view why);
Status modified_meanwhile(const GroupName& resource, std::string_view name);
Status invalid(const GroupName& kind, std::string_view name, std::vector<Cause> causes);
Status bad_request(std::string_view message);
Status expired(std::string_view message);
Status too_large_version(std::uint64_t wanted, std::uint64_t current);
Status method_not_supported(const GroupName& resource, std::string_view action);
Status not_acceptable(std::string_view accepted);
Status unsupported_media_type(std::string_view accepted);
Status body_too_large(std::size_t limit);
Status unknown_failure(std::string_view message);
Status internal_error(std::string_view why);

}  // namespace amdahl::local

// OUTCOME_TRY(auto value, expression): binds the value, or returns the Status.
#define AMDAHL_OUTCOME_JOIN2(a, b) a##b
#define AMDAHL_OUTCOME_JOIN(a, b) AMDAHL_OUTCOME_JOIN2(a, b)
#define AMDAHL_OUTCOME_BIND(tmp, decl, ...)                 \
  auto tmp = (__VA_ARGS__);                                 \
  if (!tmp) [[unlikely]]                                    \
    return ::amdahl::local::Status(std::move(tmp.error())); \
  decl = std::move(*tmp)
#define OUTCOME_TRY(decl, ...) \
  AMDAHL_OUTCOME_BIND(AMDAHL_OUTCOME_JOIN(amdahl_outcome_, __COUNTER__), decl, __VA_ARGS__)
#define OUTCOME_CHECK(...)                                                             \
  do {                                                                                 \
    if (auto amdahl_outcome_check = (__VA_ARGS__); !amdahl_outcome_check) [[unlikely]] \
      return ::amdahl::local::Status(std::move(amdahl_outcome_check.error()));         \
  } while (false)
