#include "kernels/exponent_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/contract.hpp"
#include "kernels/exponent_window.hpp"

namespace amdahl::kernels {
namespace {

constexpr std::uint8_t kRaw = 0;
constexpr std::uint8_t kPlanes = 1;
constexpr unsigned kPlanesMax = 7;

struct Header {
  std::uint8_t kind = kRaw;
  std::uint8_t base = 0;
  std::uint8_t planes = 0;
  std::uint16_t exceptions = 0;  // little-endian, after a byte that is always 0
};

void write_header(std::uint8_t* to, const Header& header) {
  const std::uint8_t bytes[kExponentHeaderBytes] = {
      header.kind,
      header.base,
      header.planes,
      0,
      static_cast<std::uint8_t>(header.exceptions & 0xFF),
      static_cast<std::uint8_t>(header.exceptions >> 8)};
  std::memcpy(to, bytes, sizeof bytes);
}

std::size_t plane_bytes(std::size_t values) {
  return (values + 7) / 8;
}

std::size_t body_bytes(const Header& header, std::size_t values) {
  if (header.kind == kRaw) return 2 * values;
  return values + header.planes * plane_bytes(values) + header.exceptions;
}

// False for what an encoder never writes.
bool read_header(const std::uint8_t* from, std::size_t values, Header& header) {
  header = {.kind = from[0],
            .base = from[1],
            .planes = from[2],
            .exceptions = static_cast<std::uint16_t>(from[4] | from[5] << 8)};
  if (from[3] != 0) return false;
  if (header.kind == kRaw) return header.base == 0 && header.planes == 0 && header.exceptions == 0;
  return header.kind == kPlanes && header.planes >= 1 && header.planes <= kPlanesMax &&
         body_bytes(header, values) < 2 * values;
}

std::size_t encode_raw(std::uint8_t* to, const std::uint8_t* bf16, std::size_t values) {
  write_header(to, {});
  std::memcpy(to + kExponentHeaderBytes, bf16, 2 * values);
  return kExponentHeaderBytes + 2 * values;
}

std::size_t encode_block(std::uint8_t* to, const std::uint8_t* bf16, std::size_t values,
                         const Row& row) {
  const ExponentWindow window = choose_exponent_window(bf16, values);
  const std::size_t stride = plane_bytes(values);
  // A few values: planes are padded to bytes and may not even fit.
  if (window.planes == 0 || window.planes * stride >= values) return encode_raw(to, bf16, values);
  std::uint8_t* planes = to + kExponentHeaderBytes + values;
  // The sample may have been wrong, so the exceptions wait aside until they are known to fit.
  std::array<std::uint8_t, kExponentBlockValues + kExceptionSlack> exceptions;
  const std::size_t count = row.split_exponents({.values = bf16,
                                                 .count = values,
                                                 .base = window.base,
                                                 .planes = window.planes,
                                                 .sign_mantissa = to + kExponentHeaderBytes,
                                                 .plane_bits = planes,
                                                 .plane_stride = stride,
                                                 .exceptions = exceptions.data()});
  const Header header{.kind = kPlanes,
                      .base = window.base,
                      .planes = window.planes,
                      .exceptions = static_cast<std::uint16_t>(count)};
  if (body_bytes(header, values) >= 2 * values) return encode_raw(to, bf16, values);
  write_header(to, header);
  std::memcpy(planes + window.planes * stride, exceptions.data(), count);
  return kExponentHeaderBytes + body_bytes(header, values);
}

// Bits after the last value: an encoder leaves them 0.
bool padding_is_zero(const std::uint8_t* planes, const Header& header, std::size_t values) {
  if (values % 8 == 0) return true;
  const std::size_t stride = plane_bytes(values);
  unsigned last = 0;
  for (unsigned plane = 0; plane < header.planes; ++plane) last |= planes[(plane + 1) * stride - 1];
  return last >> (values % 8) == 0;
}

// A block is read as many short streams, which the processor does not fetch ahead by itself.
void fetch_ahead(Bytes encoded) {
  const std::size_t size = std::min(encoded.size(), 2 * kExponentBlockValues);
  for (std::size_t at = 0; at < size; at += 64) __builtin_prefetch(encoded.data() + at);
}

// `body` has the size that the header asks for.
bool decode_block(std::uint8_t* bf16, const std::uint8_t* body, std::size_t values,
                  const Header& header, const Row& row) {
  if (header.kind == kRaw) {
    std::memcpy(bf16, body, 2 * values);
    return true;
  }
  const std::uint8_t* planes = body + values;
  if (!padding_is_zero(planes, header, values)) return false;
  const std::size_t stride = plane_bytes(values);
  const std::size_t asked = row.merge_exponents({.sign_mantissa = body,
                                                 .plane_bits = planes,
                                                 .plane_stride = stride,
                                                 .exceptions = planes + header.planes * stride,
                                                 .exception_count = header.exceptions,
                                                 .count = values,
                                                 .base = header.base,
                                                 .planes = header.planes,
                                                 .values = bf16});
  return asked == header.exceptions;
}

}  // namespace

std::size_t encode_exponents(MutableBytes to, Bytes bf16, const Row& row) {
  expect(bf16.size() % 2 == 0, "encode_exponents: half a value");
  expect(to.size() >= exponent_codec_bytes_max(bf16.size()), "encode_exponents: too little room");
  const std::size_t values = bf16.size() / 2;
  std::size_t written = 0;
  for (std::size_t i = 0; i < values; i += kExponentBlockValues)
    written += encode_block(raw(to) + written, raw(bf16) + 2 * i,
                            std::min(kExponentBlockValues, values - i), row);
  return written;
}

bool decode_exponents(MutableBytes bf16, Bytes encoded, const Row& row) {
  if (bf16.size() % 2 != 0) return false;
  const std::size_t values = bf16.size() / 2;
  for (std::size_t i = 0; i < values; i += kExponentBlockValues) {
    const std::size_t count = std::min(kExponentBlockValues, values - i);
    Header header;
    if (encoded.size() < kExponentHeaderBytes || !read_header(raw(encoded), count, header))
      return false;
    encoded = encoded.subspan(kExponentHeaderBytes);
    const std::size_t body = body_bytes(header, count);
    if (encoded.size() < body) return false;
    fetch_ahead(encoded.subspan(body));
    if (!decode_block(raw(bf16) + 2 * i, raw(encoded), count, header, row)) return false;
    encoded = encoded.subspan(body);
  }
  return encoded.empty();
}

}  // namespace amdahl::kernels
