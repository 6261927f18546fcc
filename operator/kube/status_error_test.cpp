#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "operator/kube/client.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;

const Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};
const Request kCreate = *create_request(kPods, "research", "llama-0", "{}");

Error error_of(int status, std::string body, std::vector<Header> headers = {}) {
  return error_from_status(
      kCreate, {.status = status, .headers = std::move(headers), .body = std::move(body)});
}
std::string status_body(const std::string& reason, const std::string& message = "why") {
  return nlohmann::json{{"kind", "Status"}, {"reason", reason}, {"message", message}}.dump();
}

TEST_CASE("Every status has its error code", "[W10]") {
  struct Row {
    int status;
    std::string reason;
    Errc code;
  };
  for (const Row& row : {Row{400, "BadRequest", Errc::kInvalid},
                         Row{401, "Unauthorized", Errc::kUnauthorized},
                         Row{403, "Forbidden", Errc::kForbidden},
                         Row{404, "NotFound", Errc::kNotFound},
                         Row{405, "MethodNotAllowed", Errc::kInvalid},
                         Row{406, "NotAcceptable", Errc::kInvalid},
                         Row{408, "", Errc::kTimeout},
                         Row{409, "AlreadyExists", Errc::kAlreadyExists},
                         Row{409, "Conflict", Errc::kConflict},
                         Row{409, "", Errc::kConflict},
                         Row{410, "Gone", Errc::kGone},
                         Row{410, "Expired", Errc::kGone},
                         Row{413, "RequestEntityTooLarge", Errc::kTooLarge},
                         Row{415, "UnsupportedMediaType", Errc::kInvalid},
                         Row{422, "Invalid", Errc::kInvalid},
                         Row{429, "TooManyRequests", Errc::kThrottled},
                         Row{500, "InternalError", Errc::kUnavailable},
                         Row{502, "", Errc::kUnavailable},
                         Row{503, "ServiceUnavailable", Errc::kUnavailable},
                         Row{504, "Timeout", Errc::kTimeout},
                         Row{302, "", Errc::kInvalid}}) {
    INFO(row.status << " " << row.reason);
    CHECK(error_of(row.status, status_body(row.reason)).code == row.code);
    CHECK(errc_from_status(row.status, row.reason) == row.code);
  }
}

TEST_CASE("A version the server does not have yet is gone, not late", "[L3]") {
  const std::string body =
      R"({"kind":"Status","status":"Failure","message":"Timeout: Too large resource
 version: 9, current: 5","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge",
"message":"Too large resource version"}],"retryAfterSeconds":1},"code":504})";
  std::string one = body;
  std::erase(one, '\n');
  const Error error = error_of(504, one);
  CHECK(error.code == Errc::kGone);
  CHECK(error.retry_after == 1s);
}

TEST_CASE("An error names verb, kind, object, the server's words and its reason") {
  CHECK(error_of(403, status_body("Forbidden", "exceeded quota: gpu")).context ==
        "create pods research/llama-0: exceeded quota: gpu (HTTP 403 Forbidden)");
  CHECK(error_of(503, "").context ==
        "create pods research/llama-0: the server gave no reason (HTTP 503)");
  CHECK(error_of(404, "404 page not found\n").context ==
        "create pods research/llama-0: the server said \"404 page not found \" (HTTP 404)");
  CHECK(error_of(301, "<a href=...>").context.find("is this address a Kubernetes API server?") !=
        std::string::npos);
}

TEST_CASE("An error about the whole object shows no placeholder for its value") {
  const auto words = [](const std::string& message) {
    return error_of(422, status_body("Invalid", message)).context;
  };
  CHECK(words(R"(T "x" is invalid: [spec.nodes: Required value, <nil>: Invalid value: null: some )"
              R"(validation rules were not checked, <nil>: Invalid value: "object": too long])") ==
        "create pods research/llama-0: T \"x\" is invalid: [spec.nodes: Required value, some "
        "validation rules were not checked, too long] (HTTP 422 Invalid)");
  CHECK(words("spec.x: Invalid value: null: no").find("spec.x: Invalid value: null: no") !=
        std::string::npos);
}

TEST_CASE("A Status in protobuf is read, too", "[C9]") {
  // "k8s\0", Unknown{TypeMeta{"v1", "Status"}, raw: Status{message: "gone", reason: "Expired"}}
  const std::string raw = std::string("\x1a\x04gone") +
                          "\x22\x07"
                          "Expired";
  const std::string meta = std::string("\x0a\x02v1\x12\x06Status");
  std::string body("k8s\0", 4);
  body += std::string("\x0a") + static_cast<char>(meta.size()) + meta;
  body += std::string("\x12") + static_cast<char>(raw.size()) + raw;
  const Error error =
      error_of(410, body, {{"Content-Type", "application/vnd.kubernetes.protobuf"}});
  CHECK(error.code == Errc::kGone);
  CHECK(error.context == "create pods research/llama-0: gone (HTTP 410 Expired)");
  body.resize(body.size() - 3);
  CHECK(error_of(410, body, {{"Content-Type", "application/vnd.kubernetes.protobuf"}}).code ==
        Errc::kGone);
}

TEST_CASE("Texts of the server are bounded, one line, and valid UTF-8", "[C8]") {
  const auto context = [](std::string body) { return error_of(500, std::move(body)).context; };
  CHECK(context(status_body("X", std::string(100'000, 'm'))).size() < 2200);
  CHECK(context(std::string(100'000, 'q')).size() < 300);
  CHECK(context("a\r\nb\tc\x1b[31m").find_first_of("\r\n\t\x1b") == std::string::npos);
  // A Status whose message is not UTF-8 is quoted, and what cannot be shown becomes '?'.
  const std::string bad = "{\"message\":\"caf\xe9 \xc3\xa9 \xed\xa0\x80 \xf5 \xe2\x82\"}";
  const std::string shown = context(bad);
  CHECK(shown.find("caf? \xc3\xa9 ??? ? ??") != std::string::npos);
  // No sequence is cut in half at the limit.
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "\xe2\x82\xac";
  const std::string cut = context(wide);
  CHECK(cut.find("\xe2\x82\xac...") != std::string::npos);
}

TEST_CASE("A body that is no Status is quoted, whatever it is", "[C8]") {
  for (const std::string& body :
       {std::string("[]"), std::string("{"), std::string("{}"), std::string("null"),
        std::string(R"({"message":7})"), std::string(50'000, '['), std::string("\0\0", 2)}) {
    INFO(body.substr(0, 20));
    const Error error = error_of(500, body);
    CHECK(error.code == Errc::kUnavailable);
    CHECK(error.context.find("the server said") != std::string::npos);
  }
}

TEST_CASE("A credential that the server echoes is not repeated", "[C1]") {
  const std::string token =
      "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLWhlcmU";
  for (const std::string& body :
       {"denied: Authorization: Bearer " + token, status_body("X", "bad token Bearer " + token)})
    CHECK(error_of(401, body).context.find(token) == std::string::npos);
}

TEST_CASE("Retry-After is read as seconds, as a date, or from the Status", "[W10]") {
  struct Row {
    std::vector<Header> headers;
    std::string body;
    std::optional<std::chrono::milliseconds> wait;
  };
  const Header date{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const std::string details = R"({"message":"m","details":{"retryAfterSeconds":9}})";
  for (const Row& row :
       {Row{{}, "", std::nullopt}, Row{{{"Retry-After", "7"}}, "", 7s},
        Row{{{"retry-after", "0"}}, "", 0s}, Row{{{"Retry-After", "-7"}}, "", std::nullopt},
        Row{{{"Retry-After", "soon"}}, "", std::nullopt},
        Row{{{"Retry-After", "99999999999999"}}, "", std::nullopt},
        Row{{{"Retry-After", "4000000000"}}, "", 1h},
        Row{{{"Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT"}, date}, "", 30s},
        Row{{{"Retry-After", "Sun, 06 Nov 1994 08:49:07 GMT"}, date}, "", 0s},
        Row{{{"Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT"}}, "", std::nullopt},
        Row{{{"Retry-After", "Sun, 66 Nov 1994 08:50:07 GMT"}, date}, "", std::nullopt},
        Row{{}, details, 9s}, Row{{{"Retry-After", "7"}}, details, 7s}}) {
    CHECK(error_of(429, row.body, row.headers).retry_after == row.wait);
  }
}

}  // namespace
}  // namespace amdahl::kube
