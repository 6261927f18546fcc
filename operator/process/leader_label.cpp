#include "operator/process/leader_label.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "operator/kube/api.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};  // whether this process leads
constexpr std::chrono::seconds kCheckEvery{30};       // that the labels are still right

nlohmann::json with_label(const nlohmann::json& value) {
  return {{"metadata", {{"labels", {{kLeaderLabel, value}}}}}};
}

}  // namespace

LeaderLabel::LeaderLabel(kube::Client& client, Log log, kube::ObjectKey pod,
                         std::function<bool()> leading)
    : client_(client), log_(std::move(log)), pod_(std::move(pod)), leading_(std::move(leading)) {}

Task<void> LeaderLabel::run() {
  Clock& clock = client_.clock();
  for (;;) {
    std::chrono::nanoseconds wait = kLookEvery;
    if (leading_()) {
      const auto marked = co_await mark();
      if (!marked && marked.error().code == Errc::kCancelled) co_return;
      if (!marked)
        log_.warning("the leader's pod is not labelled; reports may not find it",
                     {{"pod", to_string(pod_)}, {"error", marked.error()}});
      else
        wait = kCheckEvery;
    }
    if (!co_await clock.sleep_for(wait)) co_return;
  }
}

Task<Result<void>> LeaderLabel::mark() {
  const kube::ObjectApi<kube::Pod> pods(client_, kube::kPods);
  CO_TRY(const auto labelled,
         co_await pods.list_all({.ns = pod_.ns, .labels = fmt::format("{}=true", kLeaderLabel)}));
  bool mine = false;
  for (const kube::Pod& pod : labelled.items) {
    mine = mine || std::string_view(pod.metadata.name) == pod_.name;
    if (std::string_view(pod.metadata.name) == pod_.name) continue;
    const kube::ObjectKey other{.ns = pod_.ns, .name = pod.metadata.name.str()};
    const auto taken = co_await pods.patch(other, with_label(nullptr));
    if (!taken && taken.error().code != Errc::kNotFound)
      co_return std::unexpected<Error>(taken.error());
  }
  if (!mine) CO_TRY(co_await pods.patch(pod_, with_label("true")));
  co_return Result<void>{};
}

}  // namespace amdahl
