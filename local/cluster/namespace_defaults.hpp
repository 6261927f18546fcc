// Gives every namespace what a control plane gives it: the service account "default" and the
// ConfigMap kube-root-ca.crt with the server's authority; again when somebody deletes them.
//
// Thread: one. Lifetime: the runtime's client outlives it; run() has returned before it dies.
// Failure: none that ends it; each problem is logged and tried again.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/controller/controller.hpp"
#include "operator/controller/reconciler.hpp"

namespace amdahl::local {

struct NamespaceSeen {
  std::string name = {};
  bool terminating = false;
  bool has_account = false;
  bool has_authority = false;  // with the right text
};
struct NamespacePlan {
  std::string name = {};
  bool make_account = false;
  bool write_authority = false;
  bool operator==(const NamespacePlan&) const = default;
};
NamespacePlan plan_namespace(const NamespaceSeen& seen);

class NamespaceDefaults {
 public:
  NamespaceDefaults(controller::Runtime runtime, Rng rng, std::string authority_pem);
  ~NamespaceDefaults();
  NamespaceDefaults(const NamespaceDefaults&) = delete;
  NamespaceDefaults& operator=(const NamespaceDefaults&) = delete;

  // Until stop(), or until it is cancelled.
  Task<Result<void>> run();
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace amdahl::local
