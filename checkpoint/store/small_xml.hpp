// The XML of S3's answers: elements and text, nothing else.
//
// Declarations of types, entities of one's own, comments, processing instructions and CDATA are
// refused: no answer needs them. Attributes are skipped. Bounded in size, depth and count before
// memory is taken. Pure. Thread: any. Failure: kCorrupt, kTooLarge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kXmlBytesMax = std::size_t{8} << 20U;
inline constexpr std::size_t kXmlElementsMax = 100'000;
inline constexpr std::size_t kXmlDepthMax = 8;

struct XmlElement {
  std::string name = {};
  std::string text = {};  // of itself, not of its children
  std::vector<XmlElement> children = {};

  const XmlElement* child(std::string_view child_name) const;  // the first; null: none
  std::string_view text_of_child(std::string_view child_name) const;
};

Result<XmlElement> parse_xml(std::string_view text);

// "&" becomes "&amp;" and so on.
std::string xml_escape(std::string_view text);

}  // namespace amdahl::checkpoint
