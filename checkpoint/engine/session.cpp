#include "checkpoint/engine/session.hpp"

#include <sys/random.h>

#include <limits>
#include <utility>

#include "base/check.hpp"
#include "base/json_dump.hpp"
#include "base/validate.hpp"
#include "checkpoint/engine/loader.hpp"
#include "checkpoint/engine/scrub.hpp"
#include "checkpoint/engine/tensor_fields.hpp"
#include "checkpoint/engine/trusted_store.hpp"
#include "checkpoint/format/canonical_text.hpp"
#include "checkpoint/format/tree_fields.hpp"
#include "checkpoint/store/open_store.hpp"

namespace amdahl::checkpoint {
namespace {

Rng seeded_by_chance() {
  std::uint64_t seed = 0;
  AMDAHL_CHECK(::getrandom(&seed, sizeof(seed), 0) == static_cast<ssize_t>(sizeof(seed)));
  return Rng(seed);
}

template <class T>
Result<std::vector<T>> read_list(std::string_view json) {
  constexpr int kListDepthMax = 5;
  TRY(const Json tree, parse_strict(json, kListDepthMax));
  if (!tree.is_array()) return fail(Errc::kInvalid, "expected an array");
  std::vector<T> list;
  list.reserve(tree.size());
  for (const Json& item : tree) {
    TRY(T one, from_tree<T>(item));
    TRY(validate(one));
    list.push_back(std::move(one));
  }
  return list;
}

Json passed_over_json(const std::vector<PassedOver>& passed) {
  Json list = Json::array();
  for (const PassedOver& one : passed) list.push_back({{"step", one.step}, {"why", one.why}});
  return list;
}

Json checkpoint_json(const Manifest& manifest) {
  return {{"step", manifest.step},
          {"saveId", manifest.save_id},
          {"committedAt", format_time(manifest.committed_at)},
          {"bytes", manifest.bytes},
          {"worldSize", manifest.receipts.size()},
          {"metrics", manifest.metrics}};
}

// An object of JSON with more members. Thousands of tensors are written without a tree.
void add_member(std::string& object, std::string_view name, const Json& value) {
  object.back() = ',';
  object.append("\"").append(name).append("\":");
  append_json(object, value);
  object += '}';
}
void add_tensors(std::string& object, const std::vector<TensorInfo>& tensors) {
  object.back() = ',';
  object += "\"tensors\":[";
  for (const TensorInfo& info : tensors) {
    object += object.back() == '[' ? "{\"dtype\":\"" : ",{\"dtype\":\"";
    object.append(enum_name(info.dtype)).append("\",\"name\":");
    if (!append_plain_text(object, info.name)) append_json(object, Json(info.name));
    object += ",\"shape\":";
    append_list(object, info.shape);
    object += '}';
  }
  object += "]}";
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(std::string_view options_json, SessionPlace place) {
  std::unique_ptr<Session> session(new Session());
  session->options_text_ = options_json;
  session->place_ = std::move(place);
  TRY(session->options_, read_session_options(options_json));
  TRY(session->store_, open_store(session->options_.uri, {.clock = session->clock_,
                                                          .rng = seeded_by_chance(),
                                                          .variable = session->place_.variable}));
  TRY(session->store_, trusting(std::move(session->store_), session->options_.trusted_keys_file,
                                session->options_.job_uid));
  return session;
}

StoreCall Session::call() const {
  return {.deadline = clock_.monotonic() + std::chrono::milliseconds(options_.save_deadline_ms)};
}

Result<void> Session::describe(std::string_view tensors_json) {
  TRY(const auto tensors, read_list<DescribedTensor>(tensors_json));
  specs_.clear();
  for (const DescribedTensor& tensor : tensors)
    specs_.push_back({.name = tensor.name,
                      .dtype = tensor.dtype,
                      .shape = tensor.shape,
                      .global_shape = tensor.global_shape,
                      .offset = tensor.offset,
                      .frozen = tensor.frozen != 0});
  return {};
}

Result<void> Session::save(const SessionSave& save, std::span<const std::byte* const> tensors) {
  if (!engine_) TRY(open_engine());
  SaveRequest request{.step = save.step,
                      .specs = specs_,
                      .tensors = tensors,
                      .state = std::string(save.state),
                      .patience = save.patience};
  if (!save.metrics.empty()) {
    TRY(const Json tree, parse_strict(save.metrics, 2));
    if (!tree.is_object()) return fail(Errc::kInvalid, "metrics: expected an object of texts");
    for (const auto& [name, value] : tree.items()) {
      if (!value.is_string()) return fail(Errc::kInvalid, "metric {}: no text", shown(name));
      request.metrics.emplace(name, value.get<std::string>());
    }
  }
  return engine_->save(request);
}

Result<void> Session::wait(std::chrono::nanoseconds patience) {
  return engine_ ? engine_->wait(patience) : Result<void>();
}

Result<void> Session::settle(std::chrono::nanoseconds patience) {
  return engine_ ? engine_->settle(patience) : Result<void>();
}

std::string Session::status() const {
  return dump_json(to_json(engine_ ? engine_->status() : EngineStatus{}));
}

// Before the first step, and not at the first commit: by then another job's state was trained on.
Result<void> Session::take_prefix() {
  if (options_.own_prefix == 0) return {};
  const Owner owner{.job_uid = options_.job_uid, .job = options_.job, .created_at = clock_.wall()};
  TRY(check_not_taken(*store_, owner, call()));
  if (options_.rank != 0) return {};
  // Of two jobs that begin at the same time one is first. A store that cannot be written to says
  // so at the first save.
  (void)claim_prefix(*store_, owner, call());
  return check_not_taken(*store_, owner, call());
}

Result<std::string> Session::open_step(std::int64_t step, std::int64_t before) {
  TRY(take_prefix());
  await_earlier_process();
  Newest newest;
  if (step >= 0) {
    TRY(newest.chain, fetch_chain(*store_, step, call()));
  } else {
    constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
    TRY(newest, fetch_newest(*store_, call(), before < 0 ? kAll : before));
  }
  opened_ = std::move(newest.chain);
  if (opened_.empty() && newest.passed_over.empty()) return "null";
  if (opened_.empty())
    return fail(Errc::kCorrupt, "no checkpoint can be used; the newest: {}",
                newest.passed_over[0].why);
  const Checkpoint& checkpoint = opened_[0];
  opened_tensors_ = tensors_of(checkpoint);
  Json json = checkpoint_json(checkpoint.manifest.manifest);
  json["passedOver"] = passed_over_json(newest.passed_over);
  std::string text = dump_json(json);
  add_member(text, "state", checkpoint.receipts[0].receipt.state);
  const auto rank = static_cast<std::size_t>(options_.rank);
  if (rank > 0 && rank < checkpoint.receipts.size())  // that of rank 0 is there
    add_member(text, "rankState", checkpoint.receipts[rank].receipt.state);
  add_tensors(text, opened_tensors_);
  return text;
}

// Those that have an address, whole.
Result<std::vector<TensorWanted>> Session::whole_tensors(std::span<std::byte* const> tensors) {
  if (tensors.size() != opened_tensors_.size())
    return fail(Errc::kInvalid, "load: {} tensors, {} addresses", opened_tensors_.size(),
                tensors.size());
  std::vector<TensorWanted> wanted;
  wanted.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr) continue;
    const TensorInfo& info = opened_tensors_[i];
    const std::int64_t bytes = element_count(info.shape).value_or(0) * element_bytes(info.dtype);
    wanted.push_back({.name = info.name,
                      .dtype = info.dtype,
                      .shape = info.shape,
                      .into = {tensors[i], static_cast<std::size_t>(bytes)}});
  }
  return wanted;
}

Result<std::vector<TensorWanted>> Session::described_tensors(std::string_view wanted_json,
                                                             std::span<std::byte* const> tensors) {
  TRY(const auto described, read_list<DescribedTensor>(wanted_json));
  if (described.size() != tensors.size())
    return fail(Errc::kInvalid, "load: {} tensors, {} addresses", described.size(), tensors.size());
  std::vector<TensorWanted> wanted;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto count = element_count(described[i].shape);
    if (!count) return fail(Errc::kTooLarge, "load {}: its shape", shown(described[i].name));
    const std::int64_t bytes = *count * element_bytes(described[i].dtype);
    wanted.push_back({.name = described[i].name,
                      .dtype = described[i].dtype,
                      .offset = described[i].offset,
                      .shape = described[i].shape,
                      .into = {tensors[i], static_cast<std::size_t>(bytes)}});
  }
  return wanted;
}

Result<void> Session::load(std::string_view wanted_json, std::span<std::byte* const> tensors) {
  if (opened_.empty()) return fail(Errc::kInvalid, "load: no step is open");
  TRY(const auto wanted,
      wanted_json.empty() ? whole_tensors(tensors) : described_tensors(wanted_json, tensors));
  return Loader(*store_, opened_, options_.io_threads).load(wanted, call());
}

Result<std::string> Session::list() {
  TRY(const auto steps, fetch_steps(*store_, call()));
  Json json = Json::array();
  for (const std::int64_t step : steps) {
    auto manifest = fetch_manifest(*store_, step, call());
    if (manifest)
      json.push_back(checkpoint_json(manifest->manifest));
    else if (manifest.error().code != Errc::kNotFound)  // else it was collected meanwhile
      json.push_back({{"step", step}, {"error", manifest.error().context}});
  }
  return dump_json(json);
}

Result<std::string> Session::verify(std::int64_t step) {
  TRY(const Chain chain, fetch_chain(*store_, step, call()));
  Json json = {{"step", step}, {"objects", 0}, {"bytes", 0}, {"bad", Json::array()}};
  for (const Checkpoint& checkpoint : chain) {
    TRY(const Scrubbed scrubbed, verify_objects(*store_, checkpoint, options_.io_threads, call()));
    json["objects"] = json["objects"].get<std::int64_t>() + scrubbed.objects;
    json["bytes"] = json["bytes"].get<std::int64_t>() + scrubbed.bytes;
    for (const std::string& bad : scrubbed.bad) json["bad"].push_back(bad);
  }
  return dump_json(json);
}

Result<std::string> Session::collect(bool only_a_plan) {
  const EngineOptions options = engine_options(options_);
  Collector collector(*store_, options_.job_uid);
  // Of saves without a manifest nothing is known here: they stay.
  TRY(const Collected collected,
      collector.collect({.policy = options.retention, .dry_run = only_a_plan}, call()));
  Json json = {
      {"kept", collected.plan.kept},       {"bytes", collected.plan.remove_bytes},
      {"removed", collected.removed},      {"waiting", collected.plan.waiting},
      {"foreign", collected.plan.foreign}, {"damaged", passed_over_json(collected.damaged)},
      {"objects", Json::array()}};
  for (const StoredObject& object : collected.plan.remove) json["objects"].push_back(object.name);
  return dump_json(json);
}

Result<void> Session::export_step(std::int64_t step, const std::string& path) {
  TRY(const Chain chain, fetch_chain(*store_, step, call()));
  TRY(export_safetensors(*store_, chain, path, call()));
  return {};
}

Result<void> Session::pin(std::int64_t step, bool pinned) {
  TRY(check_owner(*store_, options_.job_uid, call()));
  const std::string name = write_name({.kind = ObjectKind::kPin, .step = step});
  if (!pinned) return store_->remove(name, call());
  TRY(fetch_manifest(*store_, step, call()));
  auto created = store_->create(name, {}, call());
  if (!created && created.error().code == Errc::kAlreadyExists) return {};
  return created;
}

}  // namespace amdahl::checkpoint
