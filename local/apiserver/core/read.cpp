#include "local/apiserver/core/read.hpp"

#include <fmt/format.h>

#include <charconv>

#include "local/apiserver/core/continue_token.hpp"
#include "local/apiserver/core/render.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kListTooOld = "The resourceVersion for the provided list is too old.";
constexpr std::string_view kInconsistentContinue =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list.";

struct ListPlan {
  std::uint64_t version = 0;
  std::string start = {};  // a whole key
};

Outcome<ListPlan> continued(const ServerState& state, const Request& request,
                            const Selection& selection) {
  const Query& query = request.query;
  auto decoded = decode_continue(query.continue_token);
  if (!decoded)
    return bad_request(fmt::format("invalid continue token: {}", decoded.error().message));
  const ContinueToken& token = *decoded;
  if (!query.resource_version.empty() && query.resource_version != "0")
    return bad_request("specifying resource version is not allowed when using continue");
  ListPlan plan{.start = selection.prefix + token.start};
  plan.version =
      token.version < 0 ? state.table.version() : static_cast<std::uint64_t>(token.version);
  if (plan.version > state.table.version())
    return too_large_version(plan.version, state.table.version());
  if (state.table.readable(request.resource, plan.version)) return plan;
  Status status = expired(kInconsistentContinue);
  status.continue_token = encode({.version = -1, .start = token.start});
  return status;
}

Outcome<ListPlan> plan_list(const ServerState& state, const Request& request,
                            const Selection& selection) {
  const Query& query = request.query;
  if (!query.continue_token.empty()) return continued(state, request, selection);
  auto parsed_version = parse_version(query.resource_version);
  if (!parsed_version)
    return bad_request(fmt::format("invalid resource version: {}", parsed_version.error().message));
  const std::optional<std::uint64_t> wanted = *parsed_version;
  const std::uint64_t current = state.table.version();
  if (!wanted) return ListPlan{.version = current};
  if (*wanted > current) return too_large_version(*wanted, current);
  const bool exact = query.resource_version_match == "Exact" ||
                     (query.resource_version_match.empty() && query.limit > 0);
  if (!exact) return ListPlan{.version = current};
  if (!state.table.readable(request.resource, *wanted)) return expired(kListTooOld);
  return ListPlan{.version = *wanted};
}

// Whoever takes any version is answered from a cache there, which knows no pages. What expires by
// itself, events, is not in the cache.
bool without_pages(const Request& request) {
  const Query& query = request.query;
  return query.resource_version == "0" && query.continue_token.empty() &&
         request.info->ttl.count() == 0;
}

// Kubernetes words it by who converts the label.
Status unknown_field(const ResourceInfo& info, std::string_view field) {
  if (info.group == "batch")
    return bad_request(fmt::format("field label \"{}\" not supported for {}", field, info.kind));
  if (info.custom || info.selects_fields)
    return bad_request(fmt::format("field label not supported: {}", field));
  return bad_request(fmt::format(
      "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
      field));
}

}  // namespace

Outcome<Selection> selection_of(const ServerState& state, const Request& request) {
  Selection selection{.labels = request.query.labels, .fields = request.query.fields};
  const ResourceInfo& info = *request.info;
  for (const FieldTerm& term : selection.fields.terms()) {
    const bool known = term.field == "metadata.name" || term.field == "metadata.namespace" ||
                       state.rules.selectable(info, term.field);
    if (known) continue;
    return unknown_field(info, term.field);
  }
  if (info.namespaced && !request.route.ns.empty()) selection.prefix = request.route.ns + "/";
  if (!request.route.name.empty()) {
    const auto name = selection.fields.exact("metadata.name");
    if (!selection.fields.empty() && name != request.route.name)
      return bad_request("fieldSelector metadata.name doesn't match requested name");
    selection.fields.require("metadata.name", request.route.name);
  }
  return selection;
}

Outcome<std::optional<std::uint64_t>> parse_version(std::string_view text) {
  if (text.empty() || text == "0") return std::optional<std::uint64_t>();
  std::uint64_t version = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || at != text.data() + text.size())
    return unknown_failure(fmt::format(
        "resourceVersion: Invalid value: \"{}\": strconv.ParseUint: parsing \"{}\": {}", text, text,
        error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
  return std::optional<std::uint64_t>(version);
}

Outcome<Reply> get(ServerState& state, Request& request) {
  OUTCOME_TRY(const std::optional<std::uint64_t> wanted,
              parse_version(request.query.resource_version));
  if (wanted && *wanted > state.table.version())
    return too_large_version(*wanted, state.table.version());
  const ObjectPtr found = state.table.get(request.resource, request.key());
  if (!found) return not_found(request.info->resource_name(), request.route.name);
  Reply reply = object_reply(state, request, 200, *found);
  reply.wait_version = found->version;
  return reply;
}

Outcome<Reply> list(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_list_options(request.query));
  OUTCOME_TRY(const Selection selection, selection_of(state, request));
  OUTCOME_TRY(const ListPlan plan, plan_list(state, request, selection));
  const Page page = state.table.page(
      request.resource,
      {.prefix = selection.prefix,
       .start = plan.start,
       .version = plan.version,
       .limit = without_pages(request) ? 0 : static_cast<std::size_t>(request.query.limit),
       .count_rest = selection.whole()},
      [&](const StoredObject& object) { return selection.matches(object); });
  ListMeta meta{.version = plan.version};
  if (!page.next.empty()) {
    meta.continue_token = encode({.version = static_cast<std::int64_t>(plan.version),
                                  .start = page.next.substr(selection.prefix.size())});
    // Keys that do not match would be counted too, so only an unfiltered list tells.
    if (selection.whole()) meta.remaining = page.remaining;
  }
  Reply reply{.wait_version = state.table.version()};
  reply.body = render_list(state.rules, render_as(state, request), meta, page.items);
  if (request.query.pretty) {
    const Json json = Json::parse(reply.body, nullptr, false);
    reply.body = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return reply;
}

}  // namespace amdahl::local
