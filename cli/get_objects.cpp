#include "cli/get_objects.hpp"

#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "cli/object_text.hpp"
#include "cli/table_text.hpp"
#include "cli/training_jobs.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/watch_frames.hpp"

namespace amdahl::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::chrono::seconds kSilenceMax{600};  // of a watch; it is opened again by then
constexpr std::chrono::milliseconds kReopenPause{200};

std::string metadata_text(const Json& object, std::string_view key) {
  return std::string(text_of(member_of(object, "metadata"), key));
}
std::string version_of(const Json& object) {
  return metadata_text(object, "resourceVersion");
}

Result<kube::Request> as_table(Result<kube::Request> request) {
  if (request) request->headers = {{"Accept", std::string(kTableType)}};
  return request;
}

class Getter {
 public:
  Getter(Program& program, Access access, GetOptions options)
      : program_(program),
        access_(std::move(access)),
        options_(std::move(options)),
        discovery_(access_.client) {}

  Task<Result<int>> run(const std::vector<Target>& targets) {
    several_ = targets.size() > 1;
    for (const Target& target : targets) {
      CO_TRY(co_await choose(target));
      if (options_.watch && (several_ || names_.size() > 1))
        co_return fail(Errc::kInvalid, "--watch takes one kind, or one object");
      if (!names_.empty() && options_.all_namespaces && resource_.namespaced)
        co_return fail(Errc::kInvalid, "an object of a name is in one namespace; leave -A out");
      if (options_.output.empty() || options_.output == "wide")
        CO_TRY(co_await show_table());
      else
        CO_TRY(co_await collect());
    }
    CO_TRY(print_collected());
    if (options_.watch) CO_TRY(co_await watch());
    co_return kDone;
  }

 private:
  // A word that names no kind is the name of a TrainingJob.
  Task<Result<void>> choose(const Target& target) {
    names_ = target.names;
    auto found = co_await find_resource(discovery_, target.type);
    if (found) {
      resource_ = *std::move(found);
      co_return Result<void>{};
    }
    const Error unknown = std::move(found).error();
    const bool missing = unknown.code == Errc::kNotFound;
    if (missing && target.type == kJobsWord)
      co_return std::unexpected<Error>(co_await job_not_found(access_, ""));
    if (!missing || !options_.bare_names || options_.all_namespaces)
      co_return std::unexpected<Error>(unknown);
    resource_ = kTrainingJobs;
    const std::string& name = target.type;
    const auto there = co_await kube::Api<TrainingJob>(access_.client).get(key_of(name));
    if (!there && there.error().code == Errc::kNotFound)
      co_return fail(Errc::kNotFound, "{}, and namespace {} has no TrainingJob of this name",
                     unknown.context, access_.ns);
    if (!there) co_return std::unexpected<Error>(there.error());
    names_.insert(names_.begin(), name);
    co_return Result<void>{};
  }

  std::string ns() const {
    return resource_.namespaced && !options_.all_namespaces ? access_.ns : "";
  }
  kube::ListOptions list_options() const {
    return {
        .ns = ns(), .labels = options_.labels, .fields = options_.fields, .limit = kube::kPageSize};
  }
  kube::ObjectKey key_of(const std::string& name) const { return {.ns = ns(), .name = name}; }

  Task<Result<void>> show_table() {
    const bool with_namespace = options_.all_namespaces && resource_.namespaced;
    table_ = TableText({.wide = options_.output == "wide",
                        .with_namespace = with_namespace,
                        .prefix = several_ ? kind_word(resource_) + "/" : ""});
    for (const std::string& name : names_) {
      CO_TRY(const Json table, co_await kube::api_detail::object<Json>(
                                   access_.client, as_table(get_request(resource_, key_of(name)))));
      CO_TRY(table_.add(table));
      version_ = version_of(table);
    }
    if (names_.empty()) CO_TRY(co_await list_tables());
    if (table_.empty() && !options_.watch) {
      program_.terminal.err(ns().empty() ? std::string("No resources found\n")
                                         : "No resources found in " + ns() + " namespace.\n");
      co_return Result<void>{};
    }
    if (shown_any_) program_.terminal.out("\n");
    shown_any_ = true;
    if (!options_.no_headers && !table_.empty()) show_header();
    program_.terminal.out(table_.take_rows());
    co_return Result<void>{};
  }

  void show_header() {
    program_.terminal.out(table_.header());
    header_shown_ = true;
  }

  // Rows are printed when all pages are there: columns are as wide as the widest cell.
  Task<Result<void>> list_tables() {
    kube::ListOptions page = list_options();
    for (std::size_t pages = 0; pages < kube::kPagesMax; ++pages) {
      CO_TRY(const Json table, co_await kube::api_detail::object<Json>(
                                   access_.client, as_table(list_request(resource_, page))));
      CO_TRY(table_.add(table));
      version_ = version_of(table);
      page.continue_token = metadata_text(table, "continue");
      if (page.continue_token.empty()) co_return Result<void>{};
    }
    co_return fail(Errc::kTooLarge, "list {}: over {} pages", resource_.plural, kube::kPagesMax);
  }

  Task<Result<void>> collect() {
    const kube::DynamicApi api(access_.client, resource_);
    for (const std::string& name : names_) {
      CO_TRY(objects_.emplace_back(), co_await api.get(key_of(name)));
      version_ = version_of(objects_.back());
    }
    if (!names_.empty()) co_return Result<void>{};
    CO_TRY(auto list, co_await api.list_all(list_options()));
    version_ = list.version;
    for (Json& item : list.items) {
      if (!item.is_object()) continue;
      // Items of a list do not say what they are.
      item["apiVersion"] = resource_.api_version();
      item["kind"] = resource_.kind;
      objects_.push_back(std::move(item));
    }
    co_return Result<void>{};
  }

  Result<void> print_collected() {
    if (options_.output == "name") {
      for (const Json& object : objects_) print_object(object);
    } else if (options_.output == "json" || options_.output == "yaml") {
      if (options_.watch || (objects_.size() == 1 && !names_.empty())) {
        for (const Json& object : objects_) print_object(object);
      } else {
        print_object({{"apiVersion", "v1"},
                      {"kind", "List"},
                      {"metadata", {{"resourceVersion", ""}}},
                      {"items", objects_}});
      }
    }
    return {};
  }

  void print_object(const Json& object) {
    if (options_.output == "name")
      program_.terminal.out(kind_word(resource_) + "/" + metadata_text(object, "name") + "\n");
    else
      program_.terminal.out((options_.watch && options_.output == "yaml" ? "---\n" : "") +
                            object_text(object, options_.output));
  }

  bool tables() const { return options_.output.empty() || options_.output == "wide"; }

  Task<Result<void>> watch() {
    for (;;) {
      CO_TRY(co_await watch_once());
      if (!co_await program_.clock.sleep_for(kReopenPause))
        co_return fail(Errc::kCancelled, "stopped");
    }
  }

  // Until the server ends it, which it does every few minutes.
  Task<Result<void>> watch_once() {
    std::string fields = options_.fields;
    if (!names_.empty()) fields = "metadata.name=" + names_.front();
    auto request = watch_request(
        resource_, {.ns = ns(), .labels = options_.labels, .fields = fields, .version = version_});
    if (tables()) request = as_table(std::move(request));
    CO_TRY(auto ready, std::move(request));
    CO_TRY(auto stream, co_await access_.client.open(std::move(ready)));
    kube::WatchFrames frames(kube::Encoding::kJson);
    for (;;) {
      const auto count = co_await stream.body->read(frames.prepare(kReadBytes),
                                                    program_.clock.monotonic() + kSilenceMax);
      // A connection that breaks is opened again at the version we know.
      if (!count && count.error().code == Errc::kCancelled)
        co_return std::unexpected<Error>(count.error());
      if (!count || *count == 0) co_return Result<void>{};
      frames.filled(*count);
      for (;;) {
        CO_TRY(const auto frame, frames.next());
        if (!frame) break;
        CO_TRY(show_event(*frame));
      }
    }
  }

  Result<void> show_event(std::string_view text) {
    TRY(const auto frame, kube::parse_frame(text, kube::Encoding::kJson));
    TRY(Json object, decode<Json>(frame.object));
    if (frame.kind == kube::FrameKind::kError)
      return fail(Errc::kGone, "watch {}: {}", resource_.plural, text_of(object, "message"));
    const bool table = text_of(object, "kind") == "Table";
    remember_version(object, table);
    if (frame.kind == kube::FrameKind::kBookmark || frame.kind == kube::FrameKind::kUnknown)
      return {};
    if (!table) {
      print_object(object);
      return {};
    }
    TRY(table_.add(object));
    if (!header_shown_ && !options_.no_headers) show_header();
    program_.terminal.out(table_.take_rows());
    return {};
  }

  void remember_version(const Json& object, bool table) {
    const Json& rows = member_of(object, "rows");
    const Json& row = table && rows.is_array() && !rows.empty() ? rows.front() : object;
    std::string version = version_of(table ? member_of(row, "object") : object);
    if (!version.empty()) version_ = std::move(version);
  }

  Program& program_;
  Access access_;
  GetOptions options_;
  kube::Discovery discovery_;
  kube::Resource resource_;
  std::vector<std::string> names_;
  TableText table_{{}};
  std::vector<Json> objects_;
  std::string version_;
  bool several_ = false;
  bool shown_any_ = false;
  bool header_shown_ = false;
};

}  // namespace

Task<Result<int>> get_objects(Program& program, Access access, GetOptions options,
                              std::vector<Target> targets) {
  Getter getter(program, std::move(access), std::move(options));
  co_return co_await getter.run(targets);
}

}  // namespace amdahl::cli
