#include "local/apiserver/schema/format.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local {

TEST_CASE("String formats accept what a kube-apiserver accepts") {
  struct Row {
    const char* format;
    const char* text;
    bool fits;
  };
  const Row row = GENERATE(values<Row>({
      {"date-time", "2026-01-02T03:04:05Z", true},
      {"date-time", "2026-01-02t03:04:05.123456+02:00", true},
      {"datetime", "2026-01-02 03:04:05Z", false},
      {"date-time", "2026-02-30T03:04:05Z", false},
      {"date-time", "2026-01-02T24:04:05Z", false},
      {"date", "2026-01-31", true},
      {"date", "2026-13-01", false},
      {"duration", "1h30m", true},
      {"duration", "3 days", true},
      {"duration", "-1.5s", true},
      {"duration", "soon", false},
      {"duration", "", false},
      {"uuid", "01234567-89ab-cdef-0123-456789abcdef", true},
      {"uuid", "0123456789ABCDEF0123456789abcdef", true},
      {"uuid", "01234567-89ab-cdef-0123-456789abcde", false},
      {"uuid4", "01234567-89ab-4def-8123-456789abcdef", true},
      {"uuid4", "01234567-89ab-3def-8123-456789abcdef", false},
      {"ipv4", "10.0.0.1", true},
      {"ipv4", "10.0.0.01", true},
      {"ipv4", "10.0.0.256", false},
      {"ipv4", "::1", false},
      {"ipv6", "fe80::1", true},
      {"ipv6", "1:2:3:4:5:6:7:8", true},
      {"ipv6", "1:2:3:4:5:6:7:8:9", false},
      {"ipv6", "::ffff:1.2.3.4", true},
      {"ipv6", "1.2.3.4", false},
      {"cidr", "10.0.0.0/8", true},
      {"cidr", "10.0.0.0/33", false},
      {"mac", "00:00:5e:00:53:01", true},
      {"mac", "0000.5e00.5301", true},
      {"mac", "00:00:5e:00:53", false},
      {"byte", "aGk=", true},
      {"byte", "aGk", false},
      {"hostname", "example.com", true},
      {"hostname", "-a.com", false},
      {"uri", "https://a/b?c", true},
      {"uri", "a b", false},
      {"email", "a@b", true},
      {"email", "a", false},
      {"k8s-short-name", "a-1", true},
      {"k8s-short-name", "A", false},
      {"k8s-long-name", "a.b-c", true},
      {"k8s-long-name", "a..b", false},
      {"int32", "anything", true},
      {"made-up", "anything", true},
  }));
  CAPTURE(row.format, row.text);
  CHECK(has_format(format_named(row.format), row.text) == row.fits);
}

TEST_CASE("Values are printed as Go prints them") {
  CHECK(go_float(1.5) == "1.5");
  CHECK(go_float(3) == "3");
  CHECK(go_float(1e6) == "1000000");
  CHECK(go_float(1e21) == "1e+21");
  CHECK(go_float(1e-5) == "1e-05");
  CHECK(go_quote("a\"b\\\n\x01\xff\xc3\xa4") == "\"a\\\"b\\\\\\n\\x01\\xff\xc3\xa4\"");
  CHECK(go_json(nlohmann::json{{"b", "<&>"}, {"a", {1, 1.0, 2.5, true, nullptr}}}) ==
        R"({"a":[1,1,2.5,true,null],"b":"\u003c\u0026\u003e"})");
  CHECK(too_many_cause("a", 3, 1).message == "Too many: 3: must have at most 1 item");
  CHECK(too_long_cause("", 1).field == "<nil>");
}

}  // namespace amdahl::local
