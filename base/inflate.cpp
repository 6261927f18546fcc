#include "base/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.hpp"

namespace amdahl {
namespace {
constexpr int kGzipOnly = 15 + 16;  // the largest window; no raw deflate, no zlib header
constexpr std::size_t kStepBytes = 16 * 1024;
}  // namespace

struct Inflater::Stream {
  z_stream z{};
  std::size_t bytes_left = 0;
  bool at_end = false;  // a member ended; another may follow
  bool failed = false;

  Stream(std::size_t bytes_max) : bytes_left(bytes_max) {
    AMDAHL_CHECK(inflateInit2(&z, kGzipOnly) == Z_OK);
  }
  ~Stream() { inflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // One call of zlib; true when it wants to be called again.
  Result<bool> step(std::string& out) {
    std::array<char, kStepBytes> buffer;
    z.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z.avail_out = buffer.size();
    const int code = inflate(&z, Z_NO_FLUSH);
    const std::size_t produced = buffer.size() - z.avail_out;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      failed = true;
      return fail(Errc::kCorrupt, "gunzip: {}", z.msg ? z.msg : "not a gzip stream");
    }
    if (produced > bytes_left) {
      failed = true;
      return fail(Errc::kTooLarge, "gunzip: the data is larger than the limit allows");
    }
    bytes_left -= produced;
    out.append(buffer.data(), produced);
    at_end = code == Z_STREAM_END;
    if (at_end) return z.avail_in > 0 && inflateReset(&z) == Z_OK;
    return z.avail_in > 0 || z.avail_out == 0;
  }
};

Inflater::Inflater(std::size_t bytes_max) : stream_(std::make_unique<Stream>(bytes_max)) {}
Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;

Result<void> Inflater::feed(std::string_view compressed, std::string& out) {
  Stream& stream = *stream_;
  if (stream.failed) return fail(Errc::kCorrupt, "gunzip: the stream failed before");
  while (!compressed.empty()) {
    const std::size_t taken =
        std::min<std::size_t>(compressed.size(), std::numeric_limits<uInt>::max());
    if (stream.at_end && inflateReset(&stream.z) != Z_OK)
      return fail(Errc::kCorrupt, "gunzip: bytes after the end");
    stream.at_end = false;
    // zlib does not write to its input; the cast is for its older signature.
    stream.z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream.z.avail_in = static_cast<uInt>(taken);
    compressed.remove_prefix(taken);
    for (bool again = true; again;) {
      TRY(again, stream.step(out));
    }
  }
  return {};
}

Result<void> Inflater::finish() const {
  if (stream_->failed) return fail(Errc::kCorrupt, "gunzip: the stream failed before");
  if (!stream_->at_end) return fail(Errc::kCorrupt, "gunzip: the stream ends early");
  return {};
}

Result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max) {
  Inflater inflater(bytes_max);
  std::string out;
  TRY(inflater.feed(compressed, out));
  TRY(inflater.finish());
  return out;
}

}  // namespace amdahl
