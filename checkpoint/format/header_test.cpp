#include "checkpoint/format/header.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "checkpoint/format/planes.hpp"

namespace amdahl::checkpoint {
namespace {

TEST_CASE("A header is laid out by the size of elements, then by name") {
  const auto layout = lay_out({{.name = "b", .dtype = Dtype::kU8, .shape = {3}},
                               {.name = "a", .dtype = Dtype::kU8, .shape = {1}},
                               {.name = "z", .dtype = Dtype::kF64, .shape = {}},
                               {.name = "e", .dtype = Dtype::kF32, .shape = {0, 7}}},
                              {{"format", "pt"}});
  REQUIRE(layout);
  CHECK(layout->bytes.size() % kHeaderAlignment == 0);
  CHECK(layout->bytes.substr(8).starts_with(
      R"({"__metadata__":{"format":"pt"},"a":{"data_offsets":[8,9],"dtype":"U8","shape":[1]},)"));
  std::vector<std::string> names;
  for (const HeaderTensor& tensor : layout->header.tensors) names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"z", "e", "a", "b"});
  CHECK(layout->header.object_bytes == static_cast<std::int64_t>(layout->bytes.size()) + 12);
  const auto read = read_header(bytes_of(layout->bytes), layout->header.object_bytes);
  REQUIRE(read);
  CHECK(*read == layout->header);
  CHECK(is_plain(*read));
}

TEST_CASE("A header that cannot be read is not written") {
  const auto refused = [](std::vector<TensorToStore> tensors) { return !lay_out(tensors); };
  CHECK(refused({{.name = "a", .shape = {1}}, {.name = "a", .shape = {1}}}));
  CHECK(refused({{.name = "", .shape = {1}}}));
  CHECK(refused({{.name = "__metadata__", .shape = {1}}}));
  CHECK(refused({{.name = "\xff", .shape = {1}}}));
  CHECK(refused({{.name = "a", .shape = {-1}}}));
  CHECK(refused({{.name = "a", .shape = {kElementsMax, 2}}}));
  CHECK(refused({{.name = std::string(kTensorNameMax + 1, 'x'), .shape = {1}}}));
  CHECK(refused({{.name = "a", .encoding = Encoding::kXor, .shape = {2}, .stored_bytes = 7}}));
  CHECK(refused({{.name = "a", .encoding = Encoding::kBf16Planes, .shape = {2}}}));
  CHECK_FALSE(refused({}));
}

TEST_CASE("An encoded tensor has a dtype that no reader of safetensors knows") {
  const auto layout = lay_out({{.name = "a",
                                .dtype = Dtype::kBf16,
                                .encoding = Encoding::kXorBf16Planes,
                                .shape = {9},
                                .stored_bytes = planes_bytes({.planes = 3, .exceptions = 2}, 9)}});
  REQUIRE(layout);
  CHECK(layout->bytes.find(R"("dtype":"BF16/xor-bf16-planes")") != std::string::npos);
  CHECK_FALSE(is_plain(layout->header));
}

TEST_CASE("The length of a header is checked before it is read") {
  const auto length_of = [](std::uint64_t length, std::int64_t object_bytes) {
    std::string bytes;
    for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xffU);
    return header_bytes(bytes_of(bytes), object_bytes);
  };
  CHECK(length_of(2, 10).value_or(0) == 10);
  CHECK(length_of(3, 10).error().code == Errc::kCorrupt);
  CHECK(length_of(kHeaderBytesMax, INT64_MAX).has_value());
  CHECK(length_of(kHeaderBytesMax + 1, INT64_MAX).error().code == Errc::kTooLarge);
  CHECK(length_of(UINT64_MAX, INT64_MAX).error().code == Errc::kTooLarge);
  CHECK_FALSE(header_bytes(bytes_of("1234567"), 7));
  CHECK_FALSE(header_bytes(bytes_of("12345678"), -1));
}

TensorToStore random_tensor(Rng& rng, int number) {
  TensorToStore tensor{.name = "layer." + std::to_string(number) + (rng.chance(0.1) ? "\"\n" : ""),
                       .dtype = static_cast<Dtype>(rng.below(17))};
  for (std::uint64_t d = rng.below(4); d > 0; --d)
    tensor.shape.push_back(static_cast<std::int64_t>(rng.below(9)));
  tensor.encoding = static_cast<Encoding>(rng.below(4));
  if (has_planes(tensor.encoding)) tensor.dtype = Dtype::kBf16;
  const std::int64_t count = element_count(tensor.shape).value_or(0);
  tensor.stored_bytes = has_planes(tensor.encoding)
                            ? planes_bytes({.planes = 2, .exceptions = count / 2}, count)
                            : count * element_bytes(tensor.dtype);
  return tensor;
}

TEST_CASE("Random headers are read as they were written") {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<TensorToStore> tensors;
    const auto count = static_cast<int>(rng.below(20));
    for (int i = 0; i < count; ++i) tensors.push_back(random_tensor(rng, i));
    const auto layout = lay_out(tensors);
    INFO("round " << round << (layout ? "" : layout.error().context));
    REQUIRE(layout);
    CHECK(layout->header.tensors.size() == tensors.size());
    const auto read = read_header(bytes_of(layout->bytes), layout->header.object_bytes);
    REQUIRE(read);
    CHECK(*read == layout->header);
    for (std::size_t bytes = 0; bytes < layout->bytes.size(); bytes += 7)
      CHECK_FALSE(read_header(bytes_of(layout->bytes).first(bytes), layout->header.object_bytes));
    CHECK_FALSE(read_header(bytes_of(layout->bytes), layout->header.object_bytes + 1));
  }
}

TEST_CASE("The head of planes is checked against the tensor") {
  const PlanesHead head{.base = 120, .planes = 3, .exceptions = 4};
  const std::string stored =
      write_planes_head(head) + std::string(static_cast<std::size_t>(20 + 3 * 3 + 4), 'x');
  CHECK(read_planes_head(bytes_of(stored), 20).value() == head);
  const auto refused = [&](std::string bytes, std::int64_t count = 20) {
    const auto read = read_planes_head(bytes_of(bytes), count);
    return !read && read.error().code == Errc::kCorrupt;
  };
  CHECK(refused(stored + "x"));
  CHECK(refused(stored, 21));
  CHECK(refused(stored.substr(0, 15)));
  for (const std::size_t at : {1U, 2U, 7U, 8U, 15U}) {
    std::string bad = stored;
    bad[at] = '\x7f';
    CHECK(refused(bad));
  }
}

}  // namespace
}  // namespace amdahl::checkpoint
