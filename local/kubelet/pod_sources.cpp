#include "local/kubelet/pod_sources.hpp"

#include <nlohmann/json.hpp>

#include "operator/kube/api.hpp"
#include "operator/kube/base64.hpp"
#include "operator/kube/types_core.hpp"

namespace amdahl::local {
namespace {

const kube::Resource kSecrets{.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"};
const kube::Resource kServiceAccounts{
    .group = "", .version = "v1", .plural = "serviceaccounts", .kind = "ServiceAccount"};

void take_text(const Json& object, const char* field, Bytes& into) {
  if (const auto found = object.find(field); found != object.end() && found->is_object())
    for (const auto& [key, value] : found->items())
      if (value.is_string()) into[key] = value.get<std::string>();
}

void take_base64(const Json& object, const char* field, Bytes& into) {
  Bytes encoded;
  take_text(object, field, encoded);
  for (const auto& [key, value] : encoded)
    if (auto bytes = kube::base64_decode(value)) into[key] = *std::move(bytes);
}

bool is_missing(const Error& error) {
  return error.code == Errc::kNotFound;
}

Task<Result<void>> fetch_maps(kube::Client& client, kube::Resource resource, std::string ns,
                              std::set<std::string> names, std::map<std::string, Bytes>& into) {
  const kube::DynamicApi api(client, resource);
  for (const std::string& name : names) {
    const auto object = co_await api.get({.ns = ns, .name = name});
    if (!object && is_missing(object.error())) continue;
    if (!object) co_return std::unexpected<Error>(object.error());
    Bytes& bytes = into[name];
    if (resource.kind == "Secret") {
      take_base64(*object, "data", bytes);
    } else {
      take_text(*object, "data", bytes);
      take_base64(*object, "binaryData", bytes);
    }
  }
  co_return Result<void>{};
}

Task<Result<std::string>> fetch_token(kube::Client& client, SourceReader reader,
                                      std::string audience, std::int64_t seconds) {
  Json spec = {
      {"expirationSeconds", seconds},
      {"boundObjectRef",
       {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", reader.pod}, {"uid", reader.pod_uid}}}};
  spec["audiences"] = audience.empty() ? Json::array() : Json::array({audience});
  const Json body = {{"apiVersion", "authentication.k8s.io/v1"},
                     {"kind", "TokenRequest"},
                     {"spec", std::move(spec)}};
  CO_TRY(auto request, kube::create_request(kServiceAccounts, reader.ns, reader.account,
                                            body.dump(), "", "token"));
  CO_TRY(const auto response, co_await client.send(std::move(request)));
  const Json answer = Json::parse(response.body, nullptr, false);
  const Json::json_pointer where("/status/token");
  if (answer.is_discarded() || !answer.contains(where) || !answer[where].is_string())
    co_return fail(Errc::kCorrupt, "token of service account {}/{}: no token in the answer",
                   reader.ns, reader.account);
  co_return answer[where].get<std::string>();
}

}  // namespace

Task<Result<Sources>> fetch_sources(kube::Client& client, SourceReader reader, SourceNames names) {
  Sources sources;
  CO_TRY(co_await fetch_maps(client, kube::kConfigMaps, reader.ns, names.config_maps,
                             sources.config_maps));
  CO_TRY(co_await fetch_maps(client, kSecrets, reader.ns, names.secrets, sources.secrets));
  for (const auto& [audience, seconds] : names.token_seconds) {
    auto token = co_await fetch_token(client, reader, audience, seconds);
    if (!token && is_missing(token.error())) continue;
    if (!token) co_return std::unexpected<Error>(std::move(token).error());
    sources.tokens[audience] = *std::move(token);
  }
  co_return sources;
}

}  // namespace amdahl::local
