// A tensor as users of c_api.h describe it, one line a field. Plain values; thread any.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "checkpoint/format/dtype.hpp"
#include "checkpoint/format/header.hpp"
#include "checkpoint/format/shape.hpp"

namespace amdahl::checkpoint {

struct DescribedTensor {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Shape shape = {};
  Shape global_shape = {};
  Shape offset = {};
  std::int32_t frozen = 0;
};
template <class V>
constexpr void fields(V& v, DescribedTensor& tensor) {
  v.required("name", tensor.name,
             {.doc = "Of the whole tensor.", .length_min = 1, .length_max = kTensorNameMax});
  v.required("dtype", tensor.dtype, {.doc = "Of its elements."});
  v.required("shape", tensor.shape,
             {.doc = "What is here.", .min = 0, .max = kElementsMax, .items_max = kDimensionsMax});
  v.optional("globalShape", tensor.global_shape,
             {.doc = "Of the whole; absent: this is all.",
              .min = 0,
              .max = kElementsMax,
              .items_max = kDimensionsMax});
  v.optional("offset", tensor.offset,
             {.doc = "In the whole.", .min = 0, .max = kElementsMax, .items_max = kDimensionsMax});
  v.optional("frozen", tensor.frozen, {.doc = "1: it does not change.", .min = 0, .max = 1});
}

}  // namespace amdahl::checkpoint
