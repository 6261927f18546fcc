#include "operator/training/job_sink.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/training/unreadable.hpp"

namespace amdahl::training {
namespace {

// Copies and texts of JSON are made by recursion, so what is nested deeper is taken out first.
void cut_below(Json& value, int levels) {
  if (!value.is_structured()) return;
  if (levels == 0) {
    value = nullptr;
    return;
  }
  for (Json& item : value) cut_below(item, levels - 1);
}

// What the API server itself wrote.
Json identity_of(const Json& metadata) {
  Json identity = Json::object();
  for (const char* key : {"name", "namespace", "uid", "resourceVersion"})
    identity[key] = text_of(metadata, key);
  return identity;
}

}  // namespace

Result<std::string_view> JobSink::decode(kube::RawObject object) {
  auto read = jobs_.decode(object);
  if (read || object.encoding != kube::Encoding::kJson) return read;
  Json job = Json::parse(object.bytes, nullptr, /*allow_exceptions=*/false);
  if (!job.is_object() || !job.contains("metadata") || !job["metadata"].is_object()) return read;
  cut_below(job, kRawJsonDepthMax);
  const std::string why = read.error().context;
  Json& metadata = job["metadata"];
  if (const Json& spec = member_of(job, "spec"); spec.is_object()) {
    metadata["annotations"] = {{std::string(kUnreadableTemplateMark), why}};
    job["spec"]["template"] = Json::object();
    if (auto known = decode_instead(job)) {
      on_unreadable_(read.error());
      return known;
    }
  }
  for (Json& part : std::array{metadata, identity_of(metadata)}) {
    part["annotations"] = {{std::string(kUnreadableMark), why}};
    const Json rest{{"runtime", "Python"}, {"nodes", 1}, {"template", Json::object()}};
    auto known = decode_instead({{"metadata", part}, {"spec", rest}});
    if (!known) continue;
    on_unreadable_(read.error());
    return known;
  }
  return read;
}

Result<std::string_view> JobSink::decode_instead(const Json& job) {
  substitute_ = job.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  const std::size_t size = substitute_.size();
  substitute_.append(kJsonPadding, ' ');
  return jobs_.decode({.bytes = std::string_view(substitute_).substr(0, size)});
}

}  // namespace amdahl::training
