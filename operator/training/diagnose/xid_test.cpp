#include "operator/training/diagnose/xid.hpp"

#include <catch2/catch.hpp>

namespace amdahl::training {
namespace {

TEST_CASE("xids_in_log reads the driver's lines only") {
  using Numbers = std::vector<std::int32_t>;
  struct Row {
    std::string_view text = {};
    Numbers numbers = {};
  };
  const std::vector<Row> rows = {
      {"NVRM: Xid (PCI:0000:06:00): 79, pid=1, GPU has fallen off the bus.", {79}},
      {"Xid (PCI:0000:06:00): 45, x\nXid (PCI:0000:07:00): 119, y\nXid (PCI:0000:06:00): 45",
       {45, 119}},
      {"Xid 79 happened", {}},
      {"Xid (PCI:0000:06:00", {}},
      {"Xid (): 0, Xid (): -4, Xid (): 99999, Xid (): abc", {}},
      {"", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(xids_in_log(row.text) == row.numbers);
  }
}

TEST_CASE("xids_in_log keeps a bounded number") {
  std::string text;
  for (int i = 1; i < 200; ++i) text += "Xid (PCI): " + std::to_string(i) + ",\n";
  CHECK(xids_in_log(text).size() == kXidsMax);
}

TEST_CASE("xids_in_condition reads the keys of the map") {
  CHECK(xids_in_condition(R"({"79":1,"48":2})") == std::vector<std::int32_t>{79, 48});
  CHECK(xids_in_condition(R"({"79)").empty());
  CHECK(xids_in_condition("XidError").empty());
}

TEST_CASE("gravest_xid prefers what is wrong with the hardware") {
  CHECK(gravest_xid(std::vector<std::int32_t>{45, 31, 48}) == 48);
  CHECK(gravest_xid(std::vector<std::int32_t>{45, 31}) == 45);
  CHECK(gravest_xid({}) == 0);
}

TEST_CASE("is_hardware never blames a node for what applications cause") {
  for (const std::int32_t number : {13, 31, 43, 45, 68, 94}) CHECK_FALSE(is_hardware(number));
  for (const std::int32_t number : {48, 64, 74, 79, 95, 119, 120, 140}) CHECK(is_hardware(number));
  CHECK_FALSE(is_hardware(0));
  CHECK(find_xid(12'345) == nullptr);
}

}  // namespace
}  // namespace amdahl::training
