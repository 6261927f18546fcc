// The certificates of an embedded cluster: an authority of its own, and what the server shows.
//
// Elliptic keys (P-256). The authority lasts ten years; the server's certificate lasts one, is for
// loopback names only, and is made again when its end is near. Thread: any. Failure: Errc::kTls
// with the file that cannot be used; nothing that exists is replaced then.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "local/cluster/data_folder.hpp"

namespace amdahl::local {

inline constexpr std::chrono::days kAuthorityLife{3650};
inline constexpr std::chrono::days kServerCertificateLife{365};
inline constexpr std::chrono::days kRenewBefore{60};

struct KeyPair {
  std::string certificate = {};  // PEM
  std::string key = {};          // PEM
};

Result<KeyPair> make_authority(WallTime now);
Result<KeyPair> make_server_certificate(const KeyPair& authority, WallTime now);

// Whether `pair` is signed by the authority, belongs together and is valid for kRenewBefore more.
bool still_good(const KeyPair& pair, const KeyPair& authority, WallTime now);

struct Certificates {
  std::string authority_pem = {};
  bool renewed = false;  // the server's own was made just now
};
// Reads what the folder has, makes what is missing, renews what is about to end.
Result<Certificates> keep_certificates(const DataFolder& folder, WallTime now);

}  // namespace amdahl::local
