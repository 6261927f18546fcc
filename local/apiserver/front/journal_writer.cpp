#include "local/apiserver/front/journal_writer.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace amdahl::local {
namespace asio = boost::asio;

struct JournalWriter::Thread {
  asio::thread_pool pool{1};
};

JournalWriter::JournalWriter(Journal& journal) : journal_(journal) {
  if (journal.on_disk()) thread_ = std::make_unique<Thread>();
}

JournalWriter::~JournalWriter() = default;

Task<Result<void>> JournalWriter::append(std::vector<JournalRecord> records) {
  if (!thread_) co_return journal_.append(records);
  Result<void> written;
  const auto start = [&](auto handler) {
    auto loop = asio::get_associated_executor(handler);
    auto busy = asio::make_work_guard(loop);  // the loop has something to wait for
    asio::post(thread_->pool,
               [&, loop, busy = std::move(busy), handler = std::move(handler)]() mutable {
                 written = journal_.append(records);
                 asio::post(loop, std::move(handler));
               });
  };
  // Nothing comes back but the turn.
  (void)co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(start,
                                                                             asio::use_awaitable);
  co_return written;
}

}  // namespace amdahl::local
