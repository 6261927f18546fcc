#include "local/apiserver/core/restore.hpp"

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/read.hpp"

namespace amdahl::local {
namespace {

// The object without metadata.managedFields.
class SlimReader final : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;
  explicit SlimReader(Json& into) : Base(into, false) {}

  bool null() { return skips() || Base::null(); }
  bool boolean(bool value) { return skips() || Base::boolean(value); }
  bool number_integer(number_integer_t value) { return skips() || Base::number_integer(value); }
  bool number_unsigned(number_unsigned_t value) { return skips() || Base::number_unsigned(value); }
  bool number_float(number_float_t value, const string_t& text) {
    return skips() || Base::number_float(value, text);
  }
  bool string(string_t& value) { return skips() || Base::string(value); }
  bool start_object(std::size_t size) { return enters() || Base::start_object(size); }
  bool start_array(std::size_t size) { return enters() || Base::start_array(size); }
  bool end_object() { return leaves() || Base::end_object(); }
  bool end_array() { return leaves() || Base::end_array(); }
  bool key(string_t& name) {
    if (skipped_from_ != 0) return true;
    if (depth_ == 1) in_metadata_ = name == "metadata";
    if (depth_ != 2 || !in_metadata_ || name != "managedFields") return Base::key(name);
    skipped_from_ = depth_;
    return true;
  }

 private:
  // A scalar: if it is all that was to be skipped, the skipping is over.
  bool skips() {
    if (skipped_from_ == 0) return false;
    if (depth_ == skipped_from_) skipped_from_ = 0;
    return true;
  }
  bool enters() {
    ++depth_;
    return skipped_from_ != 0;
  }
  bool leaves() {
    --depth_;
    return skips();
  }

  int depth_ = 0;
  int skipped_from_ = 0;  // the depth of the member that is skipped; 0: none
  bool in_metadata_ = false;
};

}  // namespace

Result<ObjectPtr> restore(const KindRules& rules, Restored& from) {
  Json json;
  SlimReader reader(json);
  if (!Json::sax_parse(from.text, &reader) || !json.is_object())
    return fail(Errc::kCorrupt, "load {}: not a JSON object", from.storage);
  if (auto checked = check_metadata(json); !checked)
    return fail(Errc::kCorrupt, "load {}: {}", from.storage, checked.error().message);
  const Json& meta = metadata_of(json);
  const auto version = parse_version(text_at(meta, "resourceVersion"));
  if (!version || !*version || text_at(meta, "name").empty() || text_at(meta, "uid").empty())
    return fail(Errc::kCorrupt, "load {}: no name, UID or version in the metadata", from.storage);
  const ResourceInfo* info = rules.find_storage(from.storage);
  PackedMap fields = info != nullptr ? rules.fields(*info, json) : PackedMap();
  return restored_object(json, std::move(from.text), **version, std::move(fields));
}

}  // namespace amdahl::local
