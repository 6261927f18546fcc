// Which row of kernels this process runs.
//
// The best row that the machine has, unless the environment variable AMDAHL_ISA names one: then
// that one or an error, never another. Thread: any. Rows live as long as the process.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/row.hpp"

namespace amdahl::kernels {

// Rows that were compiled for this architecture and that this machine can run, best first. The
// last one is always scalar.
std::span<const Row* const> available_rows();

struct Choice {
  const Row* row = nullptr;  // null when there is an error
  std::string error;         // what was asked for, why not, and what there is instead
};

// An empty name asks for the best.
Choice choose_row(std::string_view name);

// What AMDAHL_ISA asks for. A program that wants to report a bad value its own way calls this
// before anything else of this folder.
Choice row_of_environment();

// row_of_environment(), asked once; an error stops the process.
const Row& active_row();

}  // namespace amdahl::kernels
