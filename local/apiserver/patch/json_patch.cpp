#include "local/apiserver/patch/json_patch.hpp"

#include <string>
#include <string_view>

#include "local/apiserver/patch/json_pointer.hpp"

namespace amdahl::local {
namespace {

struct Operation {
  std::string_view kind = "unknown";
  const std::string* path = nullptr;
  const std::string* from = nullptr;
  const Json* value = nullptr;  // null when left out, which counts as JSON null
};

Result<const std::string*> text_member(const Json& operation, const char* name) {
  const auto found = operation.find(name);
  if (found == operation.end() || found->is_null()) return nullptr;
  if (!found->is_string())
    return fail(Errc::kCorrupt, "error decoding patch: \"{}\" of an operation is not a string",
                name);
  return found->get_ptr<const std::string*>();
}

Result<Operation> read_operation(const Json& json) {
  if (!json.is_object())
    return fail(Errc::kCorrupt, "error decoding patch: an operation is not an object");
  Operation operation;
  TRY(const std::string* kind, text_member(json, "op"));
  if (kind != nullptr) operation.kind = *kind;
  TRY(operation.path, text_member(json, "path"));
  TRY(operation.from, text_member(json, "from"));
  const auto value = json.find("value");
  if (value != json.end()) operation.value = &*value;
  return operation;
}

// One patch at work on its document.
class Patcher {
 public:
  explicit Patcher(Json& document) : document_(document) {}

  Result<void> apply(const Operation& operation) {
    if (operation.kind == "add") return add(operation);
    if (operation.kind == "remove") return remove(operation);
    if (operation.kind == "replace") return replace(operation);
    if (operation.kind == "move") return move(operation);
    if (operation.kind == "copy") return copy(operation);
    if (operation.kind == "test") return test(operation);
    return fail(Errc::kInvalid, "Unexpected kind: {}", operation.kind);
  }

 private:
  static Result<void> need(const Operation& operation, const std::string* pointer,
                           std::string_view name) {
    if (pointer != nullptr) return {};
    return fail(Errc::kInvalid, "{} operation failed to decode {}: missing value", operation.kind,
                name);
  }

  Result<Place> place(const Operation& operation, const std::string& pointer,
                      std::string_view name) {
    Place found = find_place(document_, pointer);
    if (found.container == nullptr)
      return fail(Errc::kInvalid,
                  "{} operation does not apply: doc is missing {}: \"{}\": missing value",
                  operation.kind, name, pointer);
    return found;
  }

  static Json value_of(const Operation& operation) {
    return operation.value == nullptr ? Json() : *operation.value;
  }

  static Result<void> put(const Place& at, Json value) {
    if (depth_of(value) + at.depth + 1 > kDepthMax)
      return fail(Errc::kTooLarge, "the patched object would be nested more than {} levels deep",
                  kDepthMax);
    if (at.container->is_object()) {
      (*at.container)[at.key] = std::move(value);
      return {};
    }
    if (at.key == "-") {
      at.container->push_back(std::move(value));
      return {};
    }
    TRY(const std::size_t index, list_index(at.key, at.container->size() + 1));
    at.container->insert(at.container->begin() + static_cast<std::ptrdiff_t>(index),
                         std::move(value));
    return {};
  }

  // A member that is not there reads as null, as kube-apiserver does it; an index must exist.
  static Result<const Json*> get(const Place& at) {
    if (at.container->is_object()) {
      const auto found = at.container->find(at.key);
      return found == at.container->end() ? nullptr : &*found;
    }
    TRY(const std::size_t index, list_index(at.key, at.container->size()));
    return &(*at.container)[index];
  }

  static Result<Json> take(const Place& at) {
    if (at.container->is_object()) {
      const auto found = at.container->find(at.key);
      if (found == at.container->end())
        return fail(Errc::kInvalid, "Unable to remove nonexistent key: {}: missing value", at.key);
      Json value = std::move(*found);
      at.container->erase(found);
      return value;
    }
    TRY(const std::size_t index, list_index(at.key, at.container->size()));
    Json value = std::move((*at.container)[index]);
    at.container->erase(index);
    return value;
  }

  template <class T>
  static Result<T> located(const Operation& operation, const std::string& pointer,
                           Result<T> result) {
    if (result || result.error().code != Errc::kInvalid) return result;
    return wrap(std::move(result).error(), "error in {} for path: '{}'", operation.kind, pointer);
  }

  Result<void> add(const Operation& operation) {
    TRY(need(operation, operation.path, "path"));
    TRY(const Place at, place(operation, *operation.path, "path"));
    return located(operation, *operation.path, put(at, value_of(operation)));
  }

  Result<void> remove(const Operation& operation) {
    TRY(need(operation, operation.path, "path"));
    TRY(const Place at, place(operation, *operation.path, "path"));
    TRY(located(operation, *operation.path, take(at)));
    return {};
  }

  Result<void> replace(const Operation& operation) {
    TRY(need(operation, operation.path, "path"));
    if (operation.path->empty()) {
      if (operation.value == nullptr || !operation.value->is_structured())
        return fail(Errc::kInvalid, "replace operation value must be object or array");
      document_ = *operation.value;
      return check_depth(document_, "the patched object");
    }
    TRY(const Place at, place(operation, *operation.path, "path"));
    if (at.container->is_object()) return put(at, value_of(operation));
    const auto index = list_index(at.key, at.container->size());
    if (!index)
      return fail(Errc::kInvalid,
                  "replace operation does not apply: doc is missing key: {}: missing value",
                  *operation.path);
    at.container->erase(*index);
    return put({.container = at.container, .key = std::to_string(*index), .depth = at.depth},
               value_of(operation));
  }

  Result<void> move(const Operation& operation) {
    TRY(need(operation, operation.from, "from"));
    TRY(need(operation, operation.path, "path"));
    TRY(const Place source, place(operation, *operation.from, "from path"));
    TRY(Json value, located(operation, *operation.from, take(source)));
    TRY(const Place at, place(operation, *operation.path, "destination path"));
    return located(operation, *operation.path, put(at, std::move(value)));
  }

  Result<void> copy(const Operation& operation) {
    TRY(need(operation, operation.from, "from"));
    TRY(need(operation, operation.path, "path"));
    TRY(const Place source, place(operation, *operation.from, "from path"));
    TRY(const Json* value, located(operation, *operation.from, get(source)));
    Json copied = value == nullptr ? Json() : *value;
    copied_bytes_ += copied.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    if (copied_bytes_ > kJsonPatchCopyBytesMax)
      return fail(Errc::kInvalid,
                  "Unable to complete the copy, the accumulated size increase of copy is {}, "
                  "exceeding the limit {}",
                  copied_bytes_, kJsonPatchCopyBytesMax);
    TRY(const Place at, place(operation, *operation.path, "destination path"));
    return located(operation, *operation.path, put(at, std::move(copied)));
  }

  Result<void> test(const Operation& operation) {
    TRY(need(operation, operation.path, "path"));
    const Json expected = value_of(operation);
    if (operation.path->empty()) return passed(operation, document_ == expected);
    TRY(const Place at, place(operation, *operation.path, "path"));
    TRY(const Json* value, located(operation, *operation.path, get(at)));
    return passed(operation, value == nullptr ? expected.is_null() : *value == expected);
  }

  static Result<void> passed(const Operation& operation, bool equal) {
    if (equal) return {};
    return fail(Errc::kInvalid, "testing value {} failed: test failed", *operation.path);
  }

  Json& document_;
  std::size_t copied_bytes_ = 0;
};

}  // namespace

Result<Json> apply_json_patch(Json document, const Json& operations) {
  if (!operations.is_array())
    return fail(Errc::kCorrupt, "error decoding patch: a JSON patch is a list of operations");
  if (operations.size() > kJsonPatchOperationsMax)
    return fail(Errc::kTooLarge, "The allowed maximum operations in a JSON patch is {}, got {}",
                kJsonPatchOperationsMax, operations.size());
  TRY(check_depth(document, "the object"));
  TRY(check_depth(operations, "the patch"));
  Patcher patcher(document);
  for (const Json& json : operations) {
    TRY(const Operation operation, read_operation(json));
    TRY(patcher.apply(operation));
  }
  return document;
}

}  // namespace amdahl::local
