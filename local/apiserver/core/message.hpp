// What comes into the API server and what goes out of it, as values: no socket, no framing.
//
// A Reply is either a body or a stream. Lifetime: a WatchStream refers to the server that made it.
// Thread: the server's. Failure: refusals are replies too.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace amdahl::local {

struct User {
  std::string name = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

struct Call {
  std::string method = {};  // "GET"
  std::string target = {};  // path and query, still percent-encoded
  std::string accept = {};
  std::string content_type = {};
  std::string user_agent = {};
  std::string body = {};
  User user = {};
};

// Bytes on demand: the reader asks again after it was told that something happened, so a reader
// that does not read holds no memory here.
class WatchStream {
 public:
  enum class Ready : std::uint8_t { kFrame, kNothingYet, kEnd };
  struct Next {
    Ready ready = Ready::kNothingYet;
    std::string bytes = {};  // whole lines, only with kFrame; may be empty: just ask again
  };
  virtual ~WatchStream() = default;
  virtual Next next() = 0;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::unique_ptr<WatchStream> stream = {};  // instead of a body
  std::uint64_t wait_version = 0;            // not to be sent before this version is durable
};

}  // namespace amdahl::local
