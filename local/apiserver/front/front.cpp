#include "local/apiserver/front/front.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string_view>
#include <utility>

#include "local/apiserver/core/status.hpp"
#include "local/apiserver/front/tokens.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kScheme = "Bearer ";

HttpResponse unauthorized() {
  const Status status{.code = 401, .reason = "Unauthorized", .message = "Unauthorized"};
  return {.status = status.code,
          .content_type = "application/json",
          .headers = {{.name = "WWW-Authenticate", .value = "Bearer"}},
          .body = to_json(status).dump() + "\n"};
}

HttpResponse head_of(const Reply& reply) {
  HttpResponse response{.status = reply.status, .content_type = reply.content_type};
  for (const auto& [name, value] : reply.headers)
    response.headers.push_back({.name = name, .value = value});
  return response;
}

Call call_of(HttpRequest request, User user) {
  return {.method = std::move(request.method),
          .target = std::move(request.target),
          .accept = std::string(request.header("Accept")),
          .content_type = std::string(request.header("Content-Type")),
          .user_agent = std::string(request.header("User-Agent")),
          .body = std::move(request.body),
          .user = std::move(user)};
}

}  // namespace

Front::Front(const boost::asio::any_io_executor& executor, Clock& clock, DurableServer& server,
             const Identities& identities, HttpServerOptions options)
    : clock_(clock),
      server_(server),
      identities_(identities),
      http_(executor, clock, std::move(options),
            [this](HttpRequest request, HttpResponder& responder) {
              return serve(std::move(request), responder);
            }) {}

Task<Result<void>> Front::start() {
  return http_.start();
}

Task<Result<void>> Front::stop(Monotonic deadline) {
  stopping_ = true;
  server_.say_progress();
  return http_.stop(deadline);
}

Task<void> Front::serve(HttpRequest request, HttpResponder& responder) {
  std::string_view token = request.header("Authorization");
  const bool bearer = token.starts_with(kScheme);
  if (bearer) token.remove_prefix(kScheme.size());
  auto user = bearer ? user_of(identities_, token, clock_.wall()) : std::nullopt;
  if (!user) {
    (void)co_await responder.respond(unauthorized());
    co_return;
  }
  Reply reply = co_await server_.handle(call_of(std::move(request), *std::move(user)));
  HttpResponse response = head_of(reply);
  if (reply.stream) {
    co_await stream(std::move(reply.stream), std::move(response), responder);
    co_return;
  }
  response.body = std::move(reply.body);
  (void)co_await responder.respond(std::move(response));
}

Task<void> Front::stream(std::unique_ptr<WatchStream> source, HttpResponse head,
                         HttpResponder& responder) {
  if (!co_await responder.start_stream(std::move(head))) co_return;
  while (!stopping_) {
    WatchStream::Next next = source->next();
    if (next.ready == WatchStream::Ready::kEnd) break;
    if (next.ready == WatchStream::Ready::kNothingYet) {
      if (!co_await server_.progress(Monotonic::max())) co_return;
    } else if (next.bytes.empty()) {
      co_await boost::asio::post(boost::asio::use_awaitable);  // a long walk: let others in
    } else if (!co_await responder.write(std::move(next.bytes))) {
      co_return;
    }
  }
  (void)co_await responder.finish();
}

}  // namespace amdahl::local
