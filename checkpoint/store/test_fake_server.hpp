// An HTTP server for tests of stores: a handler that keeps objects, and one fault by script.
//
// Own threads and plain sockets on loopback: it can break off anywhere in a message. Lifetime: the
// handler outlives it; the destructor joins.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "checkpoint/store/http_values.hpp"

namespace amdahl::checkpoint {

struct FakeRequest {
  std::string method = {};
  std::string target = {};
  std::string path = {};                           // encoded, without the query
  std::map<std::string, std::string> query = {};   // decoded
  std::map<std::string, std::string> fields = {};  // names in lower case
  std::string body = {};

  std::string field(const std::string& name) const;
  std::string parameter(const std::string& name) const;
  bool has(const std::string& name) const { return query.contains(name); }
};

struct FakeReply {
  int status = 200;
  std::vector<HttpField> fields = {};
  std::string body = {};
  bool no_body = false;  // an answer to HEAD: its length is told, its body is not sent
};

class FakeHandler {
 public:
  virtual ~FakeHandler() = default;
  virtual FakeReply handle(const FakeRequest& request) = 0;
  // The connection broke within the body; some servers keep what they have.
  virtual void keep_part(const FakeRequest& /*request*/) {}
};

enum class FakeFaultKind : std::uint8_t {
  kNone,
  kDropRequest,   // closes within the body, nothing is done
  kLoseReply,     // done, and closed without an answer
  kCutReply,      // done, and closed within the answer
  kStatus,        // not done; answers `status`
  kStatusAfter,   // done; answers `status` all the same
  kSlow,          // not done, and no answer ever
  kSlowAfter,     // done, and no answer ever
  kCorruptReply,  // done; a bit of the answer's body is wrong
  kStaleReply,    // done; the answer is that of the request before
  kError200,      // not done; 200 with an error in its body, as S3 does
  kTrickle,       // done; the answer comes a byte at a time
};
struct FakeFault {
  int at = -1;  // which request, from 0
  FakeFaultKind kind = FakeFaultKind::kNone;
  int status = 503;
  bool always = false;           // from `at` on
  std::string retry_after = {};  // of a scripted status
  std::int64_t bytes = -1;       // that pass before it breaks off; less than 0: some of them
};

class FakeServer {
 public:
  explicit FakeServer(FakeHandler& handler);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  Endpoint endpoint() const { return {.tls = false, .host = "127.0.0.1", .port = port_}; }
  void set_fault(FakeFault fault);                  // counts from now on
  std::vector<std::string> requests() const;        // "PUT /bucket/key" since then
  int connections() const { return connections_; }  // so far

 private:
  struct Turn {
    FakeFault fault = {};
    FakeReply stale = {};
  };
  void accept_all();
  void serve(int fd);
  bool serve_one(int fd, std::string& input);
  Turn begin(const std::string& line);
  bool reply(int fd, const FakeReply& reply, const FakeFault& fault);

  FakeHandler& handler_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  FakeFault fault_;
  FakeReply last_;
  std::vector<std::string> requests_;
  std::vector<int> open_;
  std::vector<std::jthread> threads_;
  std::jthread acceptor_;
};

}  // namespace amdahl::checkpoint
