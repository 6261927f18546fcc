#include "cli/checkpoint_text.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "checkpoint/engine/loader.hpp"
#include "cli/text_layout.hpp"

namespace amdahl::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Manifest;
using checkpoint::TensorInfo;

std::string metrics_text(const Manifest& manifest) {
  std::string text;
  for (const auto& [name, value] : manifest.metrics)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one_line(name), one_line(value));
  return text;
}

std::string shape_text(const checkpoint::Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string signature_text(const checkpoint::ReadManifest& manifest) {
  if (!manifest.signature) return "none";
  return "by key " + one_line(manifest.signature->key_id) + " (not checked here)";
}

Json row_json(const CheckpointRow& row) {
  Json json{{"step", row.step}, {"pinned", row.pinned}, {"usable", row.manifest.has_value()}};
  if (row.manifest)
    json["manifest"] = encode(row.manifest->manifest);
  else
    json["damage"] = row.damage;
  return json;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (amount /= 1024; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits.at(unit));
}

std::string checkpoints_table(const std::vector<CheckpointRow>& rows) {
  Columns columns;
  columns.add({"STEP", "COMMITTED", "SIZE", "RANKS", "DELTA OF", "PINNED", "METRICS"});
  for (const CheckpointRow& row : rows) {
    const std::string step = std::to_string(row.step);
    const std::string pinned = row.pinned ? "yes" : "";
    if (!row.manifest) {
      columns.add({step, "-", "-", "-", "", pinned, "cannot be used: " + one_line(row.damage)});
      continue;
    }
    const Manifest& manifest = row.manifest->manifest;
    columns.add({step, format_time(manifest.committed_at), bytes_text(manifest.bytes),
                 std::to_string(manifest.receipts.size()),
                 manifest.parent ? std::to_string(manifest.parent->step) : "", pinned,
                 metrics_text(manifest)});
  }
  return columns.text();
}

Json checkpoints_json(const std::vector<CheckpointRow>& rows) {
  Json list = Json::array();
  for (const CheckpointRow& row : rows) list.push_back(row_json(row));
  return list;
}

std::string checkpoint_text(const checkpoint::Chain& chain, bool pinned, bool tensors) {
  const Checkpoint& checkpoint = chain.front();
  const Manifest& manifest = checkpoint.manifest.manifest;
  std::size_t objects = 0;
  for (const auto& receipt : checkpoint.receipts) objects += receipt.receipt.objects.size();
  const std::vector<TensorInfo> infos = checkpoint::tensors_of(checkpoint);
  Columns rows;
  rows.add({"Step:", std::to_string(manifest.step)});
  rows.add({"Job UID:", one_line(manifest.job_uid)});
  rows.add({"Committed:", format_time(manifest.committed_at)});
  rows.add({"Size:", fmt::format("{} in {} objects of {} ranks", bytes_text(manifest.bytes),
                                 objects, manifest.receipts.size())});
  rows.add({"Tensors:", std::to_string(infos.size())});
  if (manifest.parent)
    rows.add({"Delta of:", fmt::format("step {}, {} up to a full one", manifest.parent->step,
                                       manifest.parent->chain)});
  if (!manifest.metrics.empty()) rows.add({"Metrics:", metrics_text(manifest)});
  rows.add({"Pinned:", pinned ? "yes" : "no"});
  rows.add({"Signature:", signature_text(checkpoint.manifest)});
  rows.add({"Root:", manifest.root});
  if (!tensors) return rows.text();
  Columns list("  ");
  for (const TensorInfo& info : infos)
    list.add({one_line(info.name), std::string(enum_name(info.dtype)), shape_text(info.shape)});
  return rows.text() + list.text();
}

Json checkpoint_json(const checkpoint::Chain& chain, bool pinned) {
  Json json{{"pinned", pinned}, {"manifest", encode(chain.front().manifest.manifest)}};
  Json& tensors = json["tensors"] = Json::array();
  for (const TensorInfo& info : checkpoint::tensors_of(chain.front()))
    tensors.push_back(
        {{"name", info.name}, {"dtype", enum_name(info.dtype)}, {"shape", info.shape}});
  return json;
}

std::string collection_text(const checkpoint::Collected& collected, bool dry_run) {
  std::string text;
  for (const checkpoint::StoredObject& object : collected.plan.remove)
    if (dry_run)
      text += fmt::format("would remove {} ({})\n", object.name, bytes_text(object.bytes));
  for (const checkpoint::PassedOver& one : collected.damaged)
    text += fmt::format("step {} cannot be read, so everything before it stays: {}\n", one.step,
                        one_line(one.why));
  text += fmt::format(
      "{} {} objects with {}; {} checkpoints stay", dry_run ? "Would remove" : "Removed",
      dry_run ? static_cast<std::int64_t>(collected.plan.remove.size()) : collected.removed,
      bytes_text(collected.plan.remove_bytes), collected.plan.kept.size());
  if (collected.leftovers > 0)
    text += fmt::format("; {} leftovers of uploads went", collected.leftovers);
  if (collected.plan.waiting > 0)
    text += fmt::format("; {} objects belong to saves that may still be committed",
                        collected.plan.waiting);
  if (collected.plan.foreign > 0)
    text += fmt::format("; {} objects are not ours and are left alone", collected.plan.foreign);
  return text + ".\n";
}

}  // namespace amdahl::cli
