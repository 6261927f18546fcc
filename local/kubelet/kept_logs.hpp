// The ends of what pods printed that are deleted: the last ranks of a training job, after a pause
// or a failure took their pods away.
//
//   FOLDER/NAMESPACE/OWNER_UID/owner.json                      the object that the pods belonged to
//   FOLDER/NAMESPACE/OWNER_UID/ATTEMPT/POD/CONTAINER/0.1.log   as log_file.hpp writes it
//
// Kept are pods that are named OWNER-ATTEMPT-RANK after their controller: of an owner the newest
// kKeptAttemptsMax attempts, of a container the last kKeptTextBytesMax of its newest run. Anybody
// may have written a pod's labels and owner, so its owner's status says which attempt is the
// newest. Thread: one. Lifetime: the folder outlives it. Failure: a log that cannot be kept is
// lost, as it would be without this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/kubelet/pod_folder.hpp"
#include "local/kubelet/types_pod.hpp"

namespace amdahl::local {

inline constexpr std::size_t kKeptTextBytesMax = std::size_t{64} << 10U;
inline constexpr std::size_t kKeptFileBytesMax =
    4 * kKeptTextBytesMax;  // with times of short lines
inline constexpr std::uint64_t kKeptAttemptsMax = 3;
inline constexpr std::size_t kKeptOwnersMax = 256;  // those kept to longest ago go first
// The same as in operator/api/names.hpp, which a kubelet does not know.
inline constexpr std::string_view kAttemptLabel = "amdahl.dev/attempt";

struct KeptOwner {
  std::string api_version = {};
  std::string kind = {};
  std::string ns = {};
  std::string name = {};
  std::string uid = {};
};
template <class V>
constexpr void fields(V& v, KeptOwner& owner) {
  v.required("apiVersion", owner.api_version);
  v.required("kind", owner.kind);
  v.required("namespace", owner.ns);
  v.required("name", owner.name);
  v.required("uid", owner.uid);
}

// What the API server says of an owner.
struct OwnerSeen {
  bool gone = false;                          // or another object has its name
  std::optional<std::uint64_t> attempt = {};  // the newest; its status has none, or it is unknown
};

// The end of a log file: whole records with at most that many bytes of text.
std::string last_records(std::string_view records, std::size_t text_max, std::size_t bytes_max);

class KeptLogs {
 public:
  explicit KeptLogs(std::string folder) : folder_(std::move(folder)) {}

  // Nothing for pods that leave no log here.
  static std::optional<KeptOwner> owner_of(const Pod& pod);
  // Before the pod's own folder is removed; a second call for the same pod changes nothing. Does
  // not keep attempts after the newest of the owner, which it never had.
  void keep(const Pod& pod, const PodFolder& from, const OwnerSeen& seen);
  // The folder of a container's log; an empty name is the pod's only container, or its first.
  std::optional<std::string> find(const std::string& ns, const std::string& pod,
                                  const std::string& container) const;
  std::vector<KeptOwner> owners() const;
  void forget(const KeptOwner& owner);

 private:
  void drop_oldest();

  std::string folder_;
};

}  // namespace amdahl::local
