// Whether a host is this machine, by its text alone: nothing is resolved.
//
// Pure. An address counts if it parses as one of 127.0.0.0/8 or ::1, with or without brackets; of
// names only "localhost" does. "127.evil.example" is a name like any other. Failure: none.
#pragma once

#include <string_view>

namespace amdahl {

bool is_loopback_host(std::string_view host);

}  // namespace amdahl
