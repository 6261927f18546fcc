#include "operator/kube/request.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace amdahl::kube {
namespace {

// Longer than any name the API server accepts, short enough for every proxy's request line.
constexpr std::size_t kNameBytesMax = 1024;
constexpr std::size_t kNamespaceBytesMax = 63;

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The API server's own rule for names in paths, plus: nothing that would garble a log line.
bool is_path_segment(std::string_view text) {
  if (text.empty() || text.size() > kNameBytesMax || text == "." || text == "..") return false;
  return std::ranges::none_of(text, [](char c) {
    return c == '/' || c == '%' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

bool is_dns_label(std::string_view text) {
  if (text.empty() || text.size() > kNamespaceBytesMax) return false;
  if (text.front() == '-' || text.back() == '-') return false;
  return std::ranges::all_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

// What may be shown of a text that was refused.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, 80));
  std::ranges::replace_if(out, [](char c) { return c < 0x20 || c == 0x7f; }, '?');
  return out;
}

class Query {
 public:
  Query& add(std::string_view key, std::string_view value) {
    if (value.empty()) return *this;
    text_ += text_.empty() ? '?' : '&';
    text_ += key;
    text_ += '=';
    text_ += percent_encode(value);
    return *this;
  }
  Query& add_number(std::string_view key, std::int64_t value) {
    return add(key, std::to_string(value));
  }
  Query& add_flag(std::string_view key, bool value) { return value ? add(key, "true") : *this; }
  Query& add_optional(std::string_view key, const std::optional<std::int64_t>& value) {
    return value ? add_number(key, *value) : *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The place of a request: which collection, which object, which part of it.
struct Place {
  const Resource& resource;
  std::string_view ns;
  std::string_view name;
  std::string_view subresource;
};

std::string subject_of(const Place& place) {
  std::string text = place.resource.plural;
  if (!place.subresource.empty()) text.append("/").append(place.subresource);
  if (!place.name.empty()) {
    text += ' ';
    if (!place.ns.empty()) text.append(place.ns).append("/");
    text += place.name;
  } else if (!place.ns.empty()) {
    text.append(" in ").append(place.ns);
  }
  return text;
}

Result<std::string> path_of(const Place& place) {
  const Resource& resource = place.resource;
  for (const std::string_view part :
       {std::string_view(resource.version), std::string_view(resource.plural)})
    if (!is_path_segment(part))
      return fail(Errc::kInvalid, "\"{}\" cannot be part of an API path", shown(part));
  if (!resource.group.empty() && !is_path_segment(resource.group))
    return fail(Errc::kInvalid, "\"{}\" is not an API group", shown(resource.group));
  std::string path = resource.group.empty() ? "/api" : "/apis/" + percent_encode(resource.group);
  path += '/' + percent_encode(resource.version);
  if (!place.ns.empty()) {
    if (!resource.namespaced)
      return fail(Errc::kInvalid, "{} are not namespaced, but namespace \"{}\" was given",
                  resource.plural, shown(place.ns));
    if (!is_dns_label(place.ns))
      return fail(Errc::kInvalid, "\"{}\" is not a namespace name", shown(place.ns));
    path.append("/namespaces/").append(place.ns);
  }
  path += '/' + percent_encode(resource.plural);
  if (!place.name.empty()) {
    if (!is_path_segment(place.name))
      return fail(Errc::kInvalid, "\"{}\" is not an object name", shown(place.name));
    path += '/' + percent_encode(place.name);
  }
  if (!place.subresource.empty()) {
    if (!is_path_segment(place.subresource))
      return fail(Errc::kInvalid, "\"{}\" is not a subresource", shown(place.subresource));
    path += '/' + percent_encode(place.subresource);
  }
  return path;
}

Result<Request> make(Verb verb, std::string_view method, const Place& place, const Query& query) {
  auto path = path_of(place);
  if (!path) return wrap(std::move(path).error(), "{} {}", name(verb), shown(subject_of(place)));
  return Request{.verb = verb,
                 .method = std::string(method),
                 .target = *path + query.text(),
                 .subject = subject_of(place)};
}

// As make(), for requests on one object: without a name the path would mean the collection.
Result<Request> make_for_object(Verb verb, std::string_view method, const Place& place,
                                const Query& query) {
  if (place.name.empty())
    return fail(Errc::kInvalid, "{} {}: an object name is needed", name(verb),
                place.resource.plural);
  if (place.resource.namespaced && place.ns.empty())
    return fail(Errc::kInvalid, "{} {}: a namespace is needed", name(verb),
                shown(subject_of(place)));
  return make(verb, method, place, query);
}

// Ends with plain JSON: an aggregated API server that cannot transform or encode still answers.
std::string accept_of(Shape shape, std::string_view partial_kind) {
  const std::string suffix =
      shape.metadata_only ? fmt::format(";as={};g=meta.k8s.io;v=v1", partial_kind) : std::string();
  std::string text;
  if (shape.encoding == Encoding::kProtobuf) text = fmt::format("{}{}, ", kProtobufType, suffix);
  if (shape.metadata_only) text += fmt::format("{}{}, ", kJsonType, suffix);
  return text += kJsonType;
}

void set_json_body(Request& request, std::string body, std::string_view content_type = kJsonType) {
  request.headers = {{"Accept", std::string(kJsonType)},
                     {"Content-Type", std::string(content_type)}};
  request.body = std::move(body);
}

// An update without a version would overwrite what others wrote (W4).
bool has_version(const std::string& body) {
  const auto object = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("metadata")) return false;
  const auto& metadata = object["metadata"];
  if (!metadata.is_object() || !metadata.contains("resourceVersion")) return false;
  const auto& version = metadata["resourceVersion"];
  return version.is_string() && !version.get_ref<const std::string&>().empty();
}

std::string body_of(const DeleteOptions& options) {
  nlohmann::json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.version.empty()) body["preconditions"]["resourceVersion"] = options.version;
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  return body.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

Query query_of(const ListOptions& options) {
  Query query;
  query.add("labelSelector", options.labels).add("fieldSelector", options.fields);
  if (options.limit > 0) query.add_number("limit", options.limit);
  query.add("continue", options.continue_token);
  query.add("resourceVersion", options.version).add("resourceVersionMatch", options.version_match);
  return query;
}

Query write_query(std::string_view field_manager) {
  Query query;
  query.add("fieldManager", field_manager).add("fieldValidation", "Strict");
  return query;
}

std::string_view content_type(PatchKind kind) {
  switch (kind) {
    case PatchKind::kJson:
      return "application/json-patch+json";
    case PatchKind::kMerge:
      return "application/merge-patch+json";
    case PatchKind::kApply:
      return "application/apply-patch+yaml";
  }
  return kJsonType;
}

}  // namespace

std::string to_string(const ObjectKey& key) {
  return key.ns.empty() ? key.name : key.ns + "/" + key.name;
}

std::string_view name(Verb verb) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "get",  "list",   "watch",   "create", "update", "patch", "delete", "deletecollection",
      "logs", "review", "discover"};
  return kNames[static_cast<std::size_t>(verb)];
}

bool is_write(Verb verb) {
  return verb >= Verb::kCreate && verb <= Verb::kDeleteCollection;
}

std::string percent_encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

Result<Request> get_request(const Resource& resource, const ObjectKey& key, Shape shape,
                            std::string_view subresource) {
  TRY(auto request,
      make_for_object(Verb::kGet, "GET", {resource, key.ns, key.name, subresource}, {}));
  request.headers = {{"Accept", accept_of(shape, "PartialObjectMetadata")}};
  return request;
}

Result<Request> list_request(const Resource& resource, const ListOptions& options, Shape shape) {
  TRY(auto request, make(Verb::kList, "GET", {resource, options.ns, "", ""}, query_of(options)));
  request.headers = {{"Accept", accept_of(shape, "PartialObjectMetadataList")}};
  return request;
}

Result<Request> watch_request(const Resource& resource, const WatchOptions& options, Shape shape) {
  Query query;
  query.add_flag("watch", true).add_flag("allowWatchBookmarks", true);
  query.add("labelSelector", options.labels).add("fieldSelector", options.fields);
  query.add("resourceVersion", options.version);
  if (options.initial_events)
    query.add("resourceVersionMatch", "NotOlderThan").add_flag("sendInitialEvents", true);
  query.add_number("timeoutSeconds", options.timeout_seconds);
  TRY(auto request, make(Verb::kWatch, "GET", {resource, options.ns, "", ""}, query));
  // Each event carries one object, so the partial kind is the single one, not the list.
  request.headers = {{"Accept", accept_of(shape, "PartialObjectMetadata")}};
  request.lane = Lane::kStream;
  return request;
}

// tidy: allow(parameters) the last two have defaults, and most callers give four
Result<Request> create_request(const Resource& resource, std::string_view ns, std::string_view name,
                               std::string body, std::string_view field_manager,
                               std::string_view subresource) {
  const Place place{resource, ns, subresource.empty() ? "" : name, subresource};
  if (resource.namespaced && ns.empty())
    return fail(Errc::kInvalid, "create {} {}: a namespace is needed", resource.plural,
                shown(name));
  TRY(auto request,
      subresource.empty()
          ? make(Verb::kCreate, "POST", place, write_query(field_manager))
          : make_for_object(Verb::kCreate, "POST", place, write_query(field_manager)));
  request.subject = shown(subject_of({resource, ns, name, subresource}));
  set_json_body(request, std::move(body));
  return request;
}

Result<Request> update_request(const Resource& resource, const ObjectKey& key, std::string body,
                               std::string_view field_manager, std::string_view subresource) {
  TRY(auto request, make_for_object(Verb::kUpdate, "PUT", {resource, key.ns, key.name, subresource},
                                    write_query(field_manager)));
  if (!has_version(body))
    return fail(Errc::kInvalid,
                "update {}: the object carries no metadata.resourceVersion, so it would overwrite "
                "what others wrote. Read it first, or use apply",
                request.subject);
  set_json_body(request, std::move(body));
  return request;
}

Result<Request> patch_request(const Resource& resource, const ObjectKey& key, std::string body,
                              const PatchOptions& options) {
  const bool apply = options.kind == PatchKind::kApply;
  Query query = write_query(options.field_manager);
  query.add_flag("force", apply && options.force);
  TRY(auto request, make_for_object(Verb::kPatch, "PATCH",
                                    {resource, key.ns, key.name, options.subresource}, query));
  if (apply && options.field_manager.empty())
    return fail(Errc::kInvalid, "apply {}: a field manager name is needed", request.subject);
  set_json_body(request, std::move(body), content_type(options.kind));
  return request;
}

Result<Request> delete_request(const Resource& resource, const ObjectKey& key,
                               const DeleteOptions& options) {
  TRY(auto request, make_for_object(Verb::kDelete, "DELETE", {resource, key.ns, key.name, ""}, {}));
  set_json_body(request, body_of(options));
  return request;
}

void answer_with_metadata(Request& write) {
  const std::string accept = accept_of({.metadata_only = true}, "PartialObjectMetadata");
  for (auto& [name, value] : write.headers)
    if (name == "Accept") value = accept;
}

Result<Request> delete_collection_request(const Resource& resource, const ListOptions& which,
                                          const DeleteOptions& options) {
  if (resource.namespaced && which.ns.empty())
    return fail(Errc::kInvalid, "deletecollection {}: a namespace is needed", resource.plural);
  if (!options.uid.empty() || !options.version.empty())
    return fail(Errc::kInvalid, "deletecollection {}: preconditions name one object, not many",
                resource.plural);
  TRY(auto request,
      make(Verb::kDeleteCollection, "DELETE", {resource, which.ns, "", ""}, query_of(which)));
  set_json_body(request, body_of(options));
  return request;
}

Result<Request> logs_request(const ObjectKey& pod, const LogOptions& options) {
  static const Resource pods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};
  Query query;
  query.add("container", options.container).add_flag("follow", options.follow);
  query.add_flag("previous", options.previous).add_flag("timestamps", options.timestamps);
  query.add_optional("tailLines", options.tail_lines);
  query.add_optional("sinceSeconds", options.since_seconds);
  query.add_optional("limitBytes", options.limit_bytes);
  TRY(auto request, make_for_object(Verb::kLogs, "GET", {pods, pod.ns, pod.name, "log"}, query));
  request.headers = {{"Accept", "text/plain, application/json"}};
  request.lane = Lane::kStream;
  return request;
}

Result<Request> review_request(const Resource& resource, std::string body) {
  TRY(auto request, make(Verb::kReview, "POST", {resource, "", "", ""}, {}));
  set_json_body(request, std::move(body));
  return request;
}

Request discover_request(std::string path) {
  std::string target;
  std::string_view rest = path;
  while (!rest.empty()) {
    if (rest.front() == '/') rest.remove_prefix(1);
    const auto segment = rest.substr(0, rest.find('/'));
    target.append("/").append(percent_encode(segment));
    rest.remove_prefix(segment.size());
  }
  return Request{.verb = Verb::kDiscover,
                 .target = target.empty() ? "/" : std::move(target),
                 .headers = {{"Accept", std::string(kJsonType)}},
                 .subject = shown(path)};
}

}  // namespace amdahl::kube
