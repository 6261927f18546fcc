// Cells of the other built-in kinds; see table.hpp.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/table.hpp"
#include "local/apiserver/kinds/table_kinds.hpp"

namespace amdahl::local {

namespace {

constexpr std::size_t kEndpointsShown = 3;

std::string age(const Json& object, WallTime now) {
  return human_age(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::string or_text(std::string text, std::string_view other) {
  return text.empty() ? std::string(other) : std::move(text);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

// The first three, and how many more there are.
std::string shortened(const std::vector<std::string>& texts, std::string_view none) {
  if (texts.empty()) return std::string(none);
  const std::size_t shown = std::min(texts.size(), kEndpointsShown);
  std::string all = joined({texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown)});
  if (texts.size() > shown) all += " + " + std::to_string(texts.size() - shown) + " more...";
  return all;
}

std::string ports_text(const Json& service) {
  std::vector<std::string> texts;
  for (const Json& port : list_at(service, {"spec", "ports"})) {
    std::string text = std::to_string(number_at(port, {"port"}).value_or(0));
    const std::int64_t node = number_at(port, {"nodePort"}).value_or(0);
    if (node > 0) text += ":" + std::to_string(node);
    texts.push_back(text + "/" + text_at(port, {"protocol"}));
  }
  return or_text(joined(texts), "<none>");
}

std::string external_text(const Json& service) {
  const std::string type = text_at(service, {"spec", "type"});
  if (type == "ExternalName") return text_at(service, {"spec", "externalName"});
  std::vector<std::string> texts;
  if (type == "LoadBalancer") {
    for (const Json& entry : list_at(service, {"status", "loadBalancer", "ingress"})) {
      texts.push_back(or_text(text_at(entry, {"ip"}), text_at(entry, {"hostname"})));
    }
  }
  for (const Json& address : list_at(service, {"spec", "externalIPs"})) {
    if (address.is_string()) texts.push_back(address.get<std::string>());
  }
  return or_text(joined(texts), type == "LoadBalancer" ? "<pending>" : "<none>");
}

std::string node_status(const Json& node) {
  std::string status = "Unknown";
  for (const Json& condition : list_at(node, {"status", "conditions"})) {
    if (text_at(condition, {"type"}) != "Ready") continue;
    status = text_at(condition, {"status"}) == "True" ? "Ready" : "NotReady";
  }
  if (flag_at(node, {"spec", "unschedulable"})) status += ",SchedulingDisabled";
  return status;
}

std::string node_roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, value] : map_at(node, {"metadata", "labels"}).items()) {
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
      roles.insert(key.substr(kPrefix.size()));
    } else if (key == "kubernetes.io/role" && value.is_string() && value != "") {
      roles.insert(value.get<std::string>());
    }
  }
  return or_text(joined({roles.begin(), roles.end()}), "<none>");
}

std::string node_address(const Json& node, std::string_view type) {
  for (const Json& address : list_at(node, {"status", "addresses"})) {
    if (text_at(address, {"type"}) == type) return text_at(address, {"address"});
  }
  return "<none>";
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string trimmed(const std::string& text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The same event through either group: the first name that has a value.
const Json* either(const Json& event, std::string_view core, std::string_view other) {
  const Json* value = member(event, core);
  return value != nullptr ? value : member(event, other);
}

std::string either_text(const Json& event, std::string_view core, std::string_view other) {
  const Json* value = either(event, core, other);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string modes_text(const Json& modes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"ReadWriteOnce", "RWO"},
       {"ReadOnlyMany", "ROX"},
       {"ReadWriteMany", "RWX"},
       {"ReadWriteOncePod", "RWOP"}}};
  std::vector<std::string> texts;
  for (const auto& [mode, text] : kShort) {
    if (std::ranges::find(modes, Json(mode)) != modes.end()) texts.emplace_back(text);
  }
  return joined(texts);
}

}  // namespace

Json service_cells(const Json& service, WallTime now) {
  return {text_at(service, {"metadata", "name"}),
          text_at(service, {"spec", "type"}),
          or_text(text_at(service, {"spec", "clusterIP"}), "<none>"),
          external_text(service),
          ports_text(service),
          age(service, now),
          labels_text(map_at(service, {"spec", "selector"}))};
}

Json node_cells(const Json& node, WallTime now) {
  const Json& info = map_at(node, {"status", "nodeInfo"});
  return {text_at(node, {"metadata", "name"}),
          node_status(node),
          node_roles(node),
          age(node, now),
          text_at(info, {"kubeletVersion"}),
          node_address(node, "InternalIP"),
          node_address(node, "ExternalIP"),
          or_text(text_at(info, {"osImage"}), "<unknown>"),
          or_text(text_at(info, {"kernelVersion"}), "<unknown>"),
          or_text(text_at(info, {"containerRuntimeVersion"}), "<unknown>")};
}

Json event_cells(const Json& event, WallTime now) {
  std::string first = either_text(event, "firstTimestamp", "deprecatedFirstTimestamp");
  if (first.empty()) first = text_at(event, {"eventTime"});
  std::string last = either_text(event, "lastTimestamp", "deprecatedLastTimestamp");
  if (last.empty()) last = first;
  const Json* number = either(event, "count", "deprecatedCount");
  std::int64_t count =
      number != nullptr && number->is_number_integer() ? number->get<std::int64_t>() : 0;
  if (member(event, "series") != nullptr) {
    last = text_at(event, {"series", "lastObservedTime"});
    count = number_at(event, {"series", "count"}).value_or(0);
  } else if (count == 0) {
    count = 1;
  }
  const Json none = Json::object();
  const Json* object = either(event, "involvedObject", "regarding");
  const Json* source = either(event, "source", "deprecatedSource");
  if (object == nullptr) object = &none;
  if (source == nullptr) source = &none;
  std::string target = lower(text_at(*object, {"kind"}));
  if (!text_at(*object, {"name"}).empty()) target += "/" + text_at(*object, {"name"});
  std::string from = or_text(text_at(*source, {"component"}),
                             either_text(event, "reportingComponent", "reportingController"));
  const std::string host =
      or_text(text_at(*source, {"host"}), text_at(event, {"reportingInstance"}));
  if (!host.empty()) from += ", " + host;
  return {human_age(last, now),
          text_at(event, {"type"}),
          text_at(event, {"reason"}),
          std::move(target),
          text_at(*object, {"fieldPath"}),
          std::move(from),
          trimmed(either_text(event, "message", "note")),
          human_age(first, now),
          count,
          text_at(event, {"metadata", "name"})};
}

Json endpoints_cells(const Json& endpoints, WallTime now) {
  std::vector<std::string> texts;
  for (const Json& subset : list_at(endpoints, {"subsets"})) {
    const Json& ports = list_at(subset, {"ports"});
    for (const Json& port : ports) {
      for (const Json& address : list_at(subset, {"addresses"})) {
        texts.push_back(text_at(address, {"ip"}) + ":" +
                        std::to_string(number_at(port, {"port"}).value_or(0)));
      }
    }
    for (const Json& address : list_at(subset, {"addresses"})) {
      if (ports.empty()) texts.push_back(text_at(address, {"ip"}));
    }
  }
  return {text_at(endpoints, {"metadata", "name"}), shortened(texts, "<none>"),
          age(endpoints, now)};
}

Json endpoint_slice_cells(const Json& slice, WallTime now) {
  std::vector<std::string> ports;
  for (const Json& port : list_at(slice, {"ports"})) {
    const auto number = number_at(port, {"port"});
    ports.push_back(number ? std::to_string(*number) : "*");
  }
  std::vector<std::string> addresses;
  for (const Json& endpoint : list_at(slice, {"endpoints"})) {
    for (const Json& address : list_at(endpoint, {"addresses"})) {
      if (address.is_string()) addresses.push_back(address.get<std::string>());
    }
  }
  return {text_at(slice, {"metadata", "name"}), text_at(slice, {"addressType"}),
          shortened(ports, "<unset>"), shortened(addresses, "<unset>"), age(slice, now)};
}

Json volume_claim_cells(const Json& claim, WallTime now) {
  const bool going = at(claim, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::string volume = text_at(claim, {"spec", "volumeName"});
  const bool bound = !volume.empty();
  return {text_at(claim, {"metadata", "name"}),
          going ? "Terminating" : text_at(claim, {"status", "phase"}),
          volume,
          bound ? text_at(claim, {"status", "capacity", "storage"}) : std::string(),
          bound ? modes_text(list_at(claim, {"status", "accessModes"})) : std::string(),
          text_at(claim, {"spec", "storageClassName"}),
          or_text(text_at(claim, {"spec", "volumeAttributesClassName"}), "<unset>"),
          age(claim, now),
          or_text(text_at(claim, {"spec", "volumeMode"}), "<unset>")};
}

Json volume_cells(const Json& volume, WallTime now) {
  const bool going = at(volume, {"metadata", "deletionTimestamp"}) != nullptr;
  const Json* ref = at(volume, {"spec", "claimRef"});
  const std::string claim =
      ref == nullptr ? "" : text_at(*ref, {"namespace"}) + "/" + text_at(*ref, {"name"});
  return {text_at(volume, {"metadata", "name"}),
          text_at(volume, {"spec", "capacity", "storage"}),
          modes_text(list_at(volume, {"spec", "accessModes"})),
          text_at(volume, {"spec", "persistentVolumeReclaimPolicy"}),
          going ? "Terminating" : text_at(volume, {"status", "phase"}),
          claim,
          text_at(volume, {"spec", "storageClassName"}),
          or_text(text_at(volume, {"spec", "volumeAttributesClassName"}), "<unset>"),
          text_at(volume, {"status", "reason"}),
          age(volume, now),
          or_text(text_at(volume, {"spec", "volumeMode"}), "<unset>")};
}

}  // namespace amdahl::local
