#include "checkpoint/format/canonical_text.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/test_sample.hpp"

namespace amdahl::checkpoint::test {
namespace {

std::string body_of(std::string_view document) {
  return std::string(document.substr(0, document.find('\n') + 1));
}

// The bodies of all receipts of the sample: shards, blobs, deltas, states.
std::vector<std::string> sample_bodies() {
  std::vector<std::string> bodies;
  for (const auto& [name, bytes] : sample_prefix())
    if (const auto parsed = parse_name(name); parsed && parsed->kind == ObjectKind::kReceipt)
      bodies.push_back(body_of(bytes));
  REQUIRE(bodies.size() >= 3);
  return bodies;
}

// A document around any body, with a seal that fits.
std::string sealed(std::string body_line) {
  body_line.pop_back();
  return seal_document(std::move(body_line));
}

}  // namespace

TEST_CASE("A split receipt has the tensors and the state that the long way finds") {
  for (const std::string& body : sample_bodies()) {
    const auto split = split_receipt(body);
    const auto whole = read_body<Receipt>(body);
    REQUIRE(split.has_value());
    REQUIRE(whole.has_value());
    CHECK(split->tensors == whole->tensors);
    CHECK(split->state == (whole->state.is_null() ? "" : dump_json(whole->state)));
    const auto rest = read_body<Receipt>(split->rest);
    REQUIRE(rest.has_value());
    CHECK(rest->tensors.empty());
    CHECK(rest->objects == whole->objects);
  }
}

TEST_CASE("A receipt is read the same with and without the shortcut, whatever is changed in it") {
  Rng rng(20261117);
  int refused = 0;
  for (const std::string& body : sample_bodies()) {
    for (int turn = 0; turn < 3000; ++turn) {
      constexpr std::string_view kBytes = "0123456789{}[]\":,\\ abe\x7f\xc3-.";
      std::string changed = body;
      const std::size_t at = rng.below(changed.size() - 1);
      const char byte = kBytes[rng.below(kBytes.size())];
      switch (rng.below(3)) {
        case 0:
          changed[at] = byte;
          break;
        case 1:
          changed.insert(at, 1, byte);
          break;
        default:
          changed.erase(at, 1 + rng.below(4));
          break;
      }
      if (changed.empty() || changed.find('\n') + 1 != changed.size()) continue;
      const auto long_way = [&]() -> Result<Receipt> {
        TRY(Receipt receipt, read_body<Receipt>(changed));
        TRY(check_receipt(receipt));
        return receipt;
      }();
      const std::string name = long_way ? receipt_name(*long_way) : "receipts/none";
      const auto found = read_receipt(name, sealed(changed));
      INFO(changed);
      REQUIRE(found.has_value() == long_way.has_value());
      if (long_way) {
        CHECK(found->receipt == *long_way);
      } else {
        ++refused;
      }
    }
  }
  CHECK(refused > 5000);
}

TEST_CASE("What is not written as we write it is left to the reader of any JSON") {
  const std::string head = R"({"format":1,"jobUid":"u","objects":[],"step":1,"tensors":[)";
  const std::string good =
      R"({"begin":10,"dtype":"F32","end":14,"name":"a","object":0,"shape":[1]})";
  const std::string tail = "],\"worldSize\":1}\n";
  REQUIRE(split_receipt(head + good + tail).has_value());
  for (
      const std::string_view bad : {
          R"({"begin":10, "dtype":"F32","end":14,"name":"a","object":0,"shape":[1]})",
          R"({"begin":010,"dtype":"F32","end":14,"name":"a","object":0,"shape":[1]})",
          R"({"begin":-1,"dtype":"F32","end":14,"name":"a","object":0,"shape":[1]})",
          R"({"begin":1e1,"dtype":"F32","end":14,"name":"a","object":0,"shape":[1]})",
          R"({"begin":99999999999999999999,"dtype":"F32","end":1,"name":"a","object":0,"shape":[]})",
          R"({"begin":10,"dtype":"F31","end":14,"name":"a","object":0,"shape":[1]})",
          R"({"begin":10,"dtype":"F32","encoding":"plain","end":14,"name":"a","object":0,"shape":[1]})",
          R"({"begin":10,"dtype":"F32","end":14,"globalShape":[],"name":"a","object":0,"shape":[1]})",
          R"({"begin":10,"dtype":"F32","end":14,"name":"\u0061","object":0,"shape":[1]})",
          "{\"begin\":10,\"dtype\":\"F32\",\"end\":14,\"name\":\"\xc3\xa4\",\"object\":0,\"shape\":"
          "[1]}",
          R"({"begin":10,"dtype":"F32","end":14,"name":"a","object":9999999999,"shape":[1]})",
          R"({"begin":10,"dtype":"F32","end":14,"name":"a","object":0,"shape":[1,]})",
          R"({"begin":10,"dtype":"F32","end":14,"name":"a","object":0,"shape":[1]},)",
          R"({"begin":10,"dtype":"F32","end":14,"name":"a","object":0)",
          "",
      }) {
    INFO(bad);
    CHECK_FALSE(split_receipt(head + std::string(bad) + tail).has_value());
  }
}

TEST_CASE("A header is recognised by its bytes, and no other is taken for it") {
  const Prefix prefix = sample_prefix();
  int recognised = 0;
  for (const std::int64_t step : {kFullStep, kDeltaStep}) {
    const auto manifest = manifest_of(prefix, step);
    REQUIRE(manifest.has_value());
    const auto receipts = receipts_of(prefix, manifest->manifest);
    REQUIRE(receipts.has_value());
    for (const ReadReceipt& read : *receipts)
      for (std::size_t i = 0; i < read.receipt.objects.size(); ++i) {
        const ObjectRecord& object = read.receipt.objects[i];
        const std::string& bytes = prefix.at(object.name);
        const auto length = header_bytes(bytes_of(bytes), object.bytes);
        REQUIRE(length.has_value());
        std::string header = bytes.substr(0, *length);
        if (!has_header_of(bytes_of(header), read.receipt, i)) continue;
        ++recognised;
        const auto known = read_header(bytes_of(header), object.bytes);
        REQUIRE(known.has_value());
        CHECK(check_header(read.receipt, i, *known).has_value());
        for (char& byte : header) {
          byte ^= 1;
          CHECK_FALSE(has_header_of(bytes_of(header), read.receipt, i));
          byte ^= 1;
        }
      }
  }
  CHECK(recognised >= 3);
}

}  // namespace amdahl::checkpoint::test
