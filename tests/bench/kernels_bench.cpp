// Kernels beside their peers: memcpy, ISA-L, zstd, and our own functions in passes. One thread;
// ours and the peer take turns, ABBA; time is CPU time of the thread, so that a busy machine
// disturbs less. Prints one line of JSON; kernels_run.py judges it.
//
// usage: bench_kernels WEIGHTS.bf16 [ROUNDS | quick]
#include <isa-l.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "kernels/cast.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/delta.hpp"
#include "kernels/exponent_codec.hpp"
#include "kernels/shuffle.hpp"
#include "kernels/tile_pipeline.hpp"

namespace {
using namespace amdahl::kernels;

// Tensors begin at a page.
template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::align_val_t kPage{4096};
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kPage));
  }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, kPage); }
  bool operator==(const PageAllocator& /*other*/) const { return true; }
};
using Buffer = std::vector<std::byte, PageAllocator<std::byte>>;

constexpr std::size_t kChunk = 1U << 20;  // of zstd: what fits a cache serves it best

struct Plan {
  int rounds = 15;
  std::size_t sample_bytes = 64U << 20;
  std::size_t large = 256U << 20;  // far more than any cache holds
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Keeps a result alive without a store that could be measured.
void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value) : "memory");
}

using Work = std::function<void()>;

struct Contest {
  std::size_t bytes = 0;  // that one call works on
  Work ours;
  Work peer;
};

double rate_of(const Work& work, std::size_t bytes, const Plan& plan) {
  const std::size_t calls = std::max<std::size_t>(1, plan.sample_bytes / bytes);
  const double start = cpu_seconds();
  for (std::size_t i = 0; i < calls; ++i) work();
  return static_cast<double>(bytes * calls) / 1e9 / (cpu_seconds() - start);
}

nlohmann::json measure(const Contest& contest, const Plan& plan) {
  nlohmann::json ours = nlohmann::json::array();
  nlohmann::json peer = nlohmann::json::array();
  rate_of(contest.ours, contest.bytes, plan);  // pages, caches, clock frequency
  rate_of(contest.peer, contest.bytes, plan);
  for (int round = 0; round < plan.rounds; ++round) {
    if (round % 2 == 0) ours.push_back(rate_of(contest.ours, contest.bytes, plan));
    peer.push_back(rate_of(contest.peer, contest.bytes, plan));
    if (round % 2 != 0) ours.push_back(rate_of(contest.ours, contest.bytes, plan));
  }
  return {{"ours", ours}, {"peer", peer}};
}

// The file again and again: zstd at level 1 does not look back that far.
Buffer weights_of(const char* path, std::size_t size_min) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> once{std::istreambuf_iterator<char>(file), {}};
  AMDAHL_CHECK(once.size() >= kChunk && once.size() % 2 == 0);
  Buffer all;
  while (all.size() < size_min) {
    const auto bytes = std::as_bytes(std::span(once));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  all.resize(size_min);
  return all;
}

// zstd level 1 after a byte shuffle, chunk by chunk, with contexts that are made once.
class ShuffledZstd {
 public:
  explicit ShuffledZstd(const Buffer& bf16)
      : bf16_(bf16), back_(bf16.size()), planes_(kChunk), packed_(bf16.size() / kChunk) {
    for (auto& chunk : packed_) chunk.resize(ZSTD_compressBound(kChunk));
    sizes_.resize(packed_.size());
  }
  ShuffledZstd(const ShuffledZstd&) = delete;
  ShuffledZstd& operator=(const ShuffledZstd&) = delete;
  ~ShuffledZstd() {
    ZSTD_freeCCtx(compressor_);
    ZSTD_freeDCtx(decompressor_);
  }

  void encode() {
    for (std::size_t i = 0; i < packed_.size(); ++i) {
      shuffle(planes_, Bytes(bf16_).subspan(i * kChunk, kChunk), 2);
      sizes_[i] = ZSTD_compressCCtx(compressor_, packed_[i].data(), packed_[i].size(),
                                    planes_.data(), kChunk, 1);
      AMDAHL_CHECK(ZSTD_isError(sizes_[i]) == 0);
    }
  }

  void decode() {
    for (std::size_t i = 0; i < packed_.size(); ++i) {
      const std::size_t size =
          ZSTD_decompressDCtx(decompressor_, planes_.data(), kChunk, packed_[i].data(), sizes_[i]);
      AMDAHL_CHECK(size == kChunk);
      unshuffle(MutableBytes(back_).subspan(i * kChunk, kChunk), planes_, 2);
    }
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const std::size_t size : sizes_) sum += size;
    return sum;
  }
  bool exact() const { return back_ == bf16_; }

 private:
  const Buffer& bf16_;
  Buffer back_;
  Buffer planes_;
  std::vector<Buffer> packed_;
  std::vector<std::size_t> sizes_;
  ZSTD_CCtx* compressor_ = ZSTD_createCCtx();
  ZSTD_DCtx* decompressor_ = ZSTD_createDCtx();
};

nlohmann::json checksums(const Plan& plan) {
  nlohmann::json found;
  Buffer data(plan.large, std::byte{0x5A});
  for (const std::size_t kilobytes : {64U, 256U, 1024U, 262144U}) {
    const std::size_t size = std::min<std::size_t>(kilobytes << 10, plan.large);
    auto* start = reinterpret_cast<unsigned char*>(data.data());
    found["crc_" + std::to_string(kilobytes)] =
        measure({.bytes = size,
                 .ours = [&, size] { keep(crc32c(Bytes(data).first(size))); },
                 .peer = [=] { keep(crc32_iscsi(start, static_cast<int>(size), 0)); }},
                plan);
  }
  Buffer to(data.size(), std::byte{1});
  for (const std::size_t megabytes : {1U, 16U, 256U}) {
    const std::size_t size = std::min<std::size_t>(megabytes << 20, plan.large);
    found["copy_" + std::to_string(megabytes)] =
        measure({.bytes = size,
                 .ours =
                     [&, size] {
                       keep(copy_crc32c(MutableBytes(to).first(size), Bytes(data).first(size)));
                     },
                 .peer =
                     [&, size] {
                       std::memcpy(to.data(), data.data(), size);
                       keep(static_cast<std::uint64_t>(to[size - 1]));
                     }},
                plan);
  }
  return found;
}

nlohmann::json codec(const std::string& where, const Buffer& bf16, const Plan& plan) {
  ShuffledZstd peer(bf16);
  Buffer encoded(exponent_codec_bytes_max(bf16.size()));
  Buffer back(bf16.size());
  std::size_t size = 0;
  nlohmann::json found;
  found["encode" + where] = measure({.bytes = bf16.size(),
                                     .ours = [&] { size = encode_exponents(encoded, bf16); },
                                     .peer = [&] { peer.encode(); }},
                                    plan);
  found["decode" + where] =
      measure({.bytes = bf16.size(),
               .ours = [&] { AMDAHL_CHECK(decode_exponents(back, Bytes(encoded).first(size))); },
               .peer = [&] { peer.decode(); }},
              plan);
  AMDAHL_CHECK(back == bf16 && peer.exact());
  const double raw_bytes = static_cast<double>(bf16.size());
  found["ratio" + where] = {{"ours", {raw_bytes / static_cast<double>(size)}},
                            {"peer", {raw_bytes / static_cast<double>(peer.bytes())}}};
  return found;
}

nlohmann::json pipeline(const Plan& plan) {
  const std::size_t fp32_bytes = plan.large / 2;
  Buffer fp32(fp32_bytes);
  for (std::size_t i = 0; i < fp32.size(); ++i)
    fp32[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  Buffer previous(fp32_bytes / 2, std::byte{3});
  Buffer bf16(fp32_bytes / 2);
  Buffer delta(fp32_bytes / 2);
  const Contest contest{.bytes = fp32_bytes,
                        .ours = [&] { keep(snapshot_delta(delta, fp32, previous).result); },
                        .peer =
                            [&] {
                              keep(crc32c(fp32));
                              fp32_to_bf16(bf16, fp32);
                              xor_delta(delta, bf16, previous);
                              keep(crc32c(delta));
                            }};
  nlohmann::json found;
  found["pipeline"] = measure(contest, plan);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s WEIGHTS.bf16 [ROUNDS | quick]\n", argv[0]);
    return 2;
  }
  Plan plan;
  if (argc > 2 && std::strcmp(argv[2], "quick") == 0)
    plan = {.rounds = 1, .sample_bytes = 1, .large = 2U << 20};
  else if (argc > 2)
    plan.rounds = std::atoi(argv[2]);
  nlohmann::json samples = checksums(plan);
  samples.update(codec("", weights_of(argv[1], plan.large / 8 / kChunk * kChunk + kChunk), plan));
  samples.update(codec("_cached", weights_of(argv[1], kChunk), plan));
  samples.update(pipeline(plan));
  const nlohmann::json all = {{"row", active_row().name}, {"samples", samples}};
  std::printf("%s\n", all.dump().c_str());
  return 0;
}
