// Objects in a bucket of Google Cloud Storage, by its JSON API.
//
// Small objects go in one request, large ones by a resumable upload; both only if absent, and with
// their CRC32C, which the server checks before the object appears. Uploads that were never finished
// are invisible and end by themselves after a week: there is no way to list them, so
// remove_leftovers() has nothing to do.
//
// Thread: any, many at once. Lifetime: the clock outlives it. Failure: as store.hpp says; the text
// has the object, what the server said, and a next step. No text holds a token.
#pragma once

#include <memory>

#include "checkpoint/store/access_tokens.hpp"
#include "checkpoint/store/gcs_protocol.hpp"
#include "checkpoint/store/request_loop.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr int kUploadSessionsMax = 3;  // for one object

struct GcsOptions {
  BucketPath path = {};
  Endpoint endpoint = {.tls = true, .host = "storage.googleapis.com", .port = 443};
  HttpClientOptions http = {};
  RetryOptions retry = {};
  std::int64_t small_bytes_max = std::int64_t{8} << 20U;  // in one request
  std::int64_t chunk_bytes = std::int64_t{64} << 20U;     // of a resumable upload
};

// Where tokens come from: a fixed one (perhaps empty: none), or a metadata server.
struct GcsAccess {
  bool from_metadata = false;
  Endpoint metadata = {};
  std::string token = {};
};

class GcsStore final : public Store {
 public:
  GcsStore(GcsOptions options, const GcsAccess& access, Clock& clock, Rng rng);

  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override;
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override;
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override;
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override;
  Result<void> remove(std::string_view name, const StoreCall& call) override;
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override;
  std::string describe() const override;

 private:
  // What is being created.
  struct Upload {
    std::string_view name = {};
    std::span<const Bytes> pieces = {};
    std::int64_t bytes = 0;
    std::string crc32c = {};
  };

  Result<StoreRequest> authorized(StoreRequest request, bool renew, const StoreCall& call);
  Result<Sent> send(const StoreRequest& request, const StoreCall& call,
                    std::span<std::byte> into = {});
  Result<GcsObject> object(std::string_view name, const StoreCall& call);
  Result<void> read_range(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                          const StoreCall& call);

  Result<void> upload_small(const Upload& upload, const StoreCall& call);
  Result<void> upload_large(const Upload& upload, const StoreCall& call);
  Result<std::string> begin_session(const Upload& upload, const StoreCall& call, bool& unanswered);
  // False: the session is gone.
  Result<bool> send_content(const Upload& upload, const std::string& session, const StoreCall& call,
                            bool& unanswered);
  Result<void> finish(const Upload& upload, const StoreAnswer& answer, bool unanswered,
                      const StoreCall& call);
  Result<void> read_back(const Upload& upload, const StoreCall& call);
  std::unexpected<Error> error_of(const StoreAnswer& answer) const;

  const GcsOptions options_;
  Clock& clock_;
  HttpClient client_;
  RequestLoop loop_;
  std::unique_ptr<AccessTokens> tokens_;
};

}  // namespace amdahl::checkpoint
