// Reads the records of checkpoints for the controller, on threads of its own: stores block.
//
// Thread: one for its callers, kLookersMax behind it, which touch nothing but the store they have
// opened. Lifetime: clock and io_context outlive it; it waits for its threads when it dies, after
// telling them to stop. Failure: as of CheckpointReader; the text has no credential in it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/rng.hpp"
#include "checkpoint/engine/read_budget.hpp"
#include "operator/training/checkpoint_reader.hpp"

namespace amdahl {

struct StoreReaderOptions {
  // file:// means a folder of this machine, as on the embedded cluster. Elsewhere it is a folder of
  // the pods, and what lies there under the same name is nobody's business.
  bool local_files = false;
  // A variable of the environment, for addresses and credentials of stores.
  std::function<std::string(std::string_view name)> variable = {};
};

class StoreReader final : public training::CheckpointReader {
 public:
  StoreReader(boost::asio::any_io_executor executor, Clock& clock, Rng rng,
              StoreReaderOptions options);
  ~StoreReader() override;

  Task<Result<training::CheckpointFinding>> read(training::CheckpointAsk ask,
                                                 Monotonic deadline) override;
  bool reads(std::string_view uri) const override;

 private:
  struct Reading;
  Result<training::CheckpointFinding> read_store(const training::CheckpointAsk& ask, Rng rng,
                                                 Monotonic deadline, std::stop_token stop);

  boost::asio::any_io_executor executor_;
  Clock& clock_;
  Rng rng_;
  StoreReaderOptions options_;
  checkpoint::ReadBudget budget_;  // of all looks together
  boost::asio::thread_pool threads_;
};

}  // namespace amdahl
