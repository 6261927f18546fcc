#include "base/text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/test_wire_writer.hpp"
#include "base/wire_decode.hpp"

namespace amdahl {
namespace {

struct Named {
  Text name = {};
  Text note = {};
};
template <class V>
constexpr void fields(V& v, Named& object) {
  v.required("name", object.name, {.wire = 1});
  v.optional("note", object.note, {.wire = 2});
}

TEST_CASE("Text keeps any length, with and without the heap") {
  for (const std::size_t length : {0U, 1U, 14U, 15U, 16U, 17U, 36U, 127U, 128U, 5000U}) {
    CAPTURE(length);
    std::string plain(length, 'x');
    if (length > 0) plain.back() = '\0';  // any byte is a character, this one too
    const Text text(plain);
    CHECK(text == plain);
    CHECK(text.str() == plain);
    CHECK(text.size() == length);
    CHECK(text.empty() == (length == 0));
    CHECK((text.heap_bytes() == 0) == (length <= Text::kShortMax));
  }
}

TEST_CASE("Text copies deeply, moves cheaply and survives its own assignment") {
  for (const std::string_view plain : {"short", "one that does not fit into sixteen bytes"}) {
    Text first(plain);
    const Text copy = first;
    Text moved = std::move(first);
    CHECK(copy == plain);
    CHECK(moved == plain);
    Text& same = moved;
    moved = same;
    CHECK(moved == plain);
    moved = "other";
    CHECK(moved == "other");
    moved = copy;
    CHECK(moved == copy);
  }
}

TEST_CASE("Text compares with every kind of string") {
  const Text text("beta");
  CHECK(text == "beta");
  CHECK("beta" == text);
  CHECK(text == std::string("beta"));
  CHECK(std::string_view("beta") == text);
  CHECK(text != Text("gamma"));
  CHECK(text < Text("gamma"));
  CHECK(text > "alpha");
  CHECK(fmt::format("<{}|{:>6}>", text, text) == "<beta|  beta>");
}

TEST_CASE("Text is a string to field tables") {
  const auto decoded = decode<Named>(R"({"name":"a name that is long enough"})");
  REQUIRE(decoded);
  CHECK(decoded->name == "a name that is long enough");
  CHECK(encode(*decoded) == Json::parse(R"({"name":"a name that is long enough"})"));
  const std::string wire = WireWriter().text(1, "a name that is long enough").text(2, "x").bytes();
  const auto from_wire = decode_wire<Named>(wire);
  REQUIRE(from_wire);
  CHECK(from_wire->name == decoded->name);
  CHECK(from_wire->note == "x");
  CHECK(decode<Named>(R"({"name":7})").error().context.find("name: expected a string") == 0);
}

}  // namespace
}  // namespace amdahl
