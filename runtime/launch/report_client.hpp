// Sends reports to the operator: one POST, one short answer, over a connection that is kept.
//
// Thread: one. Lifetime: the clock outlives it; post() is not called again before it returned.
// Failure: kIo, kTls, kTimeout, the code of the HTTP status, or kCorrupt for an answer that is no
// ReportReply. Nothing is retried here except a kept connection that the server had closed; after a
// 503 the next report dials again.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/api/report.hpp"
#include "runtime/launch/settings.hpp"

namespace amdahl::launch {

struct ReportClientOptions {
  ReportTarget target = {};
  std::string ca_file = {};     // empty: the system's
  std::string token_file = {};  // read for every report, because it is rotated
  std::string hosts_file = {};
};

class ReportClient {
 public:
  static constexpr std::size_t kTokenBytesMax = std::size_t{16} << 10U;

  ReportClient(boost::asio::any_io_executor executor, Clock& clock, ReportClientOptions options);
  ~ReportClient();
  ReportClient(const ReportClient&) = delete;
  ReportClient& operator=(const ReportClient&) = delete;

  Task<Result<api::ReportReply>> post(std::string body, Monotonic deadline);

 private:
  struct Connection;
  Task<Result<api::ReportReply>> exchange(std::string body, Monotonic deadline);
  Task<Result<std::unique_ptr<Connection>>> connect(Monotonic deadline);
  Result<std::string> authorization() const;

  boost::asio::any_io_executor executor_;
  Clock& clock_;
  ReportClientOptions options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace amdahl::launch
