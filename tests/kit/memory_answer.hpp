// What the halves of the server in memory share: answers, refusals, and which objects are selected.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::testkit {

kube::Response answer(int status, const Json& body);
// metav1.Status.
kube::Response refuse(int status, std::string_view reason, std::string message);
// A text of the object's metadata; "" when absent.
std::string meta(const Json& object, const char* field);
// By the namespace, labelSelector and fieldSelector of a list or watch.
bool selected(const Json& object, const std::map<std::string, std::string>& query,
              const std::string& ns);

}  // namespace amdahl::testkit
