// The way to the server that --kubeconfig names, for the benchmark's programs.
//
// Thread: one. Lifetime: the io_context and the clock outlive it; tasks() must be stopped and
// joined before it dies. Failure: that of the file, the certificates or the credentials, at
// connect().
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task_group.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/credentials.hpp"
#include "operator/kube/http_transport.hpp"
#include "operator/kube/tls_material.hpp"

namespace amdahl::bench {

class Session {
 public:
  static Result<std::unique_ptr<Session>> connect(boost::asio::io_context& io, Clock& clock,
                                                  const std::string& kubeconfig);
  kube::Client& client() { return *client_; }
  TaskGroup& tasks() { return tasks_; }

 private:
  explicit Session(boost::asio::io_context& io) : tasks_(io.get_executor()) {}

  TaskGroup tasks_;
  std::unique_ptr<kube::TlsMaterial> tls_;
  std::unique_ptr<kube::Credentials> credentials_;
  std::unique_ptr<kube::HttpTransport> transport_;
  std::unique_ptr<kube::Client> client_;
};

}  // namespace amdahl::bench
