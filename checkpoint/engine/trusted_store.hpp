// A store whose manifests count only if somebody who is trusted has signed them.
//
// What has no such signature reads as damaged, so every reader passes it over as it does a torn
// one, with the reason. Everything else is the store within. Thread: as that one's. Lifetime: owns
// it. Failure: kCorrupt for a manifest that nobody trusted has signed for this job.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/format/signature.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

class TrustedStore final : public Store {
 public:
  // `job_uid` may be empty: then a signature for any job will do.
  TrustedStore(std::unique_ptr<Store> within, std::vector<PublicKey> keys, std::string job_uid)
      : within_(std::move(within)), keys_(std::move(keys)), job_uid_(std::move(job_uid)) {}

  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override {
    return within_->create(name, pieces, call);
  }
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override {
    return within_->size(name, call);
  }
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override;
  Result<void> read_through(std::string_view name, StoreRange range, Scratch& scratch,
                            const TakePiece& take, const StoreCall& call) override;
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override {
    return within_->list(prefix, next, call);
  }
  Result<void> remove(std::string_view name, const StoreCall& call) override {
    return within_->remove(name, call);
  }
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override {
    return within_->remove_leftovers(before, call);
  }
  std::string describe() const override { return within_->describe(); }

 private:
  std::unique_ptr<Store> within_;
  std::vector<PublicKey> keys_;
  std::string job_uid_;
};

// The store itself when no file is named.
Result<std::unique_ptr<Store>> trusting(std::unique_ptr<Store> store, const std::string& keys_file,
                                        std::string job_uid);

}  // namespace amdahl::checkpoint
