// The CUDA kernels on a CPU (test_shim.hpp), in several orders of threads, against the scalar row.
#include "kernels/cuda/test_shim.hpp"  // before the kernels: it says what CUDA's words mean

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "kernels/crc32c.hpp"
#include "kernels/cuda/cast_delta.cuh"
#include "kernels/cuda/crc32c.cuh"
#include "kernels/cuda/exponent_planes.cuh"
#include "kernels/exponent_window.hpp"

namespace amdahl::kernels {
namespace {

constexpr std::uint64_t kOrders[] = {0, 1, 2, 3};
constexpr std::size_t kCounts[] = {1, 3, 4, 31, 255, 1025, 4099};

// Aligned as device memory is, and of its exact size for the address sanitizer.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    data_ = static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{256}));
    std::memset(static_cast<void*>(data_), 0xEE, count * sizeof(T));
  }
  DeviceArray(std::size_t count, std::uint64_t seed) : DeviceArray(count) {
    const std::vector<std::byte> bytes = noise(count * sizeof(T), seed);
    std::memcpy(static_cast<void*>(data_), bytes.data(), bytes.size());
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { ::operator delete(data_, std::align_val_t{256}); }

  T* data() { return data_; }
  std::uint8_t* raw_bytes() { return reinterpret_cast<std::uint8_t*>(data_); }
  bool equals(const DeviceArray& other) const {
    return std::memcmp(data_, other.data_, count_ * sizeof(T)) == 0;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

const Row& scalar() {
  return *available_rows().back();
}

// Exponents around a middle, as weights have them, with some far away.
void make_weights(std::uint16_t* values, std::size_t count) {
  Noise source(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = source.next();
    const std::uint64_t exponent = bits % 37 == 0 ? bits >> 8 & 0xFF : 118 + (bits >> 16) % 6;
    values[i] = static_cast<std::uint16_t>((bits & 0x807F) | exponent << 7);
  }
}

}  // namespace

TEST_CASE("CUDA casts and deltas are those of the scalar row", "[kernels][cuda]") {
  for (const std::size_t count : kCounts)
    for (const std::uint64_t order : kOrders) {
      INFO("count " << count << " order " << order);
      DeviceArray<std::uint32_t> fp32(count, 1);
      DeviceArray<std::uint16_t> previous(count, 2);
      DeviceArray<std::uint16_t> got(count);
      DeviceArray<std::uint16_t> expected(count);
      shim::launch(2, cuda::kThreads, order,
                   [&] { cuda::amdahl_fp32_to_bf16(got.data(), fp32.data(), count); });
      scalar().fp32_to_bf16(expected.raw_bytes(), fp32.raw_bytes(), count);
      REQUIRE(got.equals(expected));
      shim::launch(2, cuda::kThreads, order, [&] {
        cuda::amdahl_cast_delta(got.data(), fp32.data(), previous.data(), count);
      });
      scalar().cast_delta(expected.raw_bytes(), fp32.raw_bytes(), previous.raw_bytes(), count);
      REQUIRE(got.equals(expected));
      shim::launch(1, cuda::kThreads, order, [&] {
        cuda::amdahl_xor_delta(got.raw_bytes(), fp32.raw_bytes(), previous.raw_bytes(), 2 * count);
      });
      scalar().xor_delta(expected.raw_bytes(), fp32.raw_bytes(), previous.raw_bytes(), 2 * count);
      REQUIRE(got.equals(expected));
      DeviceArray<std::uint32_t> wide(count);
      DeviceArray<std::uint32_t> wide_expected(count);
      shim::launch(2, cuda::kThreads, order,
                   [&] { cuda::amdahl_bf16_to_fp32(wide.data(), previous.data(), count); });
      scalar().bf16_to_fp32(wide_expected.raw_bytes(), previous.raw_bytes(), count);
      REQUIRE(wide.equals(wide_expected));
    }
}

TEST_CASE("CUDA cast treats special values as the scalar row does", "[kernels][cuda]") {
  const std::uint32_t special[] = {0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x7F800000,
                                   0xFF800000, 0x7F800001, 0xFFBFFFFF, 0x7FFFFFFF,
                                   0x80000000, 0x00000001, 0x007FFFFF, 0x00400000};
  DeviceArray<std::uint32_t> fp32(std::size(special));
  DeviceArray<std::uint16_t> got(std::size(special));
  DeviceArray<std::uint16_t> expected(std::size(special));
  std::ranges::copy(special, fp32.data());
  shim::launch(1, cuda::kThreads, 0,
               [&] { cuda::amdahl_fp32_to_bf16(got.data(), fp32.data(), std::size(special)); });
  scalar().fp32_to_bf16(expected.raw_bytes(), fp32.raw_bytes(), std::size(special));
  CHECK(got.equals(expected));
}

TEST_CASE("CUDA sums of chunks are their CRC32C, and combine", "[kernels][cuda]") {
  for (const std::size_t size : {1U, 127U, 128U, 129U, 4095U, 4096U, 4097U, 12345U, 40960U})
    for (const std::uint64_t order : kOrders) {
      INFO("size " << size << " order " << order);
      const std::size_t chunks = (size + 4095) / 4096;
      DeviceArray<std::uint8_t> data(size, 3);
      DeviceArray<std::uint32_t> sums(chunks);
      const unsigned blocks = static_cast<unsigned>((chunks + cuda::kWarps - 1) / cuda::kWarps);
      shim::launch(blocks, cuda::kThreads, order, [&] {
        cuda::amdahl_crc32c_partials({.data = data.data(), .size = size, .sums = sums.data()});
      });
      std::uint32_t whole = 0;
      for (std::size_t i = 0; i < chunks; ++i) {
        const std::size_t bytes = std::min<std::size_t>(4096, size - i * 4096);
        REQUIRE(sums.data()[i] == scalar().crc32c(0, data.data() + i * 4096, bytes));
        whole = crc32c_combine(whole, sums.data()[i], bytes);
      }
      REQUIRE(whole == scalar().crc32c(0, data.data(), size));
    }
}

TEST_CASE("CUDA exponent planes are those of the scalar row, and come back", "[kernels][cuda]") {
  for (const std::size_t count : {1U, 31U, 100U, 4096U, 4097U, 9000U})
    for (const std::uint64_t order : kOrders) {
      INFO("count " << count << " order " << order);
      const std::size_t blocks = (count + 4095) / 4096;
      DeviceArray<std::uint16_t> values(count);
      make_weights(values.data(), count);
      DeviceArray<cuda::Window> windows(blocks);
      DeviceArray<std::uint8_t> signs(count);
      DeviceArray<std::uint8_t> planes(blocks * cuda::kPlaneSlot);
      DeviceArray<std::uint8_t> exceptions(blocks * 4096);
      DeviceArray<std::uint32_t> counts(blocks);
      for (std::size_t i = 0; i < blocks; ++i)
        windows.data()[i] = {.base = 118, .planes = static_cast<std::uint8_t>(1 + (i + count) % 7)};
      shim::launch(static_cast<unsigned>(blocks), cuda::kThreads, order, [&] {
        cuda::amdahl_split_exponents({.values = values.data(),
                                      .count = count,
                                      .windows = windows.data(),
                                      .sign_mantissa = signs.data(),
                                      .plane_bits = planes.data(),
                                      .exceptions = exceptions.data(),
                                      .exception_counts = counts.data()});
      });
      for (std::size_t i = 0; i < blocks; ++i) {
        const std::size_t here = std::min<std::size_t>(4096, count - i * 4096);
        const std::size_t stride = (here + 7) / 8;
        const cuda::Window window = windows.data()[i];
        std::vector<std::uint8_t> sign(here);
        std::vector<std::uint8_t> bits(window.planes * stride);
        std::vector<std::uint8_t> odd(here + kExceptionSlack);
        odd.resize(scalar().split_exponents({.values = values.raw_bytes() + 8192 * i,
                                             .count = here,
                                             .base = window.base,
                                             .planes = window.planes,
                                             .sign_mantissa = sign.data(),
                                             .plane_bits = bits.data(),
                                             .plane_stride = stride,
                                             .exceptions = odd.data()}));
        REQUIRE(counts.data()[i] == odd.size());
        REQUIRE(std::equal(sign.begin(), sign.end(), signs.data() + 4096 * i));
        REQUIRE(std::equal(bits.begin(), bits.end(), planes.data() + cuda::kPlaneSlot * i));
        REQUIRE(std::equal(odd.begin(), odd.end(), exceptions.data() + 4096 * i));
      }
      DeviceArray<std::uint16_t> back(count);
      DeviceArray<std::uint32_t> asked(blocks);
      shim::launch(static_cast<unsigned>(blocks), cuda::kThreads, order, [&] {
        cuda::amdahl_merge_exponents({.sign_mantissa = signs.data(),
                                      .plane_bits = planes.data(),
                                      .exceptions = exceptions.data(),
                                      .exception_counts = counts.data(),
                                      .windows = windows.data(),
                                      .count = count,
                                      .values = back.data(),
                                      .asked = asked.data()});
      });
      REQUIRE(back.equals(values));
      REQUIRE(asked.equals(counts));
    }
}

TEST_CASE("CUDA merge says when codes ask for more exceptions than there are", "[kernels][cuda]") {
  DeviceArray<cuda::Window> windows(1);
  windows.data()[0] = {.base = 1, .planes = 2};
  DeviceArray<std::uint8_t> signs(100, 5);
  DeviceArray<std::uint8_t> planes(cuda::kPlaneSlot);
  std::memset(planes.data(), 0xFF, cuda::kPlaneSlot);
  DeviceArray<std::uint8_t> exceptions(10, 6);  // fewer than asked for: one read too far is seen
  DeviceArray<std::uint32_t> counts(1);
  counts.data()[0] = 10;
  DeviceArray<std::uint16_t> values(100);
  DeviceArray<std::uint32_t> asked(1);
  shim::launch(1, cuda::kThreads, 0, [&] {
    cuda::amdahl_merge_exponents({.sign_mantissa = signs.data(),
                                  .plane_bits = planes.data(),
                                  .exceptions = exceptions.data(),
                                  .exception_counts = counts.data(),
                                  .windows = windows.data(),
                                  .count = 100,
                                  .values = values.data(),
                                  .asked = asked.data()});
  });
  CHECK(asked.data()[0] == 100);
}

// The shim is only worth something if it notices.
TEST_CASE("CUDA shim gives another result when a barrier is missing", "[kernels][cuda]") {
  const auto sum_without_barrier = [](std::uint64_t order) {
    std::uint32_t first = 0;
    shim::launch(1, cuda::kThreads, order, [&] {
      AMDAHL_SHARED(std::uint32_t, cells, cuda::kThreads);
      cells[threadIdx.x] = threadIdx.x;
      if (threadIdx.x == 0) first = cells[cuda::kThreads - 1];  // somebody else's, too early
    });
    return first;
  };
  CHECK(sum_without_barrier(0) != sum_without_barrier(1));
  CHECK(sum_without_barrier(1) == cuda::kThreads - 1);
}

TEST_CASE("CUDA shim stops at a barrier that not everybody reaches", "[kernels][cuda]") {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    std::freopen("/dev/null", "w", stderr);
    shim::launch(1, cuda::kThreads, 0, [] {
      if (threadIdx.x != 7) __syncthreads();
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

}  // namespace amdahl::kernels
