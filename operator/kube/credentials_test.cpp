#include "operator/kube/credentials.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

// One file that a test replaces, breaks or removes.
struct File {
  std::optional<std::string> text;
  int reads = 0;
  FileReader reader() {
    return [this](const std::string& path, std::size_t bytes_max) -> Result<std::string> {
      ++reads;
      if (!text) return fail(Errc::kNotFound, "read {}: no such file", path);
      if (text->size() > bytes_max) return fail(Errc::kTooLarge, "read {}: too large", path);
      return *text;
    };
  }
};

// The token, or the error in angle brackets.
std::string token_of(TokenSource& source, ManualClock& clock) {
  boost::asio::io_context io;
  const auto token = run_until_complete(io, source.token(clock.monotonic() + 1s));
  return token ? *token : "<" + token.error().context + ">";
}

TEST_CASE("A token file is read again every minute, with leeway", "[C1]") {
  File file{.text = "one\n"};
  ManualClock clock;
  TokenFileSource source({.path = "/t"}, file.reader(), clock);
  CHECK(token_of(source, clock) == "one");
  file.text = "two";
  clock.advance(49s);
  CHECK(token_of(source, clock) == "one");
  CHECK(file.reads == 1);
  clock.advance(1s);
  CHECK(token_of(source, clock) == "two");
  CHECK(file.reads == 2);
}

TEST_CASE("A token file that vanishes or turns bad keeps the old token", "[C1]") {
  File file{.text = "one"};
  ManualClock clock;
  TokenFileSource source({.path = "/t"}, file.reader(), clock);
  CHECK(token_of(source, clock) == "one");
  for (const std::optional<std::string>& bad :
       {std::optional<std::string>(), std::optional<std::string>(""),
        std::optional<std::string>("a\nb"),
        std::optional<std::string>(std::string(2 << 20, 'x'))}) {
    file.text = bad;
    clock.advance(60s);
    CHECK(token_of(source, clock) == "one");
  }
  file.text = "two";  // and the next read after a failure does not wait a minute
  CHECK(token_of(source, clock) == "two");
}

TEST_CASE("A token file that was never readable is an error", "[C1]") {
  File file;
  ManualClock clock;
  TokenFileSource source({.path = "/t"}, file.reader(), clock);
  CHECK(token_of(source, clock) == "<token file: read /t: no such file>");
  file.text = "s3cret\ns3cret";
  CHECK(token_of(source, clock).find("s3cret") == std::string::npos);
  file.text = "one";
  CHECK(token_of(source, clock) == "one");

  File missing;
  TokenFileSource with_initial({.path = "/t", .initial = "inline"}, missing.reader(), clock);
  CHECK(token_of(with_initial, clock) == "inline");
}

TEST_CASE("A 401 makes an older token be read again, not a newer one", "[C1]") {
  File file{.text = "one"};
  ManualClock clock;
  TokenFileSource source({.path = "/t"}, file.reader(), clock);
  const Monotonic before_read = clock.monotonic();
  clock.advance(1s);
  CHECK(token_of(source, clock) == "one");
  file.text = "two";
  source.rejected(before_read);  // that request carried something older
  CHECK(token_of(source, clock) == "one");
  clock.advance(1s);
  source.rejected(clock.monotonic());
  CHECK(token_of(source, clock) == "two");
}

TEST_CASE("After a 401 an unreadable file still keeps the old token", "[C1]") {
  File file{.text = "one"};
  ManualClock clock;
  TokenFileSource source({.path = "/t"}, file.reader(), clock);
  CHECK(token_of(source, clock) == "one");
  file.text.reset();
  clock.advance(1s);
  source.rejected(clock.monotonic());
  CHECK(token_of(source, clock) == "one");
}

TEST_CASE("Tokens are trimmed; what cannot stand in a header is refused", "[C1]") {
  CHECK(clean_token(" \tab.c-d_e~f+g/h==\r\n").value() == "ab.c-d_e~f+g/h==");
  for (const std::string text : {"", " \n", "a b", "a\nb", "a\r\nX-Evil: 1", "a\x01", "\xc3\xa4"}) {
    INFO(text);
    CHECK(clean_token(text).error().code == Errc::kInvalid);
  }
  CHECK_FALSE(clean_token(std::string("a\0b", 3)));
}

std::vector<std::string> lines(const std::vector<Header>& headers) {
  std::vector<std::string> lines;
  for (const Header& header : headers) lines.push_back(header.name + ": " + header.value);
  return lines;
}

TEST_CASE("Impersonation becomes headers, extra keys escaped", "[C3]") {
  const auto headers = impersonation_headers({.user = "jane",
                                              .uid = "4711",
                                              .groups = {"dev", "ops"},
                                              .extra = {{"acme.com/pro%ject", {"a", "b"}}}});
  REQUIRE(headers);
  CHECK(lines(*headers) ==
        std::vector<std::string>{"Impersonate-User: jane", "Impersonate-Uid: 4711",
                                 "Impersonate-Group: dev", "Impersonate-Group: ops",
                                 "Impersonate-Extra-acme.com%2Fpro%25ject: a",
                                 "Impersonate-Extra-acme.com%2Fpro%25ject: b"});
  CHECK_FALSE(impersonation_headers({.user = "jane\r\nX: y"}));
}

// Headers as make_credentials gives them for a configuration without files or plugins.
std::vector<std::string> headers_of(const Config& config) {
  boost::asio::io_context io;
  ManualClock clock;
  TaskGroup tasks(io.get_executor());
  const auto tls = TlsMaterial::load({}, read_file, clock);
  const auto credentials =
      make_credentials(config, {}, {.clock = clock, .tasks = tasks, .tls = **tls});
  if (!credentials) return {"<" + credentials.error().context + ">"};
  const auto headers = run_until_complete(io, (*credentials)->headers(clock.monotonic() + 1s));
  return lines(headers.value());
}

TEST_CASE("Credentials are made from every kind of configuration", "[C1][C3]") {
  CHECK(headers_of({}).empty());
  Config config;
  config.auth = StaticToken{.token = " abc\n"};
  CHECK(headers_of(config) == std::vector<std::string>{"Authorization: Bearer abc"});
  config.impersonate.user = "jane";
  CHECK(headers_of(config) ==
        std::vector<std::string>{"Impersonate-User: jane", "Authorization: Bearer abc"});
  config.source = "context dev";
  config.auth = StaticToken{.token = "a s3cret"};
  CHECK_THAT(headers_of(config).at(0), Catch::StartsWith("<token of context dev: the token has"));
  CHECK(headers_of(config).at(0).find("s3cret") == std::string::npos);
}

}  // namespace
}  // namespace amdahl::kube
