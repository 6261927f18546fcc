// Subjects that lean on one safeguard each: right with it, wrong without.
//
// Replace: a ConfigMap labelled replace=yes gets a child <name>-copy that is never changed: when
// the data differ, the child is deleted and made again. Leans on W3. Counted: one labelled copies=N
// gets N children with random names, as controllers do that count. Leans on W2 alone, and so is
// right only as long as no answer is lost. Adopter: the mirror, but any object of the right name is
// taken for its own. Violates W1.
#pragma once

#include <string>
#include <vector>

#include "examples/mirror.hpp"

namespace amdahl::simulation {

using controller::Outcome;
using controller::Writer;
using examples::Maps;

class Replace final : public controller::Reconciler {
 public:
  Replace(const Maps& maps, Rng /*rng*/) : maps_(maps) {}
  Task<Result<Outcome>> reconcile(kube::ObjectKey key, controller::Reconcile context) override;

 private:
  const Maps& maps_;
};

class Counted final : public controller::Reconciler {
 public:
  Counted(const Maps& maps, Rng rng) : maps_(maps), rng_(rng) {}
  Task<Result<Outcome>> reconcile(kube::ObjectKey key, controller::Reconcile context) override;

 private:
  const Maps& maps_;
  Rng rng_;
};

class Adopter final : public controller::Reconciler {
 public:
  Adopter(const Maps& maps, Rng /*rng*/) : maps_(maps) {}
  Task<Result<Outcome>> reconcile(kube::ObjectKey key, controller::Reconcile context) override;

 private:
  const Maps& maps_;
};

}  // namespace amdahl::simulation
