#include "local/apiserver/core/render.hpp"

#include <fmt/format.h>

#include "local/apiserver/core/metadata.hpp"

namespace amdahl::local {
namespace {

constexpr int kPrettyIndent = 2;

// The text as it is kept, unless another version was asked for.
std::string whole_text(const KindRules& rules, const ResourceInfo& info,
                       const StoredObject& object) {
  const std::string wanted = fmt::format("{{\"apiVersion\":\"{}\",", info.api_version());
  if (object.text.starts_with(wanted)) return object.text;
  return json_text(in_version(rules, info, parsed(object)));
}

Json metadata_form(const RenderAs& as, const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/" + as.accepted.meta_version},
          {"metadata", metadata_of(object)}};
}

// kubectl greys out what has ended.
void mark_completed(Json& row, const Json& pod) {
  const auto status = pod.find("status");
  const std::string phase = status == pod.end() ? std::string() : text_at(*status, "phase");
  if (phase != "Succeeded" && phase != "Failed") return;
  row["conditions"] = {
      {{"type", "Completed"},
       {"status", "True"},
       {"reason", phase},
       {"message", phase == "Failed" ? "The pod failed." : "The pod has completed successfully."}}};
}

Json table_row(const KindRules& rules, const RenderAs& as, const StoredObject& object) {
  Json json = in_version(rules, *as.info, parsed(object));
  Json row = {{"cells", rules.table_cells(*as.info, json, as.now)}};
  if (as.info->graceful_delete) mark_completed(row, json);
  if (as.include_object == "Object") {
    row["object"] = std::move(json);
  } else if (as.include_object != "None") {
    row["object"] = metadata_form(as, json);
  }
  return row;
}

// Lists of custom resources always tell whether they go on.
Json list_metadata(const ListMeta& meta, bool custom = false) {
  Json json = {{"resourceVersion", std::to_string(meta.version)}};
  if (custom || !meta.continue_token.empty()) json["continue"] = meta.continue_token;
  if (meta.remaining) json["remainingItemCount"] = *meta.remaining;
  return json;
}

Json table(const KindRules& rules, const RenderAs& as, Json metadata) {
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/" + as.accepted.meta_version},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", as.table_headers ? rules.table_columns(*as.info) : Json()},
          {"rows", Json::array()}};
}

std::string list_head(std::string_view kind, std::string_view api_version, const Json& metadata) {
  return fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},"items":)", kind, api_version,
                     json_text(metadata));
}

std::string prettied(const Request& request, std::string text) {
  if (!request.query.pretty) return text;
  const Json json = Json::parse(text, nullptr, false);
  return json.dump(kPrettyIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_warnings(const Request& request, Reply& reply) {
  for (const std::string& warning : request.warnings) {
    std::string quoted;
    for (const char c : warning) {
      if (c == '"' || c == '\\') quoted += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
    }
    reply.headers.emplace_back("Warning", fmt::format("299 - \"{}\"", quoted));
  }
}

Json in_version(const KindRules& rules, const ResourceInfo& info, Json object) {
  if (text_at(object, "apiVersion") == info.api_version()) return object;
  return rules.convert(info, std::move(object));
}

RenderAs render_as(const ServerState& state, const Request& request) {
  return {.info = request.info,
          .accepted = request.accepted,
          .include_object = request.query.include_object,
          .now = state.now};
}

std::string render_object(const KindRules& rules, const RenderAs& as, const StoredObject& object) {
  switch (as.accepted.form) {
    case ObjectForm::kWhole:
      return whole_text(rules, *as.info, object);
    case ObjectForm::kMetadata:
      return json_text(metadata_form(as, parsed(object)));
    case ObjectForm::kTable:
      break;
  }
  Json json = table(rules, as, {{"resourceVersion", std::to_string(object.version)}});
  json["rows"].push_back(table_row(rules, as, object));
  return json_text(json);
}

std::string render_list(const KindRules& rules, const RenderAs& as, const ListMeta& meta,
                        std::span<const ObjectPtr> items) {
  if (as.accepted.form == ObjectForm::kTable) {
    Json json = table(rules, as, list_metadata(meta));
    for (const ObjectPtr& item : items) json["rows"].push_back(table_row(rules, as, *item));
    return json_text(json);
  }
  const bool whole = as.accepted.form == ObjectForm::kWhole;
  const Json metadata = list_metadata(meta, whole && as.info->custom);
  std::string text = whole ? list_head(as.info->list_kind, as.info->api_version(), metadata)
                           : list_head("PartialObjectMetadataList",
                                       "meta.k8s.io/" + as.accepted.meta_version, metadata);
  if (!whole && items.empty()) return text += "null}";
  text += '[';
  std::size_t bytes = text.size();
  for (const ObjectPtr& item : items) bytes += whole ? item->text.size() + 1 : 0;
  text.reserve(bytes + 2);
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (at != 0) text += ',';
    text += render_object(rules, as, *items[at]);
  }
  return text += "]}";
}

Reply object_reply(const ServerState& state, const Request& request, int code,
                   const StoredObject& object) {
  Reply reply{.status = code, .wait_version = state.table.version()};
  reply.body = prettied(request, render_object(state.rules, render_as(state, request), object));
  return reply;
}

Reply json_reply(const Request& request, int code, const Json& body) {
  Reply reply{.status = code};
  reply.body = prettied(request, json_text(body));
  return reply;
}

Reply status_reply(const Status& status) {
  Reply reply{.status = status.code};
  reply.body = json_text(to_json(status));
  if (status.retry_after_seconds > 0)
    reply.headers.emplace_back("Retry-After", std::to_string(status.retry_after_seconds));
  return reply;
}

Reply text_reply(int code, std::string body) {
  return {.status = code, .content_type = "text/plain; charset=utf-8", .body = std::move(body)};
}

}  // namespace amdahl::local
