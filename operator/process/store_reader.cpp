#include "operator/process/store_reader.hpp"

#include <boost/asio/post.hpp>
#include <memory>
#include <stop_token>

#include "base/deadline.hpp"
#include "checkpoint/engine/trusted_store.hpp"
#include "checkpoint/store/open_store.hpp"
#include "operator/process/checkpoint_finder.hpp"
#include "operator/training/checkpoint_looks.hpp"

namespace amdahl {
namespace {

// A store that ends at its deadline says more than we could.
constexpr std::chrono::seconds kLastWords{1};
constexpr std::string_view kFile = "file://";
// A file of public keys; then only what one of them has signed is sound.
constexpr std::string_view kTrustedKeys = "AMDAHL_CHECKPOINT_TRUSTED_KEYS";

}  // namespace

// What the loop and one of the threads share; the loop alone reads `found`.
struct StoreReader::Reading {
  explicit Reading(const boost::asio::any_io_executor& executor) : ended(executor) {}
  std::stop_source stop;
  Notify ended;
  std::optional<Result<training::CheckpointFinding>> found;
};

StoreReader::StoreReader(boost::asio::any_io_executor executor, Clock& clock, Rng rng,
                         StoreReaderOptions options)
    : executor_(std::move(executor)),
      clock_(clock),
      rng_(rng),
      options_(std::move(options)),
      budget_(clock_, kLooksBytesMax),
      threads_(training::kLookersMax) {}

StoreReader::~StoreReader() {
  threads_.join();
}

Result<training::CheckpointFinding> StoreReader::read_store(const training::CheckpointAsk& ask,
                                                            Rng rng, Monotonic deadline,
                                                            std::stop_token stop) {
  const bool file = ask.uri.starts_with(kFile);
  if (!reads(ask.uri))
    return fail(Errc::kInvalid, "{} is a folder of the pods, which the operator cannot read",
                ask.uri);
  TRY(auto opened, checkpoint::open_store(
                       ask.uri, {.clock = clock_, .rng = rng, .variable = options_.variable}));
  const std::string keys = options_.variable ? options_.variable(kTrustedKeys) : "";
  TRY(const auto store, checkpoint::trusting(std::move(opened), keys, ask.job_uid));
  checkpoint::ReadBudget budget(clock_, kLookBytesMax, &budget_);
  return find_checkpoint(*store, {.job_uid = ask.job_uid, .job = ask.job, .may_be_empty = !file},
                         budget, {.deadline = deadline, .stop = std::move(stop)});
}

bool StoreReader::reads(std::string_view uri) const {
  return options_.local_files || !uri.starts_with(kFile);
}

Task<Result<training::CheckpointFinding>> StoreReader::read(training::CheckpointAsk ask,
                                                            Monotonic deadline) {
  const auto reading = std::make_shared<Reading>(executor_);
  boost::asio::post(threads_, [this, mine = reading, ask = std::move(ask), rng = rng_.split(),
                               deadline]() mutable {
    auto found = read_store(ask, rng, deadline, mine->stop.get_token());
    boost::asio::post(executor_, [mine = std::move(mine), found = std::move(found)]() mutable {
      mine->found = std::move(found);
      mine->ended.notify_all();
    });
  });
  while (!reading->found) {
    const auto woken = co_await reading->ended.wait(clock_, deadline + kLastWords);
    if (woken) continue;
    reading->stop.request_stop();
    if (woken.error().code == Errc::kCancelled) co_return std::unexpected<Error>(woken.error());
    co_return fail(Errc::kTimeout, "the store did not answer in time");
  }
  co_return *std::move(reading->found);
}

}  // namespace amdahl
