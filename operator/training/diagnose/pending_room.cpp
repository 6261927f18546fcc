#include "operator/training/diagnose/pending_room.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::training {
namespace {

constexpr std::size_t kAmountsMax = 6;  // resources that are listed

kube::Quantity amount_of(const Quantities& amounts, const std::string& name) {
  const auto row = amounts.find(name);
  return row == amounts.end() ? kube::Quantity{} : row->second;
}

// How often `need` goes into `have`, at most `most`. Milli-units are exact for what pods request.
std::int64_t times_in(const kube::Quantity& need, const kube::Quantity& have, std::int64_t most) {
  if (need <= kube::Quantity{}) return most;
  if (have < need) return 0;
  const std::int64_t unit = need.milli_value();
  return unit <= 0 ? most : std::min(most, have.milli_value() / unit);
}

bool is_device(const std::string& name) {
  return name.find('/') != std::string::npos;
}

}  // namespace

Room count_room(const Quantities& per_pod, std::span<const NodeRoom> nodes, std::int64_t most) {
  Room room;
  for (const NodeRoom& node : nodes) {
    if (!node.schedulable) continue;
    ++room.nodes;
    std::int64_t fit = most;
    const std::string* scarce = nullptr;
    for (const auto& [name, need] : per_pod) {
      const std::int64_t times = times_in(need, amount_of(node.free, name), most);
      if (times > fit || (times == fit && scarce != nullptr && is_device(*scarce))) continue;
      fit = times;
      scarce = &name;
    }
    room.fit = std::min(most, room.fit + fit);
    room.nodes_used += fit > 0 ? 1 : 0;
    if (fit == 0 && scarce != nullptr) ++room.stops[*scarce];
  }
  return room;
}

Quantities multiply(const Quantities& amounts, std::int64_t times) {
  Quantities product;
  for (const auto& [name, amount] : amounts) {
    // Doubling: a gang has at most 4096 pods, and Quantity's sums stop by themselves.
    kube::Quantity power = amount;
    kube::Quantity sum;
    for (std::int64_t rest = times; rest > 0; rest /= 2) {
      if (rest % 2 == 1) sum += power;
      power += power;
    }
    product.emplace(name, sum);
  }
  return product;
}

std::string amounts_text(const Quantities& amounts) {
  std::string text;
  std::size_t listed = 0;
  for (const bool devices : {true, false})
    for (const auto& [name, amount] : amounts) {
      if (is_device(name) != devices) continue;
      if (listed++ == kAmountsMax) return text + ", ...";
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", amount.to_string(), name);
    }
  return text.empty() ? "nothing" : text;
}

Quantities beyond(const Quantities& asked, const Quantities& used, const Quantities& limit) {
  Quantities over;
  for (const auto& [name, amount] : asked) {
    const auto most = limit.find(name);
    if (most == limit.end()) continue;
    if (amount + amount_of(used, name) > most->second) over.emplace(name, amount);
  }
  return over;
}

}  // namespace amdahl::training
