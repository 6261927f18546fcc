#include "operator/kube/selector.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace amdahl::kube {
namespace {

// The texts and what k8s.io/apimachinery/pkg/labels makes of them ("==" is written "=" here).
TEST_CASE("Selector parses what Kubernetes parses and writes it in one form") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", ""},
      {"  ", ""},
      {"a", "a"},
      {"!a", "!a"},
      {"a=b", "a=b"},
      {"a==b", "a=b"},
      {"a!=b", "a!=b"},
      {" a = b , c", "a=b,c"},
      {"x in (a,b)", "x in (a,b)"},
      {"x in (b,a,a)", "x in (a,b)"},
      {"x in(a)", "x in (a)"},
      {"x notin (a)", "x notin (a)"},
      {"x in ()", "x in ()"},
      {"x in (,)", "x in ()"},
      {"x in (a,)", "x in (,a)"},
      {"a>1", "a>1"},
      {"a<-5", "ERR"},
      {"a<5", "a<5"},
      {"a/b=c", "a/b=c"},
      {"app.kubernetes.io/name=llama_1.x-y", "app.kubernetes.io/name=llama_1.x-y"},
      {"a=", "a="},
      {"a=,b", "a=,b"},
      {"in in (in)", "in in (in)"},
      {"notin", "notin"},
      {"b=1,a=2", "a=2,b=1"},
      {"a>x", "ERR"},
      {"a,", "ERR"},
      {"a,,b", "ERR"},
      {",a", "ERR"},
      {"a=b=c", "ERR"},
      {"a in a", "ERR"},
      {"a in (a", "ERR"},
      {"a in (", "ERR"},
      {"!a=b", "ERR"},
      {"a b", "ERR"},
      {"A.b/c_d.e-f=1", "ERR"},
      {"-a", "ERR"},
      {"a=-b", "ERR"},
      {"a!", "ERR"},
      {"!", "ERR"},
      {"!!a", "ERR"},
      {"a in (x y)", "ERR"},
      {"a=b!=c", "ERR"},
      {"a.b/", "ERR"},
      {"/a", "ERR"},
      {"a//b", "ERR"},
      {"a=b/c", "ERR"},
      {"a=(b)", "ERR"},
      {")", "ERR"},
      {"\xc3\xa9=1", "ERR"},
  };
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    const auto parsed = Selector::parse(text);
    CHECK((parsed ? parsed->to_string() : "ERR") == expected);
    if (parsed) CHECK(*Selector::parse(parsed->to_string()) == *parsed);
  }
}

TEST_CASE("Selector matches labels") {
  const PackedMap labels{{"app", "llama"}, {"tier", ""}, {"rank", "7"}};
  const std::pair<std::string_view, bool> rows[] = {
      {"", true},
      {"app", true},
      {"gone", false},
      {"!gone", true},
      {"!app", false},
      {"app=llama", true},
      {"app=other", false},
      {"gone=x", false},
      {"app!=other", true},
      {"gone!=x", true},
      {"app!=llama", false},
      {"tier=", true},
      {"tier!=", false},
      {"app in (x,llama)", true},
      {"app in (x)", false},
      {"gone in (x)", false},
      {"gone notin (x)", true},
      {"app notin (llama)", false},
      {"rank>6", true},
      {"rank>7", false},
      {"rank<8", true},
      {"app>1", false},
      {"gone<1", false},
      {"app=llama,rank<8,!gone", true},
      {"app=llama,rank<7", false},
  };
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    CHECK(Selector::parse(text)->matches(labels) == expected);
  }
}

TEST_CASE("Selector says what is wrong") {
  CHECK(Selector::parse("a in x").error().context ==
        "label selector \"a in x\": found 'x', expected '('");
  CHECK(Selector::parse("Bad Key").error().context ==
        "label selector \"Bad Key\": found 'Key', expected one of =, ==, !=, in, notin, <, >");
  CHECK(
      Selector::parse(std::string(64, 'k')).error().context.ends_with("longer than 63 characters"));
}

TEST_CASE("Selector bounds its input", "[C8]") {
  std::string many = "a";
  for (int i = 0; i < 300; ++i) many += ",a" + std::to_string(i);
  CHECK(Selector::parse(many).error().code == Errc::kTooLarge);
  CHECK(Selector::parse(std::string(kSelectorBytesMax + 1, ' ')).error().code == Errc::kTooLarge);
}

TEST_CASE("Label keys and values follow Kubernetes' rules") {
  const std::string name63(63, 'n');
  const std::string prefix253 = std::string(250, 'p') + ".io";
  for (const std::string& good :
       {std::string("a"), std::string("A-b_c.9"), name63, "x.io/" + name63, prefix253 + "/a"})
    CHECK(validate_label_key(good));
  for (const std::string& bad :
       {std::string(""), std::string("_a"), std::string("a-"), name63 + "n", std::string("X.io/a"),
        "p" + prefix253 + "/a", std::string("a..b/c"), std::string("a/b/c"), std::string("a b")})
    CHECK_FALSE(validate_label_key(bad));
  CHECK(validate_label_value(""));
  CHECK(validate_label_value(name63));
  for (const std::string& bad :
       {std::string("-"), std::string("a/b"), std::string("a b"), name63 + "n"})
    CHECK_FALSE(validate_label_value(bad));
}

}  // namespace
}  // namespace amdahl::kube
