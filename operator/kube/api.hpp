// Objects of one kind, typed: Api<Pod> for what has a field table, DynamicApi for anything else.
//
//   Api<Pod> pods(client);
//   CO_TRY(const Pod pod, co_await pods.get({"research", "llama-0"}));
//   CO_TRY(co_await pods.remove(pod.metadata.key(), {.uid = pod.metadata.uid}));
//
// Reads ask for protobuf when the table has all wire numbers. A table that is a projection may be
// created from and applied, but not PUT: that would erase every field it does not name. A type says
// `static constexpr bool kComplete = true;` when it names them all.
//
// Thread: one. Lifetime: the client outlives every task made here; an Api itself may go before.
// Failure: see client.hpp; an object that does not parse is Errc::kCorrupt or kInvalid.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_decode.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/list_page.hpp"
#include "operator/kube/raw_object.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::kube {

inline constexpr std::uint32_t kPageSize = 500;
inline constexpr std::size_t kPagesMax = 400;  // 200 000 objects at the default page size

template <class T>
concept CompleteKind = Kind<T> && requires { requires T::kComplete; };

template <class T>
struct ListOf {
  std::vector<T> items = {};
  std::string version = {};
  std::string next_page = {};  // continue token; empty on the last page
};

struct ApplyOptions {
  std::string field_manager = {};  // required (W5)
  bool force = false;
  std::string subresource = {};
};

namespace api_detail {

// Sends what could be built.
Task<Result<Response>> send(Client& client, Result<Request> request);
Task<Result<void>> send_only(Client& client, Result<Request> request);

// As UTF-8 whatever the strings hold; the library's own dump() throws for some.
std::string text_of(const Json& manifest);
// Where a manifest says it belongs.
ObjectKey key_of(const Json& manifest);
Result<Request> create_of(const Resource& resource, const Json& manifest, std::string_view manager);
Result<Request> update_of(const Resource& resource, const Json& manifest, std::string_view manager,
                          std::string_view subresource);
Result<Request> apply_of(const Resource& resource, const Json& manifest,
                         const ApplyOptions& options);

// The single object of a response, out of its envelope.
Result<RawObject> object_of(const Response& response);

template <class T>
Result<T> decode_raw(JsonReader& reader, RawObject raw) {
  if (raw.encoding == Encoding::kJson) return decode<T>(reader, raw.bytes);
  if constexpr (HasFields<T>)
    return decode_wire<T>(raw.bytes);
  else
    return fail(Errc::kCorrupt, "protobuf was not asked for");
}

template <class T>
Result<T> decode_response(const Response& response, const std::string& what) {
  auto raw = object_of(response);
  if (!raw) return wrap(std::move(raw).error(), "{}", what);
  JsonReader reader;
  auto object = decode_raw<T>(reader, *raw);
  if (!object) return wrap(std::move(object).error(), "{}", what);
  return object;
}

template <class T>
Task<Result<T>> object(Client& client, Result<Request> request) {
  const std::string what =
      request ? fmt::format("{} {}", name(request->verb), request->subject) : "";
  CO_TRY(const auto response, co_await send(client, std::move(request)));
  co_return decode_response<T>(response, what);
}

// Appends the items of one page and moves `into` on to the next.
template <class T>
Result<void> read_page(const Response& response, ListOf<T>& into) {
  JsonReader reader;
  TRY(auto page, read_list_page(response, [&](RawObject raw) -> Result<void> {
        TRY(into.items.emplace_back(), decode_raw<T>(reader, raw));
        return {};
      }));
  into.version = std::move(page.version);
  into.next_page = std::move(page.next_page);
  return {};
}

template <class T>
Task<Result<ListOf<T>>> list(Client& client, Resource resource, ListOptions options, Shape shape,
                             std::size_t pages_max) {
  ListOf<T> all;
  bool restarted = false;
  for (std::size_t pages = 1;; ++pages) {
    auto response = co_await send(client, list_request(resource, options, shape));
    if (!response) {
      // A continue token lives for minutes; whoever is slower begins again, once.
      if (response.error().code != Errc::kGone || options.continue_token.empty() || restarted)
        co_return std::unexpected<Error>(std::move(response).error());
      restarted = true;
      options.continue_token.clear();
      all = {};
      continue;
    }
    if (auto read = read_page(*response, all); !read)
      co_return wrap(std::move(read).error(), "list {}{}{}", resource.plural,
                     options.ns.empty() ? "" : " in ", options.ns);
    if (all.next_page.empty() || pages_max == 1) co_return all;
    if (pages >= pages_max)
      co_return fail(Errc::kTooLarge, "list {}{}{}: over {} pages", resource.plural,
                     options.ns.empty() ? "" : " in ", options.ns, pages_max);
    options.continue_token = all.next_page;
    options.version.clear();  // a token carries its own
    options.version_match.clear();
  }
}

}  // namespace api_detail

// The calls that need no table: objects go out as JSON manifests and come back as T.
template <class T>
class ObjectApi {
 public:
  ObjectApi(Client& client, Resource resource) : client_(&client), resource_(std::move(resource)) {}

  Task<Result<T>> get(const ObjectKey& key, std::string_view subresource = "") const {
    return api_detail::object<T>(*client_, get_request(resource_, key, kShape, subresource));
  }
  // One page of options.limit objects, or whatever the server gives.
  Task<Result<ListOf<T>>> list(ListOptions options = {}) const {
    return api_detail::list<T>(*client_, resource_, std::move(options), kShape, 1);
  }
  // All pages; Errc::kTooLarge when there are more than pages_max.
  Task<Result<ListOf<T>>> list_all(ListOptions options = {},
                                   std::size_t pages_max = kPagesMax) const {
    if (options.limit == 0) options.limit = kPageSize;
    return api_detail::list<T>(*client_, resource_, std::move(options), kShape, pages_max);
  }

  Task<Result<T>> create(const Json& manifest, std::string_view field_manager = "") const {
    return object(api_detail::create_of(resource_, manifest, field_manager));
  }
  Task<Result<T>> update(const Json& manifest, std::string_view field_manager = "") const {
    return object(api_detail::update_of(resource_, manifest, field_manager, ""));
  }
  Task<Result<T>> update_status(const Json& manifest, std::string_view field_manager = "") const {
    return object(api_detail::update_of(resource_, manifest, field_manager, "status"));
  }
  Task<Result<T>> apply(const Json& manifest, const ApplyOptions& options) const {
    return object(api_detail::apply_of(resource_, manifest, options));
  }
  Task<Result<T>> patch(const ObjectKey& key, const Json& patch,
                        const PatchOptions& options = {}) const {
    return object(patch_request(resource_, key, api_detail::text_of(patch), options));
  }
  Task<Result<void>> remove(const ObjectKey& key, const DeleteOptions& options = {}) const {
    return api_detail::send_only(*client_, delete_request(resource_, key, options));
  }

  const Resource& resource() const { return resource_; }

 protected:
  static constexpr Shape kShape{.encoding = has_wire<T> ? Encoding::kProtobuf : Encoding::kJson};

 private:
  Task<Result<T>> object(Result<Request> request) const {
    return api_detail::object<T>(*client_, std::move(request));
  }

  Client* client_;
  Resource resource_;
};

template <Kind T>
class Api : public ObjectApi<T> {
 public:
  explicit Api(Client& client) : ObjectApi<T>(client, T::resource()) {}

  using ObjectApi<T>::create;
  using ObjectApi<T>::update;
  using ObjectApi<T>::update_status;
  using ObjectApi<T>::apply;

  Task<Result<T>> create(const T& object, std::string_view field_manager = "") const {
    return create(to_manifest(object), field_manager);
  }
  Task<Result<T>> apply(const T& intent, const ApplyOptions& options) const {
    return apply(to_manifest(intent), options);
  }
  Task<Result<T>> update(const T& object, std::string_view field_manager = "") const
    requires CompleteKind<T>
  {
    return update(to_manifest(object), field_manager);
  }
  Task<Result<T>> update_status(const T& object, std::string_view field_manager = "") const
    requires CompleteKind<T>
  {
    return update_status(to_manifest(object), field_manager);
  }
};

// Any kind, found by discovery.hpp or named by hand; objects are JSON trees.
using DynamicApi = ObjectApi<Json>;

// The log of a container, whole lines or not, as it arrives.
Task<Result<StreamResponse>> open_logs(Client& client, ObjectKey pod, LogOptions options = {});

}  // namespace amdahl::kube
