// Requests to the API server as values: built here, sent by somebody else (client.hpp).
//
// Sans-IO and pure. The one place that knows paths, query parameters and percent-encoding (C7).
// Failure: a name that cannot be a path segment is Errc::kInvalid, before anything is sent.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace amdahl::kube {

// Namespace and name; the namespace is empty for cluster-scoped objects.
struct ObjectKey {
  std::string ns = {};
  std::string name = {};
  auto operator<=>(const ObjectKey&) const = default;
};
std::string to_string(const ObjectKey& key);  // "ns/name", or "name"

// Where a kind lives. group is empty for the core group.
struct Resource {
  std::string group = {};
  std::string version = {};
  std::string plural = {};
  std::string kind = {};
  bool namespaced = true;
  bool operator==(const Resource&) const = default;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

enum class Verb : std::uint8_t {
  kGet,
  kList,
  kWatch,
  kCreate,
  kUpdate,
  kPatch,
  kDelete,
  kDeleteCollection,
  kLogs,
  kReview,
  kDiscover
};
std::string_view name(Verb verb);
bool is_write(Verb verb);  // changes the cluster; reviews do not

// Which connections carry the request. A flood on one lane cannot starve another (E7).
enum class Lane : std::uint8_t { kDefault, kLease, kStream };

enum class Encoding : std::uint8_t { kJson, kProtobuf };

struct Header {
  std::string name = {};
  std::string value = {};
};

struct Request {
  Verb verb = Verb::kGet;
  std::string method = "GET";
  std::string target = {};           // path and query, encoded
  std::vector<Header> headers = {};  // Accept, Content-Type; never credentials
  std::string body = {};
  std::string subject = {};  // "pods research/llama-0", for messages
  Lane lane = Lane::kDefault;
  bool fenced = true;  // writes only: refuse when the lease may be lost (E2)
};

struct ListOptions {
  std::string ns = {};      // empty: all namespaces
  std::string labels = {};  // label selector
  std::string fields = {};  // field selector
  std::uint32_t limit = 0;  // page size; 0: the server's choice
  std::string continue_token = {};
  std::string version = {};        // resourceVersion; empty: consistent read
  std::string version_match = {};  // "", "NotOlderThan" or "Exact"
};

struct WatchOptions {
  std::string ns = {};
  std::string labels = {};
  std::string fields = {};
  std::string version = {};
  bool initial_events = false;  // streaming first list (L1)
  std::uint32_t timeout_seconds = 300;
};

// What a projecting reader wants back.
struct Shape {
  Encoding encoding = Encoding::kJson;
  bool metadata_only = false;  // PartialObjectMetadata (L15)
};

enum class PatchKind : std::uint8_t { kJson, kMerge, kApply };
struct PatchOptions {
  PatchKind kind = PatchKind::kMerge;
  std::string field_manager = {};  // required for kApply (W5)
  bool force = false;
  std::string subresource = {};  // "status", "scale"; empty for the object itself
};

struct DeleteOptions {
  std::string uid = {};      // precondition; empty: none
  std::string version = {};  // precondition; empty: none
  std::optional<std::int64_t> grace_seconds = {};
  std::string propagation = {};  // "Background", "Foreground", "Orphan" or ""
};

struct LogOptions {
  std::string container = {};
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines = {};
  std::optional<std::int64_t> since_seconds = {};
  std::optional<std::int64_t> limit_bytes = {};
};

Result<Request> get_request(const Resource& resource, const ObjectKey& key, Shape shape = {},
                            std::string_view subresource = "");
Result<Request> list_request(const Resource& resource, const ListOptions& options,
                             Shape shape = {});
Result<Request> watch_request(const Resource& resource, const WatchOptions& options,
                              Shape shape = {});
// Every write asks for fieldValidation=Strict (W11). `ns` is the namespace to create in.
Result<Request> create_request(const Resource& resource, std::string_view ns, std::string_view name,
                               std::string body, std::string_view field_manager = "",
                               std::string_view subresource = "");
// The body must carry metadata.resourceVersion; this is checked (W4).
Result<Request> update_request(const Resource& resource, const ObjectKey& key, std::string body,
                               std::string_view field_manager = "",
                               std::string_view subresource = "");
Result<Request> patch_request(const Resource& resource, const ObjectKey& key, std::string body,
                              const PatchOptions& options);
Result<Request> delete_request(const Resource& resource, const ObjectKey& key,
                               const DeleteOptions& options);
// Asks for no more than the metadata of what a write leaves behind: the server need not encode the
// rest, nor we read it. One that cannot do that answers with the whole object.
void answer_with_metadata(Request& write);
// Deletes what the selectors of `which` choose, in one namespace; preconditions are refused.
Result<Request> delete_collection_request(const Resource& resource, const ListOptions& which,
                                          const DeleteOptions& options);
Result<Request> logs_request(const ObjectKey& pod, const LogOptions& options);
// SelfSubjectAccessReview, SubjectAccessReview, TokenReview: a POST that changes nothing.
Result<Request> review_request(const Resource& resource, std::string body);
Request discover_request(std::string path);  // "/api", "/apis", "/apis/batch/v1", "/version"

// Percent-encodes everything but RFC 3986 unreserved characters.
std::string percent_encode(std::string_view text);

}  // namespace amdahl::kube
