// A store by its address: file:///path or /path, gs://bucket/prefix, s3://bucket/prefix.
//
// Thread: any. Lifetime: the clock outlives the store. Failure: kInvalid for an address or a
// variable that cannot be right, kUnauthorized for credentials that are missing. Nothing is sent.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "checkpoint/store/retry.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

struct StoreOptions {
  Clock& clock;
  Rng rng;  // seeded by chance: it names temporary files
  // A variable of the environment; empty when it is not set. main() knows the environment.
  std::function<std::string(std::string_view name)> variable = {};
  std::string ca_file = {};  // whom TLS trusts; empty: the system's
  RetryOptions retry = {};
};

Result<std::unique_ptr<Store>> open_store(std::string_view uri, const StoreOptions& options);

}  // namespace amdahl::checkpoint
