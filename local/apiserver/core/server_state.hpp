// What the verbs share: the table, the rules, chance, time; and one request being worked on.
//
// Thread: one. Lifetime: belongs to the ApiServer. Time moves only when the front says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "local/apiserver/core/content.hpp"
#include "local/apiserver/core/kind_rules.hpp"
#include "local/apiserver/core/message.hpp"
#include "local/apiserver/core/object_table.hpp"
#include "local/apiserver/core/query.hpp"
#include "local/apiserver/core/route.hpp"

namespace amdahl::local {

class PodLogs;

struct Options {
  HistoryLimits history = {};
  std::size_t body_bytes_max = kBodyBytesMax;
  std::chrono::seconds bookmark_every{60};
  std::chrono::seconds watch_life_min{1800};  // without timeoutSeconds: this up to twice this
  std::size_t garbage_per_tick_max = 500;
  PodLogs* pod_logs = nullptr;  // without it, pods/NAME/log is refused
};

// An object that goes by itself, unless it was written again: an Event.
struct Expiring {
  ObjectPlace place = {};
  std::uint64_t version = 0;
};

struct ServerState {
  KindRules& rules;
  Rng rng;
  Options options = {};
  ObjectTable table;
  WallTime now{};
  std::multimap<WallTime, Expiring> expiring = {};
};

struct Request {
  const Call* call = nullptr;
  Route route = {};
  Query query = {};
  const ResourceInfo* info = nullptr;
  ResourceId resource = 0;
  Accepted accepted = {};
  std::vector<std::string> warnings = {};

  std::string key() const {
    return object_key(info->namespaced ? route.ns : std::string(), route.name);
  }
  // fieldManager, or the program's name from the user agent.
  std::string manager() const;
};

inline constexpr std::size_t kUserAgentNameMax = 128;
inline std::string Request::manager() const {
  if (!query.field_manager.empty()) return query.field_manager;
  return call->user_agent.substr(0, call->user_agent.find('/')).substr(0, kUserAgentNameMax);
}

}  // namespace amdahl::local
