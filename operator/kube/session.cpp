#include "operator/kube/session.hpp"

#include "operator/kube/credentials.hpp"
#include "operator/kube/http_transport.hpp"
#include "operator/kube/proxy.hpp"
#include "operator/kube/tls_material.hpp"

namespace amdahl::kube {

Session::Session(const boost::asio::any_io_executor& executor, Clock& clock)
    : clock_(clock), tasks_(executor) {}

Session::~Session() = default;

// tidy: allow(parameters) what only a main() may construct, plus options with a default
Result<std::unique_ptr<Session>> Session::make(const boost::asio::any_io_executor& executor,
                                               Clock& clock, Rng rng, const Config& config,
                                               const Environment& environment,
                                               const SessionOptions& options) {
  for (const std::string& warning : config.warnings)
    options.log.warning("configuration", {{"source", config.source}, {"warning", warning}});
  std::unique_ptr<Session> session(new Session(executor, clock));
  session->ns_ = config.ns;
  TRY(session->tls_, TlsMaterial::load(config.tls, environment.read_file, clock, options.log));
  TRY(session->credentials_,
      make_credentials(
          config, environment,
          {.clock = clock, .tasks = session->tasks_, .tls = *session->tls_, .log = options.log}));
  TRY(auto proxy, choose_proxy(config, environment));
  const Log log = options.log;
  session->transport_ = std::make_unique<HttpTransport>(
      executor, clock,
      HttpTransportOptions{.server = config.server,
                           .tls = session->tls_.get(),
                           .server_name = config.tls.server_name,
                           .insecure = config.tls.insecure,
                           .credentials = session->credentials_.get(),
                           .proxy = std::move(proxy),
                           .user_agent = options.user_agent,
                           .on_warning = [log](const Request& request, std::string_view text) {
                             log.warning("the server warns",
                                         {{"subject", request.subject}, {"warning", text}});
                           }});
  session->client_ = std::make_unique<Client>(*session->transport_, clock, rng, options.client);
  return session;
}

Task<bool> Session::close(Monotonic deadline) {
  tasks_.stop();
  return tasks_.join(clock_, deadline);
}

}  // namespace amdahl::kube
