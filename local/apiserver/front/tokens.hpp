// Who a bearer token belongs to: the administrator's random one, and signed ones for service
// accounts.
//
// A service account's token is its own proof: a JSON Web Token with the claims of Kubernetes' own,
// signed with a secret of this server (HS256), so nothing is stored and a restart keeps it valid.
// Tokens are compared in constant time. Thread: one. Failure: none; a token that is wrong, changed
// or over belongs to nobody.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {

inline constexpr std::size_t kTokenBytesMax = 4096;

class Tokens final : public Identities {
 public:
  // Both random and at least 32 characters long, which is checked.
  Tokens(std::string admin_token, std::string secret);

  std::optional<Owner> owner_of(std::string_view token, WallTime now) const override;
  std::optional<Issued> issue(const Wish& wish, WallTime now) override;

 private:
  std::string sign(std::string_view text) const;

  std::string admin_token_;
  std::string secret_;
};

// Whom a request with this token comes from. None: nobody, or a token that is meant for others.
std::optional<User> user_of(const Identities& identities, std::string_view token, WallTime now);

// 32 bytes of the operating system's randomness, in hex.
std::string random_token();

}  // namespace amdahl::local
