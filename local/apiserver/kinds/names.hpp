// Kubernetes' rules for names, keys and label values, with its words for each broken one.
//
// Pure functions; an empty result means the text is fine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::local {

using NameErrors = std::vector<std::string>;

NameErrors dns_subdomain_errors(std::string_view text);   // RFC 1123, up to 253
NameErrors dns_label_errors(std::string_view text);       // RFC 1123, up to 63
NameErrors dns_1035_errors(std::string_view text);        // a label that starts with a letter
NameErrors qualified_name_errors(std::string_view text);  // "example.com/name"
NameErrors label_value_errors(std::string_view text);
NameErrors config_key_errors(std::string_view text);
NameErrors env_name_errors(std::string_view text);
NameErrors port_name_errors(std::string_view text);
NameErrors path_segment_errors(std::string_view text);
NameErrors port_number_errors(std::int64_t port);
NameErrors ip_errors(std::string_view text);
NameErrors endpoint_ip_errors(std::string_view text);  // also refuses ranges nobody can reach
bool is_ip(std::string_view text);

}  // namespace amdahl::local
