// KindRules of the embedded API server: the built-in kinds and whatever CRDs add, with their
// schemas, patches and documents.
//
// Joins local/apiserver/{kinds,schema,patch} behind the seam of the core and adds nothing but the
// choice between them. Thread: the server's. Lifetime: outlives the server; the BuiltinSchemas and
// the Identities outlive it. Failure: as KindRules says.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "local/apiserver/core/kind_rules.hpp"
#include "local/apiserver/kinds/builtin_schemas.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

// The audience of tokens that are meant for this server.
inline constexpr const char* kApiAudience = "https://kubernetes.default.svc.cluster.local";

// Who a token belongs to, and tokens for service accounts: the front's business.
class Identities {
 public:
  struct Owner {
    User user = {};
    std::vector<std::string> audiences = {};  // for whom the token is meant
  };
  struct Wish {
    std::string ns = {};
    std::string account = {};
    std::string account_uid = {};
    std::vector<std::string> audiences = {};
    std::string pod = {};  // the pod it is bound to; empty: none
    std::string pod_uid = {};
    std::int64_t seconds = 0;  // not valid for longer
  };
  struct Issued {
    std::string token = {};
    WallTime expires{};
  };
  virtual ~Identities() = default;
  // None: the token is wrong, changed or over.
  virtual std::optional<Owner> owner_of(std::string_view token, WallTime now) const = 0;
  // None: this server issues no tokens.
  virtual std::optional<Issued> issue(const Wish& wish, WallTime now) = 0;
};

class ServedKinds final : public KindRules {
 public:
  ServedKinds(const BuiltinSchemas& schemas, Identities& identities, std::string address);
  // Knows what the other one knows now, without compiling it again.
  ServedKinds(const ServedKinds& like);
  ServedKinds& operator=(const ServedKinds&) = delete;

  const ResourceInfo* find(std::string_view group, std::string_view version,
                           std::string_view plural) const override;
  const ResourceInfo* find_kind(std::string_view api_version, std::string_view kind) const override;
  const ResourceInfo* find_storage(std::string_view storage) const override;
  void changed(const ResourceInfo& info, std::string_view name, const Json* object) override;

  Json convert(const ResourceInfo& to, Json object) const override;
  Outcome<std::vector<std::string>> decode(const ResourceInfo& info, Json& object) const override;
  void apply_defaults(const ResourceInfo& info, Json& object) const override;
  void prepare_create(const ResourceInfo& info, Json& object, WallTime now) const override;
  void prepare_update(const ResourceInfo& info, std::string_view subresource, Json& object,
                      const Json& old) const override;
  std::vector<std::string> warnings(const ResourceInfo& info, const Json& object,
                                    const Json* old) const override;
  std::vector<Cause> validate(const ResourceInfo& info, std::string_view subresource,
                              const Json& object, const Json* old) const override;

  Outcome<Json> patch(const ResourceInfo& info, PatchType type, const Json& live,
                      const Json& patch) const override;
  Outcome<Json> apply(const ResourceInfo& info, const Json* live, const Json& config,
                      const FieldEdit& edit) const override;
  Json unset(const ResourceInfo& info) const override;
  void track(const ResourceInfo& info, const Json* old, Json& object,
             const FieldEdit& edit) const override;

  PackedMap fields(const ResourceInfo& info, const Json& object) const override;
  bool selectable(const ResourceInfo& info, std::string_view field) const override;
  Json table_columns(const ResourceInfo& info) const override;
  Json table_cells(const ResourceInfo& info, const Json& object, WallTime now) const override;
  std::optional<ScalePaths> scale_paths(const ResourceInfo& info) const override;

  bool reviews(const ResourceInfo& info, std::string_view subresource) const override;
  Outcome<Json> answer_review(const Review& review) const override;
  std::optional<Document> document(std::string_view path, std::string_view accept) const override;

  // One served version of one kind.
  struct Served {
    KindPtr kind = {};
    ResourceInfo info = {};
    SchemaPtr schema = {};  // of a custom resource
    MergeShapePtr shape = {};
    const TypeNode* type = nullptr;  // of a built-in kind whose storage forgets empty lists
    Json unset = Json::object();     // an object of the kind before anybody set a field
  };

 private:
  const Served& served(const ResourceInfo& info) const;
  void rebuild();
  Served make(const KindPtr& kind, const Served* before) const;

  const BuiltinSchemas& schemas_;
  Identities& identities_;
  std::string address_;
  KindTable kinds_;
  std::map<std::string, Served, std::less<>> served_;                // by "group/version/plural"
  std::map<std::string, const ResourceInfo*, std::less<>> kept_in_;  // by storage
  std::unordered_map<const ResourceInfo*, const Served*> by_info_;
};

}  // namespace amdahl::local
