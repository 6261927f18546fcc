// One suite for every row: KERNEL_TEST_CASE runs its body once a row, with `row` set. A row that
// this machine lacks is named in the output; dispatch_test.cpp holds the list to the processor's.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

struct ScalarRow {
  static constexpr const char* kName = "scalar";
};
struct Avx2Row {
  static constexpr const char* kName = "avx2";
};
struct Avx512Row {
  static constexpr const char* kName = "avx512";
};
struct NeonRow {
  static constexpr const char* kName = "neon";
};

template <typename Tag>
const Row* row_under_test() {
  const Choice choice = choose_row(Tag::kName);
  if (choice.row == nullptr) WARN("not run: " << choice.error);
  return choice.row;
}

inline const Row& scalar_row() {
  return *available_rows().back();
}

}  // namespace amdahl::kernels

#if defined(__x86_64__)
#define AMDAHL_KERNEL_ROWS \
  amdahl::kernels::ScalarRow, amdahl::kernels::Avx2Row, amdahl::kernels::Avx512Row
#else
#define AMDAHL_KERNEL_ROWS amdahl::kernels::ScalarRow, amdahl::kernels::NeonRow
#endif
#define KERNEL_TEST_CASE(name) TEMPLATE_TEST_CASE(name, "[kernels]", AMDAHL_KERNEL_ROWS)
