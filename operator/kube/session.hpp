// Everything between a Config and a Client, built and owned together: certificates, credentials,
// proxy, transport.
//
// Thread: one. Lifetime: the clock and the io_context outlive it; it outlives every request, and
// close() comes before its end. Failure: make() says what of the configuration cannot be used.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/config.hpp"

namespace amdahl::kube {

class Credentials;
class HttpTransport;
class TlsMaterial;

struct SessionOptions {
  std::string user_agent = "amdahl";
  ClientOptions client = {};
  Log log = {};
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> make(const boost::asio::any_io_executor& executor,
                                               Clock& clock, Rng rng, const Config& config,
                                               const Environment& environment,
                                               const SessionOptions& options = {});
  ~Session();

  Client& client() { return *client_; }
  HttpTransport& transport() { return *transport_; }
  const std::string& ns() const { return ns_; }  // of the context, or of the pod
  // Ends what runs beside the requests (an exec plugin); false when it did not end in time.
  Task<bool> close(Monotonic deadline);

 private:
  Session(const boost::asio::any_io_executor& executor, Clock& clock);

  Clock& clock_;
  TaskGroup tasks_;
  std::string ns_;
  std::unique_ptr<TlsMaterial> tls_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<Client> client_;
};

}  // namespace amdahl::kube
