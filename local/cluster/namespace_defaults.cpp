#include "local/cluster/namespace_defaults.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/task_group.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::local {
namespace {

using controller::ObjectKey;
using controller::Outcome;

constexpr std::string_view kAccount = "default";
constexpr std::string_view kAuthority = "kube-root-ca.crt";
constexpr std::string_view kAuthorityKey = "ca.crt";
constexpr std::chrono::seconds kEndMax{5};

// Only whether it is there.
struct ServiceAccount {
  kube::CacheMeta metadata = {};
  bool operator==(const ServiceAccount&) const = default;
  static const kube::Resource& resource() {
    static const kube::Resource accounts{
        .group = "", .version = "v1", .plural = "serviceaccounts", .kind = "ServiceAccount"};
    return accounts;
  }
};
template <class V>
constexpr void fields(V& v, ServiceAccount& account) {
  v.optional("metadata", account.metadata, {.wire = 1});
}

class Keeper final : public controller::ObserveDecideApply<NamespaceSeen, NamespacePlan> {
 public:
  explicit Keeper(std::string authority_pem) : authority_(std::move(authority_pem)) {}

  Result<std::optional<NamespaceSeen>> observe(const ObjectKey& key) override {
    const auto found = namespaces.find(key);
    if (!found) return std::nullopt;
    const auto map = maps.find({.ns = key.name, .name = std::string(kAuthority)});
    return NamespaceSeen{
        .name = key.name,
        .terminating = found->metadata.deleted.has_value(),
        .has_account = accounts.contains({.ns = key.name, .name = std::string(kAccount)}),
        .has_authority = map && map->data.find(kAuthorityKey) == authority_};
  }

  NamespacePlan decide(const NamespaceSeen& seen, WallTime /*now*/) const override {
    return plan_namespace(seen);
  }

  Task<Result<Outcome>> apply(NamespacePlan plan, controller::Writer& writer) override {
    if (plan.make_account)
      CO_TRY(co_await writer.apply_object(
          {.resource = ServiceAccount::resource(),
           .object = {{"metadata", {{"name", kAccount}, {"namespace", plan.name}}}},
           .force = true}));
    if (plan.write_authority)
      CO_TRY(co_await writer.apply_object(
          {.resource = kube::ConfigMap::resource(),
           .object = {{"metadata", {{"name", kAuthority}, {"namespace", plan.name}}},
                      {"data", {{kAuthorityKey, authority_}}}},
           .force = true}));
    co_return Outcome{};
  }

  controller::Store<kube::Namespace> namespaces;
  controller::Store<ServiceAccount> accounts;
  controller::Store<kube::ConfigMap> maps;

 private:
  std::string authority_;
};

std::vector<ObjectKey> its_namespace(const controller::Change& change) {
  return {{.ns = "", .name = change.key.ns}};
}

}  // namespace

NamespacePlan plan_namespace(const NamespaceSeen& seen) {
  return {.name = seen.name,
          .make_account = !seen.terminating && !seen.has_account,
          .write_authority = !seen.terminating && !seen.has_authority};
}

struct NamespaceDefaults::Parts {
  Parts(controller::Runtime runtime, Rng rng, std::string authority_pem)
      : clock(runtime.client.clock()),
        keeper(std::move(authority_pem)),
        controller(runtime, rng.split(),
                   {.name = "namespace-defaults", .field_manager = "amdahl-local"}, keeper),
        namespaces(runtime.client, rng.split(), {.resource = kube::Namespace::resource()},
                   keeper.namespaces),
        accounts(runtime.client, rng.split(),
                 {.resource = ServiceAccount::resource(), .fields = named(kAccount)},
                 keeper.accounts),
        maps(runtime.client, rng.split(),
             {.resource = kube::ConfigMap::resource(), .fields = named(kAuthority)}, keeper.maps),
        tasks(runtime.executor) {
    controller.reconciles(keeper.namespaces);
    controller.watches(keeper.accounts, its_namespace);
    controller.watches(keeper.maps, its_namespace);
  }
  static std::string named(std::string_view name) { return "metadata.name=" + std::string(name); }

  Clock& clock;
  Keeper keeper;
  controller::Controller controller;
  kube::Watcher namespaces;
  kube::Watcher accounts;
  kube::Watcher maps;
  TaskGroup tasks;
};

NamespaceDefaults::NamespaceDefaults(controller::Runtime runtime, Rng rng,
                                     std::string authority_pem)
    : parts_(std::make_unique<Parts>(runtime, rng, std::move(authority_pem))) {}

NamespaceDefaults::~NamespaceDefaults() = default;

Task<Result<void>> NamespaceDefaults::run() {
  parts_->tasks.spawn("watch namespaces", parts_->namespaces.run());
  parts_->tasks.spawn("watch service accounts", parts_->accounts.run());
  parts_->tasks.spawn("watch authorities", parts_->maps.run());
  auto ended = co_await parts_->controller.run({});
  parts_->tasks.stop();
  if (!co_await parts_->tasks.join(parts_->clock, parts_->clock.monotonic() + kEndMax))
    co_return fail(Errc::kTimeout, "watches of namespace-defaults did not end");
  co_return ended;
}

void NamespaceDefaults::stop() {
  parts_->controller.stop();
}

}  // namespace amdahl::local
