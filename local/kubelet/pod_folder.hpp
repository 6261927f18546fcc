// Where one pod lives on the disk: volumes, logs, messages. Everything goes with the pod.
//
//   DATA/pods/UID/volumes/NAME  logs/CONTAINER  work/CONTAINER  last-words/CONTAINER.RUN  scratch
//   DATA/pods/UID_BEGIN.tmp     for temporary files of its programs
//
// Thread: one. Failure: Errc::kIo with the path; Errc::kForbidden for a hostPath outside the root.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "local/kubelet/types_pod.hpp"
#include "local/kubelet/volume_files.hpp"

namespace amdahl::local {

inline constexpr std::size_t kTerminationBytesMax = 4096;
inline constexpr std::size_t kFallbackBytesMax = 2048;
inline constexpr std::size_t kFallbackLinesMax = 80;
// A path of a socket has 107 bytes at most, and programs make it in a folder with a name of their
// own: amdahl-launch needs 38 bytes, Python's multiprocessing 32.
inline constexpr std::size_t kTemporaryPathMax = 69;
inline constexpr std::size_t kUidBeginChars = 13;  // 48 random bits, for a shorter path

class PodFolder {
 public:
  PodFolder(const std::string& data_dir, const std::string& uid)
      : root_(data_dir + "/pods/" + uid),
        temporary_(data_dir + "/pods/" + uid.substr(0, kUidBeginChars) + ".tmp") {}

  const std::string& root() const { return root_; }
  std::string volume(const std::string& name) const { return root_ + "/volumes/" + name; }
  std::string logs(const std::string& container) const { return root_ + "/logs/" + container; }
  std::string work(const std::string& container) const { return root_ + "/work/" + container; }
  std::string scratch() const { return root_ + "/scratch"; }
  std::string last_words(const std::string& container, std::int32_t run) const;

  // Empty: its path is too long for programs that make sockets there.
  std::string temporary() const { return temporary_.size() <= kTemporaryPathMax ? temporary_ : ""; }
  // Both entries of the pod in DATA/pods.
  std::vector<std::string> names() const;

  // The folders of a container and an empty file for its last words.
  Result<void> prepare(const std::string& container, std::int32_t run) const;
  Result<void> write_volume(const std::string& name, const VolumeFiles& files) const;
  // What it wrote to its termination message file, or the end of its log when it failed.
  std::string termination_message(const Container& container, std::int32_t run, bool failed) const;
  void remove() const;

 private:
  std::string root_;
  std::string temporary_;
};

// The folder itself when it lies below the allowed root and is of the type that is asked for.
Result<std::string> host_path(const HostPath& wanted, const std::string& allowed_root);

}  // namespace amdahl::local
