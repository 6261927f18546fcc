#include "kernels/dispatch.hpp"

#include <array>
#include <cstdlib>
#include <vector>

#include "kernels/contract.hpp"
#include "kernels/scalar/kernels.hpp"
#if defined(__x86_64__)
#include "kernels/avx2/kernels.hpp"
#include "kernels/avx512/kernels.hpp"
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "kernels/neon/kernels.hpp"
#endif

namespace amdahl::kernels {
namespace {

constexpr Row kScalar = {
    .name = "scalar",
    .crc32c = scalar::crc32c,
    .copy_crc32c = scalar::copy_crc32c,
    .stream_crc32c = scalar::copy_crc32c,
    .fp32_to_bf16 = scalar::fp32_to_bf16,
    .bf16_to_fp32 = scalar::bf16_to_fp32,
    .cast_delta = scalar::cast_delta,
    .xor_delta = scalar::xor_delta,
    .shuffle = scalar::shuffle,
    .unshuffle = scalar::unshuffle,
    .split_exponents = scalar::split_exponents,
    .merge_exponents = scalar::merge_exponents,
};

#if defined(__x86_64__)
constexpr Row kAvx2 = {
    .name = "avx2",
    .crc32c = avx2::crc32c,
    .copy_crc32c = avx2::copy_crc32c,
    .stream_crc32c = avx2::stream_crc32c,
    .fp32_to_bf16 = avx2::fp32_to_bf16,
    .bf16_to_fp32 = avx2::bf16_to_fp32,
    .cast_delta = avx2::cast_delta,
    .xor_delta = avx2::xor_delta,
    .shuffle = avx2::shuffle,
    .unshuffle = avx2::unshuffle,
    .split_exponents = avx2::split_exponents,
    .merge_exponents = avx2::merge_exponents,
};

// What is avx2:: here moves bytes and hardly computes: wider registers gain nothing.
constexpr Row kAvx512 = {
    .name = "avx512",
    .crc32c = avx512::crc32c,
    .copy_crc32c = avx512::copy_crc32c,
    .stream_crc32c = avx512::stream_crc32c,
    .fp32_to_bf16 = avx512::fp32_to_bf16,
    .bf16_to_fp32 = avx2::bf16_to_fp32,
    .cast_delta = avx512::cast_delta,
    .xor_delta = avx2::xor_delta,
    .shuffle = avx2::shuffle,
    .unshuffle = avx2::unshuffle,
    .split_exponents = avx512::split_exponents,
    .merge_exponents = avx512::merge_exponents,
};

// Intel since Haswell, AMD since Zen.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul") &&
         __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

// Intel since Ice Lake, AMD since Zen 4. Older AVX-512 lacks the last two and runs avx2.
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("vpclmulqdq");
}
#elif defined(__aarch64__)
constexpr Row kNeon = {
    .name = "neon",
    .crc32c = neon::crc32c,
    .copy_crc32c = neon::copy_crc32c,
    // Its non-temporal stores are a hint without an intrinsic.
    .stream_crc32c = neon::copy_crc32c,
    .fp32_to_bf16 = neon::fp32_to_bf16,
    .bf16_to_fp32 = neon::bf16_to_fp32,
    .cast_delta = neon::cast_delta,
    .xor_delta = neon::xor_delta,
    .shuffle = neon::shuffle,
    .unshuffle = neon::unshuffle,
    .split_exponents = neon::split_exponents,
    .merge_exponents = neon::merge_exponents,
};

// Optional in ARMv8.0, but servers of any year have them.
bool has_neon() {
  constexpr unsigned long kNeeded = HWCAP_ASIMD | HWCAP_CRC32 | HWCAP_PMULL;
  return (::getauxval(AT_HWCAP) & kNeeded) == kNeeded;
}
#endif

struct Candidate {
  const Row* row = nullptr;
  bool (*runs_here)() = nullptr;
  std::string_view needs;  // for people
};

// Best first.
constexpr Candidate kCandidates[] = {
#if defined(__x86_64__)
    {&kAvx512, has_avx512, "AVX-512 F, BW, VL, DQ, VBMI2 and VPCLMULQDQ"},
    {&kAvx2, has_avx2, "AVX2, BMI1, BMI2, POPCNT, SSE4.2 and PCLMULQDQ"},
#elif defined(__aarch64__)
    {&kNeon, has_neon, "ASIMD, CRC32 and PMULL"},
#endif
    {&kScalar, [] { return true; }, "nothing"},
};

std::vector<const Row*> find_rows() {
  std::vector<const Row*> rows;
  for (const Candidate& candidate : kCandidates)
    if (candidate.runs_here()) rows.push_back(candidate.row);
  return rows;
}

// The name that a user can set, of every row that exists on some architecture.
constexpr std::array<std::string_view, 4> kNames = {"avx512", "avx2", "neon", "scalar"};

std::string names_available() {
  std::string text;
  for (const Row* row : available_rows())
    text += (text.empty() ? "" : ", ") + std::string(row->name);
  return text;
}

std::string why_not(std::string_view name) {
  for (const Candidate& candidate : kCandidates)
    if (candidate.row->name == name)
      return "this machine lacks it (it needs " + std::string(candidate.needs) + ")";
  for (const std::string_view known : kNames)
    if (known == name) return "it belongs to another architecture";
  return "no instruction set of that name is known";
}

}  // namespace

std::span<const Row* const> available_rows() {
  static const std::vector<const Row*> rows = find_rows();
  return rows;
}

Choice choose_row(std::string_view name) {
  if (name.empty()) return {.row = available_rows().front(), .error = {}};
  for (const Row* row : available_rows())
    if (row->name == name) return {.row = row, .error = {}};
  return {.row = nullptr,
          .error = "AMDAHL_ISA=" + std::string(name) + ": " + why_not(name) +
                   "; here one can choose " + names_available()};
}

Choice row_of_environment() {
  // tidy: allow(ban-environment) must work in every program that links this, also in a foreign one
  const char* wanted = std::getenv("AMDAHL_ISA");
  return choose_row(wanted == nullptr ? "" : wanted);
}

const Row& active_row() {
  static const Row& row = [] -> const Row& {
    const Choice choice = row_of_environment();
    if (choice.row == nullptr) contract_broken(choice.error.c_str());
    return *choice.row;
  }();
  return row;
}

}  // namespace amdahl::kernels
