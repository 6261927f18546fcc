// Gives memory that was freed back to the system: after a burst, when nobody waits.
//
// Thread: any; what other threads freed may stay. Takes milliseconds at most. Failure: none;
// nothing happens in programs without the allocator of ADR 0015.
#pragma once

namespace amdahl {

void return_free_memory();

}  // namespace amdahl
