#include "tests/bench/session.hpp"

#include <unistd.h>

#include "base/rng.hpp"
#include "operator/kube/config.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::bench {

Result<std::unique_ptr<Session>> Session::connect(boost::asio::io_context& io, Clock& clock,
                                                  const std::string& kubeconfig) {
  const kube::Environment environment = kube::process_environment();
  TRY(const kube::Config config, kube::load_config({.kubeconfig = kubeconfig}, environment));
  std::unique_ptr<Session> session(new Session(io));
  TRY(session->tls_, kube::TlsMaterial::load(config.tls, environment.read_file, clock));
  TRY(session->credentials_,
      kube::make_credentials(config, environment,
                             {.clock = clock, .tasks = session->tasks_, .tls = *session->tls_}));
  session->transport_ = std::make_unique<kube::HttpTransport>(
      io.get_executor(), clock,
      kube::HttpTransportOptions{.server = config.server,
                                 .tls = session->tls_.get(),
                                 .server_name = config.tls.server_name,
                                 .insecure = config.tls.insecure,
                                 .credentials = session->credentials_.get(),
                                 .user_agent = "amdahl-bench"});
  // Any seed will do: it spreads retries, of which a benchmark has none.
  session->client_ = std::make_unique<kube::Client>(*session->transport_, clock,
                                                    Rng(static_cast<std::uint64_t>(getpid())));
  return session;
}

}  // namespace amdahl::bench
