// The launcher's own files for the time of one run: socket, error file, hostfile, hooks.
//
// Thread: any. Lifetime: what it made is removed when it dies. Failure: what cannot be made is left
// out, and a complaint says so.
#pragma once

#include <string>
#include <vector>

#include "runtime/launch/command.hpp"
#include "runtime/launch/settings.hpp"

namespace amdahl::launch {

class OwnFolder {
 public:
  OwnFolder(const Settings& settings, std::vector<std::string>& complaints);
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  const OwnFiles& files() const { return files_; }

 private:
  std::string folder_;
  OwnFiles files_;
};

}  // namespace amdahl::launch
