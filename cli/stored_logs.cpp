#include "cli/stored_logs.hpp"

#include <fmt/format.h>

#include "checkpoint/engine/kept_log.hpp"
#include "cli/text_layout.hpp"

namespace amdahl::cli {

using checkpoint::kKeptLogAttemptsMax;
using checkpoint::kKeptLogsFolder;

Result<void> StoredLogs::open(const TrainingJob& job, std::uint32_t attempt) {
  if (store_) return {};
  const std::string& uri = job.spec.checkpoint.uri;
  const std::string& address = from_.empty() ? uri : from_;
  if (address.empty())
    return fail(Errc::kNotFound,
                "the logs of attempt {} went with its pods: the job keeps no checkpoints. Set "
                "spec.checkpoint.uri, and the last logs of every rank are kept beside them",
                attempt);
  if (!is_here(address))
    return fail(Errc::kNotFound,
                "the logs of attempt {} are in {}/{}, which is not on this machine. Run this where "
                "the volume is mounted, with --from and its path there",
                attempt, one_line(address), kKeptLogsFolder);
  TRY(store_, open_found(program_, {}, {.address = address}));
  return {};
}

Result<std::string> StoredLogs::read(const TrainingJob& job, std::uint32_t attempt,
                                     std::uint32_t rank) {
  const auto newest = static_cast<std::int64_t>(job.status.attempt);
  TRY(open(job, attempt));
  auto text = checkpoint::read_kept_log(
      *store_, {.job_uid = job.metadata.uid, .attempt = attempt, .rank = rank},
      call_within(program_, kStoredLogMax));
  if (text) return text;
  if (text.error().code != Errc::kNotFound)
    return wrap(std::move(text).error(), "log of attempt {}, rank {}", attempt, rank);
  if (attempt + static_cast<std::int64_t>(kKeptLogAttemptsMax) <= newest)
    return fail(Errc::kNotFound, "{} has the logs of the last {} attempts only", where(),
                kKeptLogAttemptsMax);
  return fail(Errc::kNotFound,
              "{} has none of it: its container did not start, or was killed before the launcher "
              "could write",
              where());
}

std::string StoredLogs::where() const {
  return fmt::format("{}/{}", store_->describe(), kKeptLogsFolder);
}

std::string_view last_lines(std::string_view text, std::optional<std::int64_t> count) {
  if (!count) return text;
  std::size_t begin = text.size();
  for (std::int64_t line = 0; line < *count && begin > 0; ++line) {
    const std::size_t newline = begin < 2 ? text.npos : text.rfind('\n', begin - 2);
    begin = newline == text.npos ? 0 : newline + 1;
  }
  return text.substr(begin);
}

}  // namespace amdahl::cli
