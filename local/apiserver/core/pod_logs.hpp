// What containers wrote, for GET pods/NAME/log: the seam between the API server and the kubelet.
//
// The server has found the pod and chosen the container before it asks. Thread: the server's.
// Lifetime: outlives the server. Failure: a Status where there is no log to show.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "local/apiserver/core/message.hpp"
#include "local/apiserver/core/status.hpp"

namespace amdahl::local {

struct LogQuery {
  std::string ns = {};
  std::string pod = {};
  std::string uid = {};
  std::string container = {};
  bool follow = false;
  bool previous = false;    // of the container that ran before the present one
  bool timestamps = false;  // each line begins with its time, RFC 3339 with nanoseconds
  std::optional<std::int64_t> tail_lines = {};
  std::optional<std::int64_t> limit_bytes = {};
  std::optional<WallTime> since = {};
};

class PodLogs {
 public:
  virtual ~PodLogs() = default;
  // Plain text in pieces. Without `follow` it ends at what is there now; with it, when the
  // container has ended and everything was read.
  virtual Outcome<std::unique_ptr<WatchStream>> open(const LogQuery& query) = 0;
  // The end of what a pod printed that is deleted, where it was kept. The query has no UID, and may
  // have no container. A Status 404 is the answer of every other server.
  virtual Outcome<std::unique_ptr<WatchStream>> open_kept(const LogQuery& query) {
    return not_found({.name = "pods"}, query.pod);
  }
};

}  // namespace amdahl::local
