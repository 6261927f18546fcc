#include "operator/training/job_sink.hpp"

#include <nlohmann/json.hpp>

#include "operator/training/unreadable.hpp"

namespace amdahl::training {

Result<std::string_view> JobSink::decode(kube::RawObject object) {
  auto read = jobs_.decode(object);
  if (read || object.encoding != kube::Encoding::kJson) return read;
  Json job = Json::parse(object.bytes, nullptr, /*allow_exceptions=*/false);
  if (!job.is_object() || !job.contains("metadata") || !job["metadata"].is_object()) return read;
  Json& metadata = job["metadata"];
  metadata["annotations"] = {{std::string(kUnreadableMark), "yes"}};
  const Json rest{{"runtime", "Python"}, {"nodes", 1}, {"template", Json::object()}};
  substitute_ = Json{{"metadata", metadata}, {"spec", rest}}.dump(-1, ' ', /*ensure_ascii=*/false,
                                                                  Json::error_handler_t::replace);
  const std::size_t size = substitute_.size();
  substitute_.append(kJsonPadding, ' ');
  auto known = jobs_.decode({.bytes = std::string_view(substitute_).substr(0, size)});
  if (!known) return read;
  on_unreadable_(read.error());
  return known;
}

}  // namespace amdahl::training
