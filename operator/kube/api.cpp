#include "operator/kube/api.hpp"

#include "operator/kube/wire_envelope.hpp"

namespace amdahl::kube {
namespace api_detail {
namespace {

std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Task<Result<Response>> send(Client& client, Result<Request> request) {
  CO_TRY(auto built, std::move(request));
  co_return co_await client.send(std::move(built));
}

Task<Result<void>> send_only(Client& client, Result<Request> request) {
  CO_TRY(co_await send(client, std::move(request)));
  co_return Result<void>{};
}

std::string text_of(const Json& manifest) {
  return manifest.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

ObjectKey key_of(const Json& manifest) {
  const auto metadata = manifest.is_object() ? manifest.find("metadata") : manifest.end();
  if (metadata == manifest.end()) return {};
  return {.ns = text_at(*metadata, "namespace"), .name = text_at(*metadata, "name")};
}

Result<Request> create_of(const Resource& resource, const Json& manifest,
                          std::string_view manager) {
  const ObjectKey key = key_of(manifest);
  return create_request(resource, key.ns, key.name, text_of(manifest), manager);
}

Result<Request> update_of(const Resource& resource, const Json& manifest, std::string_view manager,
                          std::string_view subresource) {
  return update_request(resource, key_of(manifest), text_of(manifest), manager, subresource);
}

Result<Request> apply_of(const Resource& resource, const Json& manifest,
                         const ApplyOptions& options) {
  return patch_request(resource, key_of(manifest), text_of(manifest),
                       {.kind = PatchKind::kApply,
                        .field_manager = options.field_manager,
                        .force = options.force,
                        .subresource = options.subresource});
}

Result<RawObject> object_of(const Response& response) {
  const auto type = response.header("Content-Type");
  if (!type.starts_with("application/vnd.kubernetes.protobuf"))
    return RawObject{.bytes = response.body, .encoding = Encoding::kJson};
  TRY(const WireObject object, unwrap_object(response.body));
  return RawObject{.bytes = object.raw, .encoding = object.encoding};
}

}  // namespace api_detail

Task<Result<StreamResponse>> open_logs(Client& client, ObjectKey pod, LogOptions options) {
  CO_TRY(auto request, logs_request(pod, options));
  co_return co_await client.open(std::move(request));
}

}  // namespace amdahl::kube
