// Any bytes as an encoded tensor: every row refuses them or every row decodes them to the same
// bits, inside the given ranges. The same bytes as a tensor come back from the codec.
//
// Input: two bytes with the number of values to ask for, then the encoded bytes.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "kernels/exponent_codec.hpp"

namespace {
using namespace amdahl::kernels;

void decode_on_every_row(Bytes encoded, std::size_t values) {
  // Of exactly these sizes, so that the address sanitizer sees one byte too far.
  const std::vector<std::byte> input(encoded.begin(), encoded.end());
  std::vector<std::byte> expected(2 * values);
  const bool good = decode_exponents(expected, input, *available_rows().back());
  for (const Row* row : available_rows()) {
    std::vector<std::byte> got(2 * values);
    AMDAHL_CHECK(decode_exponents(got, input, *row) == good);
    AMDAHL_CHECK(!good || got == expected);
  }
}

void encode_on_every_row(Bytes bf16) {
  const std::vector<std::byte> input(bf16.begin(), bf16.end());
  const std::size_t room = exponent_codec_bytes_max(input.size());
  std::vector<std::byte> expected(room);
  expected.resize(encode_exponents(expected, input, *available_rows().back()));
  for (const Row* row : available_rows()) {
    std::vector<std::byte> encoded(room);
    encoded.resize(encode_exponents(encoded, input, *row));
    AMDAHL_CHECK(encoded == expected);
    std::vector<std::byte> back(input.size());
    AMDAHL_CHECK(decode_exponents(back, encoded, *row) && back == input);
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t values = data[0] | static_cast<std::size_t>(data[1]) << 8;
  const Bytes rest = std::as_bytes(std::span(data + 2, size - 2));
  decode_on_every_row(rest, values);
  encode_on_every_row(rest.first(rest.size() / 2 * 2));
  return 0;
}
