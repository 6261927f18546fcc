// The wire, as an interface: HTTP to a real server, or a model of one in memory.
//
// Thread: one. Lifetime: a transport outlives every stream it opened. Failure: every call returns
// by its deadline. An HTTP status is not a failure here; client.hpp turns it into one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::kube {

struct Response {
  int status = 0;
  std::vector<Header> headers = {};
  std::string body = {};
  std::string_view header(std::string_view name) const;  // "" when absent; case-insensitive
};

// The rest of a response whose head has arrived. Destroying it closes the connection.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // Bytes read; 0 at the orderly end. A connection that breaks in mid-body is Errc::kIo.
  virtual Task<Result<std::size_t>> read(std::span<char> into, Monotonic deadline) = 0;
};

struct StreamResponse {
  Response head = {};                     // body holds the text only for a status >= 300
  std::unique_ptr<BodyStream> body = {};  // null for a status >= 300
};

// Whether writes may still leave this process (E2). Asked at the last moment before the first
// byte of a write is sent.
class WriteFence {
 public:
  virtual ~WriteFence() = default;
  virtual bool may_write(Monotonic now) const = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Task<Result<Response>> send(Request request, Monotonic deadline) = 0;
  virtual Task<Result<StreamResponse>> open(Request request, Monotonic head_deadline) = 0;
  // Installed once by whoever holds the lease; null: every write may leave.
  virtual void set_fence(const WriteFence* fence) = 0;
};

}  // namespace amdahl::kube
