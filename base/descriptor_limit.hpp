// How many files and sockets this process may have open at once.
//
// Thread: any; raise it before others count on it. Failure: none; if the limit cannot be read or
// raised, the limit in force is returned.
#pragma once

#include <cstddef>

namespace amdahl {

std::size_t descriptor_limit();  // the soft one
// Raises the soft limit to the hard one. Children inherit it: not for a process that starts
// programs of others.
std::size_t raise_descriptor_limit();

}  // namespace amdahl
