#include "local/kubelet/node_keeper.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/controller/writer.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/types_core.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kManager = "kubelet";
constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";

}  // namespace

Task<Result<void>> NodeKeeper::start() {
  const kube::DynamicApi nodes(client_, kube::kNodes);
  for (const NodeSpec& node : options_.nodes) {
    const Json object = node_object(node);
    const auto made = co_await nodes.create(object, kManager);
    if (!made && made.error().code != Errc::kAlreadyExists)
      co_return std::unexpected<Error>(made.error());
    if (made) continue;
    const Json labels = {{"metadata", {{"labels", object["metadata"]["labels"]}}}};
    CO_TRY(co_await nodes.patch({.ns = "", .name = node.name}, labels,
                                {.field_manager = std::string(kManager)}));
  }
  CO_TRY(co_await remove_undeclared());
  ready_since_ = client_.clock().wall();
  CO_TRY(co_await put_status({.changed = ready_since_}));
  for (const NodeSpec& node : options_.nodes) CO_TRY(co_await clear_taint(node.name));
  co_return Result<void>{};
}

// A new node comes with a taint that a node controller takes away when it is ready. There is none
// here, and a declared node is ready as long as this process lives.
Task<Result<void>> NodeKeeper::clear_taint(std::string node) {
  const kube::DynamicApi nodes(client_, kube::kNodes);
  CO_TRY(const Json live, co_await nodes.get({.ns = "", .name = node}));
  const Json& all = member_of(member_of(live, "spec"), "taints");
  if (!all.is_array()) co_return Result<void>{};
  Json rest = Json::array();
  for (const Json& taint : all)
    if (text_of(taint, "key") != kNotReadyTaint) rest.push_back(taint);
  if (rest.size() == all.size()) co_return Result<void>{};
  const std::string_view version = text_of(member_of(live, "metadata"), "resourceVersion");
  const Json change = {{"metadata", {{"resourceVersion", version}}},
                       {"spec", {{"taints", rest.empty() ? Json() : rest}}}};
  CO_TRY(co_await nodes.patch({.ns = "", .name = node}, change,
                              {.field_manager = std::string(kManager)}));
  co_return Result<void>{};
}

Task<Result<void>> NodeKeeper::put_status(NodeState state) {
  const kube::DynamicApi nodes(client_, kube::kNodes);
  for (const NodeSpec& node : options_.nodes) {
    const Json change = {{"status", node_status(node, options_, state, client_.clock().wall())}};
    CO_TRY(co_await nodes.patch({.ns = "", .name = node.name}, change,
                                {.field_manager = std::string(kManager), .subresource = "status"}));
  }
  co_return Result<void>{};
}

Task<Result<void>> NodeKeeper::remove_undeclared() {
  const kube::Api<kube::Node> nodes(client_);
  CO_TRY(const auto all, co_await nodes.list_all({.labels = std::string(kNodeLabel)}));
  for (const kube::Node& node : all.items) {
    const std::string name = node.metadata.name.str();
    if (std::ranges::find(options_.nodes, name, &NodeSpec::name) != options_.nodes.end()) continue;
    log_.info("node removed: it is not declared any more", {{"node", name}});
    const auto removed =
        co_await nodes.remove({.ns = "", .name = name}, {.uid = node.metadata.uid.str()});
    if (!removed && removed.error().code != Errc::kNotFound)
      co_return std::unexpected<Error>(removed.error());
  }
  co_return Result<void>{};
}

Task<void> NodeKeeper::keep() {
  while (co_await client_.clock().sleep_for(kHeartbeat)) {
    const auto put = co_await put_status({.changed = ready_since_});
    if (!put && put.error().code == Errc::kCancelled) co_return;
    if (!put) log_.warning("node status not renewed", {{"cause", put.error()}});
  }
}

Task<Result<void>> NodeKeeper::stop() {
  return put_status({.ready = false,
                     .reason = "KubeletStopped",
                     .message = "the local cluster was stopped; its pods have no processes"});
}

}  // namespace amdahl::local
