#include "operator/kube/list_page.hpp"

#include "base/json_reader.hpp"
#include "operator/kube/wire_envelope.hpp"

namespace amdahl::kube {
namespace {

bool read_text(JsonValue& value, std::string& into) {
  if (value.is_null()) return true;
  const auto text = value.string();
  if (text) into = *text;
  return text.has_value();
}

Result<ListPage> page_from_json(std::string_view body,
                                function_ref<Result<void>(RawObject)> each_item) {
  ListPage page;
  std::optional<Error> item_error;
  std::size_t index = 0;
  const auto on_item = [&](JsonValue& item) {
    const auto raw = item.raw();
    if (!raw) return false;
    if (auto done = each_item({.bytes = *raw}); !done) item_error = std::move(done).error();
    if (!item_error) ++index;
    return !item_error.has_value();
  };
  const auto on_metadata = [&](std::string_view key, JsonValue& value) {
    if (key == "resourceVersion") return read_text(value, page.version);
    if (key == "continue") return read_text(value, page.next_page);
    return true;
  };
  JsonReader reader;
  const auto read = reader.read(body, [&](JsonValue& root) {
    return root.for_each_member([&](std::string_view key, JsonValue& value) {
      if (key == "metadata") return value.for_each_member(on_metadata);
      if (key == "items" && !value.is_null()) return value.for_each_element(on_item);
      return true;
    });
  });
  if (item_error) return wrap(std::move(*item_error), "items[{}]", index);
  if (!read) return std::unexpected(read.error());
  return page;
}

Result<ListPage> page_from_wire(std::string_view body,
                                function_ref<Result<void>(RawObject)> each_item) {
  TRY(const WireObject list, unwrap_object(body));
  if (list.encoding == Encoding::kJson) return page_from_json(list.raw, each_item);
  std::size_t index = 0;
  TRY(const WireList read, unwrap_list(list.raw, [&](std::string_view item) -> Result<void> {
        if (auto done = each_item({.bytes = item, .encoding = Encoding::kProtobuf}); !done)
          return wrap(std::move(done).error(), "items[{}]", index);
        ++index;
        return {};
      }));
  return ListPage{.version = std::string(read.version), .next_page = std::string(read.next_page)};
}

}  // namespace

Result<ListPage> read_list_page(const Response& response,
                                function_ref<Result<void>(RawObject)> each_item) {
  const bool wire =
      response.header("Content-Type").starts_with("application/vnd.kubernetes.protobuf");
  TRY(ListPage page,
      wire ? page_from_wire(response.body, each_item) : page_from_json(response.body, each_item));
  if (page.version.empty()) return fail(Errc::kCorrupt, "a list without a resourceVersion");
  return page;
}

}  // namespace amdahl::kube
