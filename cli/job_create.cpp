#include "cli/job_create.hpp"

#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "cli/field_owners.hpp"
#include "cli/training_jobs.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::cli {
namespace {

constexpr int kAdoptTriesMax = 3;
constexpr std::string_view kNamePrefix = "dry-run-";

// The job exists whatever becomes of this: without it the next apply has to overrule the create.
Task<Result<Json>> adopt(kube::Client& client, Json job) {
  const kube::DynamicApi api(client, kTrainingJobs);
  const kube::ObjectKey key = kube::api_detail::key_of(job);
  for (int tries = 0; tries < kAdoptTriesMax; ++tries) {
    const auto patch = adoption_patch(job);
    if (!patch) co_return job;
    auto adopted = co_await api.patch(
        key, *patch, {.kind = kube::PatchKind::kJson, .field_manager = std::string(kFileManager)});
    if (adopted) co_return adopted;
    if (adopted.error().code == Errc::kCancelled) co_return adopted;
    auto now = co_await api.get(key);
    if (!now) co_return job;
    job = *std::move(now);
  }
  co_return job;
}

// What the operator will create, as far as the file decides it.
Json pod_of(const Json& job) {
  const Json& given = member_of(member_of(job, "spec"), "template");
  Json pod = given.is_object() ? given : Json::object();
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  if (!member_of(pod, "metadata").is_object()) pod["metadata"] = Json::object();
  pod["metadata"]["generateName"] = std::string(kNamePrefix);
  pod["metadata"]["namespace"] = std::string(text_of(member_of(job, "metadata"), "namespace"));
  // An operator's job: the template may leave it out, and may not choose another.
  if (member_of(pod, "spec").is_object()) pod["spec"]["restartPolicy"] = "Never";
  return pod;
}

Task<Result<Json>> dry_create(kube::Client& client, kube::Resource resource, Json object) {
  CO_TRY(auto request, kube::api_detail::create_of(resource, object, kFileManager));
  request.target += "&dryRun=All";  // every write has a query already
  co_return co_await kube::api_detail::object<Json>(client, std::move(request));
}

}  // namespace

Task<Result<Json>> create_job(kube::Client& client, Json manifest) {
  const kube::DynamicApi api(client, kTrainingJobs);
  CO_TRY(Json job, co_await api.create(manifest, kFileManager));
  co_return co_await adopt(client, std::move(job));
}

Task<Result<DryRun>> try_job(kube::Client& client, Json manifest) {
  DryRun tried;
  CO_TRY(tried.job, co_await dry_create(client, kTrainingJobs, manifest));
  const auto pod = co_await dry_create(client, kube::kPods, pod_of(manifest));
  if (pod) co_return tried;
  const Error& error = pod.error();
  if (error.code == Errc::kCancelled) co_return std::unexpected<Error>(error);
  if (error.code == Errc::kInvalid)
    co_return fail(Errc::kInvalid, "spec.template makes no valid pod: {}", error.context);
  tried.unchecked = error.context;
  co_return tried;
}

}  // namespace amdahl::cli
