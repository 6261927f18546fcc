// Reads the body of a list response, JSON or protobuf, one item at a time. Sans-IO.
//
// Failure: an item's error ends the reading and comes back with the item's index.
#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "base/result.hpp"
#include "operator/kube/raw_object.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::kube {

struct ListPage {
  std::string version;    // resourceVersion of the list
  std::string next_page;  // continue token; empty on the last page
};

Result<ListPage> read_list_page(const Response& response,
                                function_ref<Result<void>(RawObject)> each_item);

}  // namespace amdahl::kube
