// Lists of tensors in the one form that documents and our own headers have, read and compared
// without a tree of JSON: a state may have hundreds of thousands of tensors, and every save and
// load reads its receipts several times.
//
// These are shortcuts, never judges: what they do not recognise is left to the reader of any JSON,
// which also finds the words for what is wrong. Pure; thread any. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"
#include "checkpoint/format/digest.hpp"
#include "checkpoint/format/receipt.hpp"

namespace amdahl::checkpoint {

// The body of a receipt without its state and with no tensors ("tensors":[]), and both of them.
struct SplitReceipt {
  std::string rest = {};
  std::string_view state = {};  // empty: there is none; else not looked at yet
  std::vector<TensorRecord> tensors = {};
};
// Nothing unless every tensor is written exactly as write_receipt() would.
std::optional<SplitReceipt> split_receipt(std::string_view body_line);

// Name and size of every object of a receipt's body, without memory for the rest. False: its list
// is not written as write_receipt() would.
using OnObjectRecord = function_ref<void(std::string_view name, std::int64_t bytes)>;
bool each_object(std::string_view body_line, OnObjectRecord on_object);

// Whether an object begins with the header that lay_out() gives to the tensors which a receipt
// (checked already) has in it. False says nothing.
bool has_header_of(Bytes from_start, const Receipt& receipt, std::size_t object);

// A name as JSON, quotes included; nothing when it has characters that must or might be escaped.
bool append_plain_text(std::string& json, std::string_view text);
void append_list(std::string& json, const Shape& numbers);

}  // namespace amdahl::checkpoint
