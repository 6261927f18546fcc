#include "local/apiserver/front/in_process_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace amdahl::local {
namespace {

class InProcessStream final : public kube::BodyStream {
 public:
  InProcessStream(DurableServer& server, std::unique_ptr<WatchStream> source)
      : server_(server), source_(std::move(source)) {}

  Task<Result<std::size_t>> read(std::span<char> into, Monotonic deadline) override {
    while (left_.empty()) {
      WatchStream::Next next = source_->next();
      if (next.ready == WatchStream::Ready::kEnd) co_return 0;
      if (next.ready == WatchStream::Ready::kNothingYet) {
        CO_TRY(co_await server_.progress(deadline));
      } else if (next.bytes.empty()) {
        co_await boost::asio::post(boost::asio::use_awaitable);  // a long walk: let others in
      }
      bytes_ = std::move(next.bytes);
      left_ = bytes_;
    }
    const std::size_t size = std::min(into.size(), left_.size());
    std::ranges::copy(left_.substr(0, size), into.begin());
    left_.remove_prefix(size);
    co_return size;
  }

 private:
  DurableServer& server_;
  std::unique_ptr<WatchStream> source_;
  std::string bytes_;
  std::string_view left_;  // of bytes_
};

std::string header(const kube::Request& request, std::string_view name) {
  const auto found = std::ranges::find(request.headers, name, &kube::Header::name);
  return found == request.headers.end() ? std::string() : found->value;
}

kube::Response head_of(Reply& reply) {
  kube::Response head{.status = reply.status,
                      .headers = {{.name = "Content-Type", .value = reply.content_type}},
                      .body = std::move(reply.body)};
  for (auto& [name, value] : reply.headers)
    head.headers.push_back({.name = name, .value = std::move(value)});
  return head;
}

Task<Result<Reply>> as_result(Task<Reply> task) {
  co_return co_await std::move(task);
}

}  // namespace

InProcessTransport::InProcessTransport(DurableServer& server, Clock& clock, User user)
    : server_(server), clock_(clock), user_(std::move(user)) {}

Task<Result<Reply>> InProcessTransport::answer(kube::Request request, Monotonic deadline) {
  const bool guarded = fence_ != nullptr && request.fenced && is_write(request.verb);
  if (guarded && !fence_->may_write(clock_.monotonic()))
    co_return fail(Errc::kFenced, "{} {}: the lease may be lost", name(request.verb),
                   request.subject);
  std::string context = fmt::format("{} {}", name(request.verb), request.subject);
  Call call{.method = request.method,
            .target = request.target,
            .accept = header(request, "Accept"),
            .content_type = header(request, "Content-Type"),
            .user_agent = user_.name,
            .body = std::move(request.body),
            .user = user_};
  co_return co_await with_deadline(clock_, deadline, as_result(server_.handle(std::move(call))),
                                   std::move(context));
}

Task<Result<kube::Response>> InProcessTransport::send(kube::Request request, Monotonic deadline) {
  CO_TRY(Reply reply, co_await answer(std::move(request), deadline));
  co_return head_of(reply);
}

Task<Result<kube::StreamResponse>> InProcessTransport::open(kube::Request request,
                                                            Monotonic head_deadline) {
  CO_TRY(Reply reply, co_await answer(std::move(request), head_deadline));
  kube::StreamResponse response{.head = head_of(reply)};
  if (reply.stream)
    response.body = std::make_unique<InProcessStream>(server_, std::move(reply.stream));
  co_return response;
}

}  // namespace amdahl::local
