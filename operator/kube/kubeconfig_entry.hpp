// One named entry of a kubeconfig file, with typed access to its fields and errors that point at
// the place. Used by kubeconfig*.cpp only.
//
// Lifetime: borrows the document and the file. Failure: Errc::kInvalid, "file:line:column: field".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/kube/config.hpp"
#include "operator/kube/kubeconfig.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::kube {

class KubeconfigEntry {
 public:
  // `what` is "user ann", for messages.
  KubeconfigEntry(const YamlNode& node, const KubeconfigFile& file, std::string what)
      : node_(&node), file_(&file), what_(std::move(what)) {}

  const std::string& what() const { return what_; }
  const std::string& file() const { return file_->path; }
  const KubeconfigFile& source() const { return *file_; }
  bool has(std::string_view field) const;  // there, and neither null nor empty

  // Absent and null give the empty value; the wrong shape is an error.
  Result<std::string> text(std::string_view field) const;
  Result<bool> flag(std::string_view field) const;
  Result<std::vector<std::string>> texts(std::string_view field) const;
  Result<std::map<std::string, std::vector<std::string>>> text_lists(std::string_view field) const;
  Result<std::vector<KubeconfigEntry>> entries(std::string_view field) const;
  Result<KubeconfigEntry> entry(std::string_view field) const;
  // A path, relative to the directory of the file that holds it.
  Result<std::string> path(std::string_view field) const;
  // `field`-data decoded from base64, or the path in `field`.
  Result<PemSource> pem(std::string_view field) const;

  const YamlNode& node() const { return *node_; }
  std::unexpected<Error> refuse(std::string_view field, std::string_view why) const;
  std::string resolve(const std::string& path) const;

 private:
  const YamlNode* value(std::string_view field) const;  // null when absent or null
  Result<std::vector<std::string>> list_of(const YamlNode& list, std::string_view field) const;

  const YamlNode* node_;
  const KubeconfigFile* file_;
  std::string what_;
};

// What the cluster and user entries of the chosen context say.
Result<void> decode_cluster(const KubeconfigEntry& cluster, Config& config);
Result<void> decode_user(const KubeconfigEntry& user, Config& config);
// The exec extension of the cluster goes into the exec plugin's input.
Result<void> decode_exec_extension(const KubeconfigEntry& cluster, ExecSpec& spec);

}  // namespace amdahl::kube
