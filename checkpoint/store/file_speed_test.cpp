// What a durable gibibyte costs, beside the plain way. Hidden, because it says nothing in a build
// with sanitizers: build/release/checkpoint/store/checkpoint_store_test "[speed]"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "base/fd.hpp"
#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 30U;
constexpr std::size_t kPlainBytes = std::size_t{8} << 20U;
RealClock real_clock;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Action>
double measured(std::string_view what, Action action) {
  const Monotonic begin = real_clock.monotonic();
  const double cpu = cpu_seconds();
  action();
  const double seconds = std::chrono::duration<double>(real_clock.monotonic() - begin).count();
  std::cout << fmt::format("{:<36} {:.2f} s, CPU {:.2f} s\n", what, seconds, cpu_seconds() - cpu);
  return seconds;
}

void write_plainly(const std::string& path, std::span<const std::byte> arena) {
  const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  for (std::size_t at = 0; at < kBytes; at += kPlainBytes)
    REQUIRE(::pwrite(file.get(), arena.data() + at, kPlainBytes, static_cast<off_t>(at)) > 0);
  REQUIRE(::fsync(file.get()) == 0);
}

void read_plainly(const std::string& path, std::span<std::byte> into) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (std::size_t at = 0; at < kBytes; at += kPlainBytes)
    REQUIRE(::pread(file.get(), into.data() + at, kPlainBytes, static_cast<off_t>(at)) > 0);
}

TEST_CASE("FileStore beside plain writes and reads", "[.][speed]") {
  const TestFolder folder;
  FileStore store({.root = folder.path() + "/prefix"}, real_clock, Rng(1));
  void* const memory = ::mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const std::span<std::byte> arena(static_cast<std::byte*>(memory), kBytes);
  const std::span<std::byte> into(static_cast<std::byte*>(memory) + kBytes, kBytes);
  Rng rng(1);
  for (std::size_t i = 0; i < kBytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = rng.next();
    std::memcpy(arena.data() + i, &word, sizeof word);
  }
  for (int round = 0; round < 3; ++round) {
    const std::string plain = folder.path() + "/plain";
    const double of_plain =
        measured("plain write and fsync of 1 GiB", [&] { write_plainly(plain, arena); });
    const std::vector<Bytes> pieces{Bytes(arena)};
    const double of_store =
        measured("create() of 1 GiB", [&] { REQUIRE(store.create("a", pieces, {})); });
    std::cout << fmt::format("{:<36} {:.2f}\n", "create() / plain", of_store / of_plain);
    const std::vector<Bytes> odd{Bytes(arena).subspan(1), Bytes(arena).first(1)};
    measured("create() of 1 GiB, unaligned", [&] { REQUIRE(store.create("b", odd, {})); });
    const std::string cached = folder.path() + "/prefix/plain";
    std::filesystem::rename(plain, cached);
    const double read_plain =
        measured("plain read of 1 GiB, cached", [&] { read_plainly(cached, into); });
    const double read_store =
        measured("read() of 1 GiB, cached", [&] { REQUIRE(store.read("plain", 0, into, {})); });
    std::cout << fmt::format("{:<36} {:.2f}\n", "read() / plain", read_store / read_plain);
    CHECK(std::ranges::equal(arena, into));
    for (const char* const name : {"a", "b", "plain"}) REQUIRE(store.remove(name, {}));
  }
  ::munmap(memory, 2 * kBytes);
}

}  // namespace
}  // namespace amdahl::checkpoint
