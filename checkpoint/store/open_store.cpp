#include "checkpoint/store/open_store.hpp"

#include <algorithm>

#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/gcs_store.hpp"
#include "checkpoint/store/s3_store.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kFile = "file://";
constexpr std::string_view kGcs = "gs://";
constexpr std::string_view kS3 = "s3://";
constexpr std::size_t kPathBytesMax = 3072;

// The first of them that is set.
std::string variable(const StoreOptions& options, std::initializer_list<std::string_view> names) {
  if (!options.variable) return {};
  for (const std::string_view name : names)
    if (std::string value = options.variable(name); !value.empty()) return value;
  return {};
}

Result<Endpoint> endpoint_in(std::string_view value, std::string_view name) {
  auto endpoint = parse_endpoint(value);
  if (!endpoint) return wrap(std::move(endpoint).error(), "{}", name);
  return endpoint;
}

Result<std::unique_ptr<Store>> open_file(std::string_view path, const StoreOptions& options) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const bool goes_up = path.contains("/../") || path.ends_with("/..");
  if (!path.starts_with('/') || path.size() > kPathBytesMax || goes_up || path.contains('\0'))
    return fail(Errc::kInvalid, "{}: write an absolute path, as in file:///checkpoints/job",
                shown(path));
  return std::make_unique<FileStore>(FileStoreOptions{.root = std::string(path)}, options.clock,
                                     options.rng);
}

Result<std::unique_ptr<Store>> open_gcs(std::string_view path, const StoreOptions& options) {
  GcsOptions gcs{.http = {.ca_file = options.ca_file}, .retry = options.retry};
  TRY(gcs.path, parse_bucket_path(path));
  GcsAccess access{.token = variable(options, {"GOOGLE_OAUTH_ACCESS_TOKEN"})};
  const std::string emulator = variable(options, {"STORAGE_EMULATOR_HOST"});
  if (!emulator.empty()) {
    TRY(gcs.endpoint, endpoint_in(emulator, "STORAGE_EMULATOR_HOST"));
    access.token.clear();
  } else if (access.token.empty()) {
    const std::string host = variable(options, {"GCE_METADATA_HOST"});
    access.from_metadata = true;
    TRY(access.metadata, endpoint_in(host.empty() ? MetadataTokens::kHost : std::string_view(host),
                                     "GCE_METADATA_HOST"));
  }
  return std::make_unique<GcsStore>(std::move(gcs), access, options.clock, options.rng);
}

Result<AwsCredentials> credentials_of(const StoreOptions& options) {
  AwsCredentials credentials{.access_key = variable(options, {"AWS_ACCESS_KEY_ID"}),
                             .secret_key = variable(options, {"AWS_SECRET_ACCESS_KEY"}),
                             .session_token = variable(options, {"AWS_SESSION_TOKEN"})};
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return fail(Errc::kUnauthorized,
                "no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  return credentials;
}

Result<std::unique_ptr<Store>> open_s3(std::string_view path, const StoreOptions& options) {
  S3Options s3{.http = {.ca_file = options.ca_file}, .retry = options.retry};
  TRY(s3.place.path, parse_bucket_path(path));
  const std::string region = variable(options, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (!region.empty()) s3.region = region;
  const bool good_region =
      s3.region.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!good_region) return fail(Errc::kInvalid, "AWS_REGION: {} is none", shown(s3.region));
  const std::string url = variable(options, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  // A certificate for *.s3.REGION.amazonaws.com does not cover a bucket with a dot.
  const bool in_host = url.empty() && !s3.place.path.bucket.contains('.');
  s3.place.style = in_host ? BucketStyle::kHost : BucketStyle::kPath;
  const std::string aws = fmt::format("https://{}s3.{}.amazonaws.com",
                                      in_host ? s3.place.path.bucket + "." : "", s3.region);
  TRY(s3.endpoint, endpoint_in(url.empty() ? aws : url, "AWS_ENDPOINT_URL"));
  TRY(AwsCredentials credentials, credentials_of(options));
  s3.credentials = [credentials = std::move(credentials)](bool) -> Result<AwsCredentials> {
    return credentials;
  };
  return std::make_unique<S3Store>(std::move(s3), options.clock, options.rng);
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(std::string_view uri, const StoreOptions& options) {
  const auto open = [&]() -> Result<std::unique_ptr<Store>> {
    if (uri.starts_with(kFile)) return open_file(uri.substr(kFile.size()), options);
    if (uri.starts_with('/')) return open_file(uri, options);
    if (uri.starts_with(kGcs)) return open_gcs(uri.substr(kGcs.size()), options);
    if (uri.starts_with(kS3)) return open_s3(uri.substr(kS3.size()), options);
    return fail(Errc::kInvalid,
                "a checkpoint store is file:///path, gs://bucket/prefix or s3://bucket/prefix");
  };
  auto store = open();
  if (!store) return wrap(std::move(store).error(), "{}", shown(uri));
  return store;
}

}  // namespace amdahl::checkpoint
