// What the tests of the watch share: a sink that notes what reaches it, and events as JSON lines.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/json_decode.hpp"
#include "operator/kube/types.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::kube {

class NotingSink final : public ObjectSink {
 public:
  Result<std::string_view> decode(RawObject object) override {
    TRY(object_, amdahl::decode<ConfigMap>(object.bytes));
    return std::string_view(object_.metadata.version);
  }
  void begin_stage() override { staged.clear(); }
  void stage() override { staged.push_back(object_.metadata.name); }
  void publish(std::string_view version) override {
    notes.push_back(fmt::format("publish {} [{}]", version, fmt::join(staged, " ")));
  }
  void apply(EventKind kind) override {
    notes.push_back(fmt::format("{} {}@{}",
                                kind == EventKind::kAdded      ? "added"
                                : kind == EventKind::kModified ? "modified"
                                                               : "deleted",
                                object_.metadata.name, object_.metadata.version));
  }
  void advance(std::string_view version) override {
    notes.push_back(fmt::format("at {}", version));
  }

  std::vector<std::string> notes;
  std::vector<std::string> staged;

 private:
  ConfigMap object_;
};

inline std::string event(std::string_view type, std::string_view name, std::string_view version) {
  return fmt::format(
      R"({{"type":"{}","object":{{"kind":"Pod","metadata":{{"name":"{}","namespace":"a","uid":"u","resourceVersion":"{}"}}}}}})"
      "\n",
      type, name, version);
}
inline std::string bookmark(std::string_view version, bool end) {
  return fmt::format(
      R"({{"type":"BOOKMARK","object":{{"kind":"Pod","metadata":{{"resourceVersion":"{}"{}}}}}}})"
      "\n",
      version, end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "");
}
inline std::string error_event(int code, std::string_view reason) {
  return fmt::format(
      R"({{"type":"ERROR","object":{{"kind":"Status","status":"Failure","message":"m","reason":"{}","code":{}}}}})"
      "\n",
      reason, code);
}

}  // namespace amdahl::kube
