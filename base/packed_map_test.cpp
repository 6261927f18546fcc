#include "base/packed_map.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "base/rng.hpp"

namespace amdahl {
namespace {

TEST_CASE("PackedMap finds what was put in, in key order", "[L15]") {
  const PackedMap map{{"tier", "web"}, {"app", "llama"}, {"empty", ""}, {"", "no key"}};
  CHECK(map.size() == 4);
  CHECK(map.find("app") == "llama");
  CHECK(map.find("empty") == "");
  CHECK(map.find("") == "no key");
  CHECK_FALSE(map.find("ap"));
  CHECK_FALSE(map.find("apps"));
  CHECK_FALSE(map.contains("zzz"));
  std::string keys;
  for (const auto& [key, value] : map) keys += std::string(key) + "=" + std::string(value) + ";";
  CHECK(keys == "=no key;app=llama;empty=;tier=web;");
}

TEST_CASE("PackedMap costs one pointer, and nothing on the heap when empty", "[L15]") {
  CHECK(sizeof(PackedMap) == sizeof(void*));
  const PackedMap empty;
  CHECK(empty.empty());
  CHECK(empty.size() == 0);
  CHECK(empty.heap_bytes() == 0);
  CHECK(empty.begin() == empty.end());
  CHECK_FALSE(empty.find("a"));
  const PackedMap one{{"app", "llama"}};
  CHECK(one.heap_bytes() == 8 + 8 + 8);  // header, two ends, eight letters
}

TEST_CASE("PackedMap keeps the last of equal keys") {
  const PackedMap map{{"b", "1"}, {"a", "1"}, {"b", "2"}, {"a", "2"}, {"b", "3"}};
  CHECK(map == PackedMap{{"a", "2"}, {"b", "3"}});
  CHECK(map.size() == 2);
}

TEST_CASE("PackedMap copies deeply and compares by content") {
  PackedMap a{{"k", "v"}, {"kk", "vv"}};
  PackedMap b = a;
  CHECK(a == b);
  a = PackedMap{{"k", "w"}};
  CHECK(b.find("k") == "v");
  CHECK_FALSE(a == b);
  CHECK_FALSE(PackedMap() == b);
  CHECK(PackedMap() == PackedMap());
  // Same letters, cut differently.
  CHECK_FALSE(PackedMap{{"ab", "c"}} == PackedMap{{"a", "bc"}});
  b = std::move(a);
  CHECK(b.find("k") == "w");
  b = PackedMap();
  CHECK(b.empty());
}

TEST_CASE("PackedMap holds ten thousand labels and agrees with std::map") {
  Rng rng(7);
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 10'000; ++i)
    expected["key-" + std::to_string(rng.next() % 1'000'000)] = std::to_string(i);
  PackedMap::Builder builder;
  for (auto entry = expected.rbegin(); entry != expected.rend(); ++entry)
    builder.add(entry->first, entry->second);
  const PackedMap map = builder.build();
  REQUIRE(map.size() == expected.size());
  auto want = expected.begin();
  for (const auto& [key, value] : map) {
    REQUIRE(key == want->first);
    REQUIRE(map.find(key) == want->second);
    ++want;
  }
}

}  // namespace
}  // namespace amdahl
