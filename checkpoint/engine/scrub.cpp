#include "checkpoint/engine/scrub.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/fd.hpp"
#include "checkpoint/engine/loader.hpp"
#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/header.hpp"
#include "checkpoint/format/verifier.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kExportThreads = 2;

Result<void> verify_header(Store& store, const Receipt& receipt, std::size_t object,
                           const StoreCall& call) {
  const ObjectRecord& record = receipt.objects[object];
  std::array<std::byte, kHeaderLengthBytes> length{};
  TRY(store.read(record.name, 0, length, call));
  TRY(const std::size_t bytes, header_bytes(length, record.bytes));
  std::vector<std::byte> text(bytes);
  TRY(store.read(record.name, 0, text, call));
  TRY(const Header header, read_header(text, record.bytes));
  return check_header(receipt, object, header);
}

Result<void> verify_object(Store& store, const Receipt& receipt, std::size_t object,
                           const StoreCall& call) {
  const ObjectRecord& record = receipt.objects[object];
  TRY(const std::int64_t size, store.size(record.name, call));
  TRY(ChunkSums sums, sums_of(record));
  Verifier verifier(record.name, std::move(sums));
  const auto name = parse_name(record.name);
  Sha256 whole;
  std::vector<std::byte> buffer(
      static_cast<std::size_t>(std::min(std::max(size, std::int64_t{1}), kReadUnitBytes)));
  for (std::int64_t at = 0; at < size;) {
    const auto piece = static_cast<std::size_t>(std::min(kReadUnitBytes, size - at));
    TRY(store.read(record.name, at, std::span(buffer).first(piece), call));
    verifier.add(Bytes(buffer).first(piece));
    if (name->kind == ObjectKind::kBlob) whole.add(Bytes(buffer).first(piece));
    at += static_cast<std::int64_t>(piece);
  }
  TRY(verifier.finish());
  if (name->kind == ObjectKind::kBlob && hex(whole.finish()) != name->sha256)
    return fail(Errc::kCorrupt, "{}: its bytes have another SHA-256", record.name);
  return verify_header(store, receipt, object, call);
}

Result<void> write_all(int fd, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(Errc::kIo, "write {}: {}", path, errno_text(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> write_file(int fd, const std::string& path, const Layout& layout, Loader& loader,
                        const StoreCall& call) {
  TRY(write_all(fd, bytes_of(layout.bytes), path));
  for (const HeaderTensor& tensor : layout.header.tensors) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.end - tensor.begin));
    const TensorWanted wanted{
        .name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape, .into = bytes};
    TRY(loader.load({&wanted, 1}, call));
    TRY(write_all(fd, bytes, path));
  }
  if (::fsync(fd) != 0) return fail(Errc::kIo, "sync {}: {}", path, errno_text(errno));
  return {};
}

}  // namespace

Result<Scrubbed> verify_objects(Store& store, const Checkpoint& checkpoint, int threads,
                                const StoreCall& call) {
  std::vector<std::pair<const Receipt*, std::size_t>> objects;
  Scrubbed scrubbed;
  for (const ReadReceipt& read : checkpoint.receipts)
    for (std::size_t i = 0; i < read.receipt.objects.size(); ++i) {
      objects.emplace_back(&read.receipt, i);
      scrubbed.bytes += read.receipt.objects[i].bytes;
    }
  scrubbed.objects = static_cast<std::int64_t>(objects.size());
  std::mutex mutex;
  TRY(run_on_workers(objects.size(), threads, [&](std::size_t i) -> Result<void> {
    auto ok = verify_object(store, *objects[i].first, objects[i].second, call);
    if (ok || !is_damage(ok.error().code)) return ok;
    const std::scoped_lock lock(mutex);
    ++scrubbed.bad_objects;
    if (scrubbed.bad.size() < kBadObjectsMax) scrubbed.bad.push_back(ok.error().context);
    return {};
  }));
  std::ranges::sort(scrubbed.bad);
  return scrubbed;
}

Result<std::int64_t> export_safetensors(Store& store, const Chain& chain, const std::string& path,
                                        const StoreCall& call) {
  const std::vector<TensorInfo> infos = tensors_of(chain.at(0));
  std::vector<TensorToStore> tensors;
  tensors.reserve(infos.size());
  for (const TensorInfo& info : infos)
    tensors.push_back({.name = info.name, .dtype = info.dtype, .shape = info.shape});
  TRY(const Layout layout, lay_out(tensors, {{"format", "pt"}}));
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return fail(Errc::kIo, "create {}: {}", path, errno_text(errno));
  Loader loader(store, chain, kExportThreads);
  auto written = write_file(fd.get(), path, layout, loader, call);
  if (!written) {
    ::unlink(path.c_str());  // created by us, and not what was asked for
    return std::unexpected<Error>(std::move(written).error());
  }
  return layout.header.object_bytes;
}

}  // namespace amdahl::checkpoint
