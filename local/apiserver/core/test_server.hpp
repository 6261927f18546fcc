// An API server on test kinds, with short ways to call it and to read what came back.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "local/apiserver/core/api_server.hpp"
#include "local/apiserver/core/test_kind_rules.hpp"

namespace amdahl::local {

struct Got {
  int status = 0;
  Json body = {};
  Reply reply = {};
  std::string message() const { return text_at(body, "message"); }
  std::string reason() const { return text_at(body, "reason"); }
};

class TestServer {
 public:
  explicit TestServer(Options options = {}) : server(rules, Rng(7), options) {
    make("namespaces", R"({"metadata":{"name":"default"}})");
    make("namespaces", R"({"metadata":{"name":"other"}})");
  }

  Got call(Call request) {
    Got got;
    got.reply = server.handle(request, now);
    if (durable) server.committed(server.version());
    got.status = got.reply.status;
    got.body = Json::parse(got.reply.body, nullptr, false);
    return got;
  }
  Got call(std::string method, std::string target, std::string body = "",
           std::string content_type = "application/json") {
    return call(Call{.method = std::move(method),
                     .target = std::move(target),
                     .content_type = std::move(content_type),
                     .body = std::move(body)});
  }
  Got get(const std::string& target) { return call("GET", target); }
  // Paths below /api/v1, which most tests are about.
  Got make(const std::string& path, const std::string& body) {
    Got got = call("POST", "/api/v1/" + path, body);
    INFO(got.reply.body);
    REQUIRE(got.status == 201);
    return got;
  }
  // All complete lines that a stream has now.
  static std::vector<Json> drain(WatchStream& stream, bool* ended = nullptr) {
    std::vector<Json> events;
    while (true) {
      const WatchStream::Next next = stream.next();
      if (ended != nullptr) *ended = next.ready == WatchStream::Ready::kEnd;
      if (next.ready != WatchStream::Ready::kFrame) return events;
      std::size_t start = 0;
      for (std::size_t end = 0; (end = next.bytes.find('\n', start)) != std::string::npos;
           start = end + 1)
        events.push_back(Json::parse(next.bytes.substr(start, end - start)));
      REQUIRE(start == next.bytes.size());
    }
  }
  // "ADDED a@5": type, name and version of every event.
  static std::vector<std::string> short_events(WatchStream& stream) {
    std::vector<std::string> texts;
    for (const Json& event : drain(stream)) {
      const Json meta = event["object"].value("metadata", Json::object());
      texts.push_back(text_at(event, "type") + " " + text_at(meta, "name") + "@" +
                      text_at(meta, "resourceVersion"));
    }
    return texts;
  }
  static std::vector<std::string> names(const Json& list) {
    std::vector<std::string> all;
    for (const Json& item : list["items"]) {
      const std::string ns = text_at(item["metadata"], "namespace");
      all.push_back((ns.empty() ? "" : ns + "/") + text_at(item["metadata"], "name"));
    }
    return all;
  }

  TestKindRules rules = {};
  ApiServer server;
  WallTime now{std::chrono::seconds{1'700'000'000}};
  bool durable = true;  // every write is committed at once
};

}  // namespace amdahl::local
