#include "local/apiserver/front/tokens.hpp"

#include <catch2/catch.hpp>

namespace amdahl::local {
namespace {

const std::string kAdmin(64, 'a');
const std::string kSecret(64, 's');
constexpr WallTime kNow{std::chrono::seconds{1'800'000'000}};

Identities::Wish wish_for(std::vector<std::string> audiences) {
  return {.ns = "research",
          .account = "trainer",
          .account_uid = "a1",
          .audiences = std::move(audiences),
          .seconds = 600};
}

TEST_CASE("Tokens know the administrator, and nobody else") {
  const Tokens tokens(kAdmin, kSecret);
  REQUIRE(user_of(tokens, kAdmin, kNow));
  CHECK(user_of(tokens, kAdmin, kNow)->groups.front() == "system:masters");
  for (const std::string& wrong : {std::string(), kAdmin.substr(1), kAdmin + "a", kSecret,
                                   std::string(63, 'a') + "b", std::string(100'000, 'a')})
    CHECK_FALSE(tokens.owner_of(wrong, kNow));
}

TEST_CASE("Tokens of a service account name it until they end") {
  Tokens tokens(kAdmin, kSecret);
  const auto issued = tokens.issue(wish_for({kApiAudience}), kNow);
  REQUIRE(issued);
  const auto user = user_of(tokens, issued->token, kNow + std::chrono::seconds{599});
  REQUIRE(user);
  CHECK(user->name == "system:serviceaccount:research:trainer");
  CHECK(user->uid == "a1");
  CHECK_FALSE(tokens.owner_of(issued->token, kNow + std::chrono::seconds{600}));
  CHECK(issued->expires == kNow + std::chrono::seconds{600});
}

TEST_CASE("Tokens that were changed anywhere belong to nobody") {
  Tokens tokens(kAdmin, kSecret);
  const std::string token = tokens.issue(wish_for({kApiAudience}), kNow)->token;
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    CHECK_FALSE(tokens.owner_of(changed, kNow));
  }
  CHECK_FALSE(Tokens(kAdmin, std::string(64, 't')).owner_of(token, kNow));
}

TEST_CASE("Tokens that are meant for others do not open this server") {
  Tokens tokens(kAdmin, kSecret);
  Identities::Wish wish = wish_for({"https://reports.example:8443", "vault"});
  wish.pod = "p";
  wish.pod_uid = "u";
  const std::string token = tokens.issue(wish, kNow)->token;
  CHECK_FALSE(user_of(tokens, token, kNow));
  const auto owner = tokens.owner_of(token, kNow);
  REQUIRE(owner);
  CHECK(owner->audiences == wish.audiences);
  CHECK(owner->user.extra.at("authentication.kubernetes.io/pod-name").front() == "p");
  CHECK(owner->user.extra.at("authentication.kubernetes.io/pod-uid").front() == "u");
}

TEST_CASE("Random tokens are long and differ") {
  CHECK(random_token().size() == 64);
  CHECK(random_token() != random_token());
}

}  // namespace
}  // namespace amdahl::local
