// Stores on fake servers, with sizes and times that suit tests.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/store/gcs_store.hpp"
#include "checkpoint/store/s3_store.hpp"
#include "checkpoint/store/test_fake_gcs.hpp"
#include "checkpoint/store/test_fake_s3.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kTestSmallMax = 4 << 10;  // larger ones go in several requests
inline constexpr std::string_view kTestFolder = "some/prefix/";

struct CloudTimes {
  std::chrono::milliseconds progress{5000};
  int attempts_max = 5;
};

inline RetryOptions quick_retries(int attempts_max) {
  return {.attempts_max = attempts_max,
          .first_delay = std::chrono::milliseconds(1),
          .delay_max = std::chrono::milliseconds(3)};
}

// A fake server and a store that talks to it.
class Cloud {
 public:
  virtual ~Cloud() = default;
  virtual std::string name() const = 0;
  virtual std::unique_ptr<Store> open(CloudTimes times = {}) = 0;
  virtual std::map<std::string, std::string> objects() const = 0;  // by key
  virtual void put(const std::string& key, std::string content) = 0;
  virtual std::size_t leftovers() const = 0;
  virtual void set_page_max(std::size_t objects) = 0;
  virtual void set_listing(FakeListing listing) = 0;
  virtual void set_vanishing(std::string key) = 0;
  FakeServer& server() { return *server_; }

 protected:
  RealClock clock_;
  std::unique_ptr<FakeServer> server_;
};

class GcsCloud final : public Cloud {
 public:
  GcsCloud() { server_ = std::make_unique<FakeServer>(fake); }
  ~GcsCloud() override { server_.reset(); }
  std::string name() const override { return "gcs"; }
  std::unique_ptr<Store> open(CloudTimes times) override { return open_with({}, times); }
  std::unique_ptr<Store> open_with(const GcsAccess& access, CloudTimes times = {}) {
    return std::make_unique<GcsStore>(GcsOptions{.path = {.bucket = std::string(FakeGcs::kBucket),
                                                          .folder = std::string(kTestFolder)},
                                                 .endpoint = server_->endpoint(),
                                                 .http = {.times = {.progress = times.progress}},
                                                 .retry = quick_retries(times.attempts_max),
                                                 .small_bytes_max = kTestSmallMax,
                                                 .chunk_bytes = kTestSmallMax},
                                      access, clock_, Rng(1));
  }
  std::map<std::string, std::string> objects() const override { return fake.objects(); }
  void put(const std::string& key, std::string content) override {
    fake.put(key, std::move(content));
  }
  std::size_t leftovers() const override { return 0; }
  void set_page_max(std::size_t objects) override { fake.set_page_max(objects); }
  void set_listing(FakeListing listing) override { fake.set_listing(listing); }
  void set_vanishing(std::string key) override { fake.set_vanishing(std::move(key)); }

  FakeGcs fake;
};

class S3Cloud final : public Cloud {
 public:
  S3Cloud() { server_ = std::make_unique<FakeServer>(fake); }
  ~S3Cloud() override { server_.reset(); }
  std::string name() const override { return fake.sums ? "s3" : "s3 without sums"; }
  std::unique_ptr<Store> open(CloudTimes times) override {
    const AwsCredentials credentials{.access_key = std::string(FakeS3::kAccessKey),
                                     .secret_key = secret_key,
                                     .session_token = std::string(FakeS3::kSessionToken)};
    return std::make_unique<S3Store>(
        S3Options{
            .place = {.path = {.bucket = std::string(FakeS3::kBucket),
                               .folder = std::string(kTestFolder)}},
            .endpoint = server_->endpoint(),
            .region = "eu-test-1",
            .credentials = [credentials](bool) -> Result<AwsCredentials> { return credentials; },
            .http = {.times = {.progress = times.progress}},
            .retry = quick_retries(times.attempts_max),
            .small_bytes_max = kTestSmallMax,
            .part_bytes = kTestSmallMax},
        clock_, Rng(1));
  }
  std::map<std::string, std::string> objects() const override { return fake.objects(); }
  void put(const std::string& key, std::string content) override {
    fake.put(key, std::move(content));
  }
  std::size_t leftovers() const override { return fake.open_uploads(); }
  void set_page_max(std::size_t objects) override { fake.set_page_max(objects); }
  void set_listing(FakeListing listing) override { fake.set_listing(listing); }
  void set_vanishing(std::string key) override { fake.set_vanishing(std::move(key)); }

  FakeS3 fake;
  std::string secret_key = std::string(FakeS3::kSecretKey);
};

}  // namespace amdahl::checkpoint
