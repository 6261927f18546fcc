#include "cli/rerun_manifest.hpp"

#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/api/names.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kFolder = "/rerun-";

bool has_committed(const TrainingJob& job) {
  return job.status.checkpoint && job.status.checkpoint->last_committed;
}

// load() claims the URI for the job's UID before anything is saved, so every job that started may
// own it. Under a second name the first job stays, and may start later.
bool needs_new_folder(const TrainingJob& before, const RerunOptions& options) {
  const bool started = before.status.attempt > 0 || has_committed(before);
  return !before.spec.checkpoint.uri.empty() && (started || !options.name.empty());
}

// "gs://b/llama/rerun-1a2b3c4d" -> "gs://b/llama": reruns of reruns lie side by side.
std::string without_folder(const std::string& uri) {
  const std::size_t at = uri.rfind(kFolder);
  if (at == std::string::npos || uri.find('/', at + 1) != std::string::npos) return uri;
  return uri.substr(0, at);
}

std::string without_slash(std::string uri) {
  while (uri.ends_with('/') && !uri.ends_with("://")) uri.pop_back();
  return uri;
}

// A file may still have the URI of the first run, which is below none of the reruns.
bool same_place(const std::string& uri, const std::string& other) {
  return without_slash(without_folder(uri)) == without_slash(without_folder(other));
}

// Moves spec.checkpoint.uri to a new folder, if it is where the run before may have saved.
void move_checkpoints(Json& checkpoint, const std::string& old_uri, const std::string& suffix,
                      RerunManifest& made) {
  const auto uri = checkpoint.find("uri");
  if (uri == checkpoint.end() || !uri->is_string()) return;
  if (!same_place(uri->get<std::string>(), old_uri)) return;
  made.checkpoints_before = old_uri;
  made.checkpoints = without_slash(without_folder(old_uri)) + std::string(kFolder) + suffix;
  *uri = made.checkpoints;
}

Json metadata_of(const TrainingJob& before, const Json& wanted, const std::string& name) {
  Json metadata = {{"name", name.empty() ? before.metadata.name : name},
                   {"namespace", before.metadata.ns}};
  const auto given = wanted.find("metadata");
  if (given == wanted.end() || !given->is_object()) return metadata;
  for (const char* kept : {"labels", "annotations"})
    if (const auto found = given->find(kept); found != given->end() && found->is_object())
      metadata[kept] = *found;
  if (const auto notes = metadata.find("annotations"); notes != metadata.end())
    notes->erase(std::string(api::annotation::kRequestedBy));
  return metadata;
}

}  // namespace

Result<RerunManifest> rerun_manifest(const TrainingJob& before, Json wanted,
                                     const RerunOptions& options) {
  const auto spec = wanted.find("spec");
  if (spec == wanted.end() || !spec->is_object())
    return fail(Errc::kInvalid, "TrainingJob {} has no spec", before.metadata.name);
  RerunManifest made;
  Json fresh = *spec;
  fresh.erase("cancel");
  fresh.erase("suspend");
  const std::string& old_uri = before.spec.checkpoint.uri;
  // A run that committed nothing would itself have started from there.
  const std::string& from = has_committed(before) ? old_uri : before.spec.checkpoint.init_from;
  if (options.from_checkpoint && from.empty())
    return fail(Errc::kInvalid,
                "TrainingJob {} has committed no checkpoint; without --from-checkpoint it starts "
                "from the beginning",
                before.metadata.name);
  const auto checkpoint = fresh.find("checkpoint");
  const bool keeps = checkpoint != fresh.end() && checkpoint->is_object();
  if (checkpoint != fresh.end() && !keeps && !checkpoint->is_null())
    return fail(Errc::kInvalid, "TrainingJob {}: spec.checkpoint must be an object, and is {}",
                before.metadata.name, kind_name(*checkpoint));
  if (keeps && needs_new_folder(before, options))
    move_checkpoints(*checkpoint, old_uri, options.suffix, made);
  // That of an earlier rerun; where the user's own spec starts from is part of the spec.
  if (keeps && checkpoint->contains("initFrom") && (*checkpoint)["initFrom"].is_string() &&
      same_place((*checkpoint)["initFrom"].get<std::string>(), old_uri))
    checkpoint->erase("initFrom");
  if (options.from_checkpoint) fresh["checkpoint"]["initFrom"] = from;
  made.object = {{"apiVersion", std::string(api::kApiVersion)},
                 {"kind", std::string(api::kTrainingJobKind)},
                 {"metadata", metadata_of(before, wanted, options.name)},
                 {"spec", std::move(fresh)}};
  return made;
}

}  // namespace amdahl::cli
