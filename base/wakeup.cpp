#include "base/wakeup.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/intrusive/list.hpp>

#include "base/check.hpp"

namespace amdahl {
namespace asio = boost::asio;
namespace intrusive = boost::intrusive;

// The waiting tasks of one io_context, so that they go when it does: nobody else owns them.
class WakeupService final : public asio::execution_context::service {
 public:
  using key_type = WakeupService;
  static inline asio::execution_context::id id;

  explicit WakeupService(asio::execution_context& context)
      : service(context), io_(static_cast<asio::io_context&>(context)) {}
  void shutdown() override {
    while (!waiting_.empty()) {
      Wakeup& first = waiting_.front();
      waiting_.pop_front();
      // Out of it first: the task that is destroyed may own the Wakeup.
      const Wakeup::Handler destroyed = *std::exchange(first.handler_, std::nullopt);
    }
  }
  void add(Wakeup& wakeup) { waiting_.push_back(wakeup); }
  asio::io_context& io() { return io_; }

 private:
  using Waiting =
      intrusive::list<Wakeup, intrusive::member_hook<Wakeup, Wakeup::Hook, &Wakeup::hook_>,
                      intrusive::constant_time_size<false>>;
  asio::io_context& io_;
  Waiting waiting_;
};

namespace {

asio::io_context& io_of(const asio::any_io_executor& executor) {
  const auto* const of_io = executor.target<asio::io_context::executor_type>();
  AMDAHL_CHECK(of_io != nullptr);
  return of_io->context();
}

}  // namespace

Wakeup::Wakeup(const asio::any_io_executor& executor)
    : service_(asio::use_service<WakeupService>(io_of(executor))) {}

Wakeup::~Wakeup() {
  AMDAHL_CHECK(!handler_);
}

Task<void> Wakeup::wait() {
  AMDAHL_CHECK(!handler_);
  asio::use_awaitable_t<> token;
  return asio::async_initiate<asio::use_awaitable_t<>, void()>(
      [this](Handler handler) { park(std::move(handler)); }, token);
}

void Wakeup::park(Handler handler) {
  asio::cancellation_slot stopped = handler.get_cancellation_slot();
  if (stopped.is_connected()) stopped.assign([this](asio::cancellation_type) { wake(); });
  handler_.emplace(std::move(handler));
  service_.add(*this);
}

void Wakeup::wake() {
  if (!handler_) return;
  hook_.unlink();
  asio::post(service_.io(), [woken = std::move(*handler_)]() mutable { woken(); });
  handler_.reset();
}

}  // namespace amdahl
