// Objects in a bucket of S3, or of a store that speaks like it.
//
// Small objects go in one conditional PUT, large ones in parts that are completed on the same
// condition; every part has its CRC32C, which the server checks. An upload that fails is aborted;
// one whose process died is invisible, costs money, and is what remove_leftovers() aborts.
//
// Thread: any, many at once; a large object is sent by up to kPartsInFlightMax threads. Lifetime:
// the clock outlives it. Failure: as store.hpp says; the text has the object, what the server said,
// and a next step. No text holds a secret.
#pragma once

#include "checkpoint/store/request_loop.hpp"
#include "checkpoint/store/s3_protocol.hpp"
#include "checkpoint/store/sigv4.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kPartsInFlightMax = 4;
inline constexpr int kUploadsMax = 4;  // begun for one object: conflicts start over

// `renew`: the last ones were refused.
using AwsCredentialSource = std::function<Result<AwsCredentials>(bool renew)>;

struct S3Options {
  S3Place place = {};
  Endpoint endpoint = {};
  std::string region = "us-east-1";
  AwsCredentialSource credentials = {};
  HttpClientOptions http = {};
  RetryOptions retry = {};
  std::int64_t small_bytes_max = std::int64_t{16} << 20U;  // in one request
  std::int64_t part_bytes = 2 * kS3PartBytesMin;
};

class S3Store final : public Store {
 public:
  S3Store(S3Options options, Clock& clock, Rng rng);

  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override;
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override;
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override;
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override;
  Result<void> remove(std::string_view name, const StoreCall& call) override;
  // Nothing without a prefix in the bucket: then uploads may be anybody's.
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override;
  std::string describe() const override;

 private:
  // What is there: its size, and its sum if the server tells.
  struct Seen {
    std::int64_t bytes = 0;
    std::string crc32c = {};
  };
  // What is being created.
  struct Creation {
    std::string_view name = {};
    std::span<const Bytes> pieces = {};
    std::int64_t bytes = 0;
    std::string crc32c = {};  // as the server will show it
    bool unanswered = false;  // a request that may have created it had no answer
  };

  Result<StoreRequest> authorized(const StoreRequest& request, bool renew) const;
  Result<Sent> send(const StoreRequest& request, const StoreCall& call,
                    std::span<std::byte> into = {});
  Result<Seen> look(std::string_view name, const StoreCall& call);
  Result<void> read_range(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                          const StoreCall& call);

  Result<void> put_small(Creation& creation, const StoreCall& call);
  Result<void> put_large(Creation& creation, const StoreCall& call);
  Result<S3Upload> begin(const Creation& creation, const StoreCall& call);
  Result<void> put_parts(const Creation& creation, const S3Upload& upload,
                         std::vector<S3Part>& parts, const StoreCall& call);
  Result<void> put_part(const Creation& creation, const S3Upload& upload, S3Part& part,
                        const StoreCall& call);
  // False: it has to start over.
  Result<bool> complete(Creation& creation, const S3Upload& upload, const std::string& text,
                        const StoreCall& call);
  Result<void> refused(const Creation& creation, const StoreCall& call);
  Result<void> read_back(const Creation& creation, const StoreCall& call);
  Result<bool> has_content(const Creation& creation, const StoreCall& call);
  Result<void> abort(const S3Upload& upload, const StoreCall& call);
  std::unexpected<Error> error_of(const StoreAnswer& answer) const;

  const S3Options options_;
  Clock& clock_;
  HttpClient client_;
  RequestLoop loop_;
};

}  // namespace amdahl::checkpoint
