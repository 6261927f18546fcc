// A store in memory: what the others must behave like, and the store of tests.
//
// Thread: any. Failure: kAlreadyExists, kNotFound, kCorrupt as store.hpp says; deadlines are not
// looked at, since nothing here waits.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

class MemoryStore final : public Store {
 public:
  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override;
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override;
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override;
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override;
  Result<void> remove(std::string_view name, const StoreCall& call) override;
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override;
  std::string describe() const override { return "memory"; }

  std::map<std::string, std::string, std::less<>> objects() const;
  // Damage, for tests.
  void replace(std::string_view name, std::string content);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> objects_;
};

}  // namespace amdahl::checkpoint
