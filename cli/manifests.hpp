// Objects in files: YAML or JSON, several documents, Lists.
//
// Pure but for read_manifests. Thread: any. Failure: Errc::kInvalid names the file, the document
// and what is missing.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "cli/program.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::cli {

inline constexpr std::size_t kManifestBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kManifestsMax = 10'000;

struct Manifest {
  Json object = {};
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  kube::ObjectKey key = {};
  std::string place = {};  // "job.yaml, document 2", for messages
  std::string file = {};   // as it was given to read_manifests; "-" is standard input
};

// Whether an object may leave its name to the server (metadata.generateName).
enum class Names : std::uint8_t { kGiven, kMayBeMade };

Result<std::vector<Manifest>> parse_manifests(std::string_view text, const std::string& file,
                                              Names names = Names::kGiven);
// "-" is standard input.
Result<std::vector<Manifest>> read_manifests(const Program& program,
                                             const std::vector<std::string>& files,
                                             Names names = Names::kGiven);

// Where an object goes: its own namespace, or that of the command line; both must agree when the
// latter was asked for.
Result<kube::ObjectKey> place_of(const Manifest& manifest, bool namespaced, const std::string& ns,
                                 bool ns_was_asked_for);

}  // namespace amdahl::cli
