// The processes below one process, from /proc.
//
// Thread: any. Failure: none; a process that goes away while it is looked at is left out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::local {

// Children, their children and so on; not `root` itself. Parents come before their children.
std::vector<pid_t> descendants(pid_t root);

// The memory of these processes together. Pages that they share are counted once, as far as the
// kernel tells; that is asked only when the plain sum is over `limit`.
std::int64_t memory_of(const std::vector<pid_t>& pids, std::int64_t limit);

// Processes of this user whose environment has NAME=value with a value that begins like this.
std::vector<pid_t> marked_processes(std::string_view name, std::string_view value_prefix);

// "/proc" files have no size; reads up to a bound.
std::string read_proc(const std::string& path);

}  // namespace amdahl::local
