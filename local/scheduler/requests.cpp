// How much a pod asks for.
#include <algorithm>

#include "local/scheduler/observe.hpp"

namespace amdahl::local::scheduling {
namespace {

using cached::Quantities;

void add(Quantities& sum, const Quantities& more) {
  for (const auto& [name, quantity] : more) sum[name] += quantity;
}

void raise(Quantities& most, const Quantities& other) {
  for (const auto& [name, quantity] : other) most[name] = std::max(most[name], quantity);
}

// A limit without a request is a request: the API server says so too, in its defaults.
Quantities requests_of(const cached::Container& container) {
  Quantities requests = container.resources.requests;
  for (const auto& [name, quantity] : container.resources.limits)
    requests.try_emplace(name, quantity);
  return requests;
}

}  // namespace

Resources to_resources(const Quantities& quantities) {
  Resources resources;
  for (const auto& [name, quantity] : quantities)
    resources.emplace(name, name == "cpu" ? quantity.milli_value() : quantity.value());
  return resources;
}

Resources pod_requests(const cached::PodSpec& spec) {
  Quantities sidecars;
  Quantities most;
  for (const cached::Container& container : spec.init_containers) {
    Quantities now = requests_of(container);
    if (container.restart_policy == "Always") {
      add(sidecars, now);
      raise(most, sidecars);
    } else {
      add(now, sidecars);
      raise(most, now);
    }
  }
  Quantities together = sidecars;
  for (const cached::Container& container : spec.containers) add(together, requests_of(container));
  raise(most, together);
  add(most, spec.overhead);
  return to_resources(most);
}

}  // namespace amdahl::local::scheduling
