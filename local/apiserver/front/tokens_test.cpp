#include "local/apiserver/front/tokens.hpp"

#include <catch2/catch.hpp>

namespace amdahl::local {
namespace {

const std::string kAdmin(64, 'a');
const std::string kSecret(64, 's');
constexpr WallTime kNow{std::chrono::seconds{1'800'000'000}};

TEST_CASE("Tokens know the administrator, and nobody else") {
  const Tokens tokens(kAdmin, kSecret);
  REQUIRE(tokens.user_of(kAdmin, kNow));
  CHECK(tokens.user_of(kAdmin, kNow)->groups.front() == "system:masters");
  for (const std::string& wrong : {std::string(), kAdmin.substr(1), kAdmin + "a", kSecret,
                                   std::string(63, 'a') + "b", std::string(100'000, 'a')})
    CHECK_FALSE(tokens.user_of(wrong, kNow));
}

TEST_CASE("Tokens of a service account name it until they end") {
  Tokens tokens(kAdmin, kSecret);
  const auto issued = tokens.issue("research", "trainer", 600, kNow);
  REQUIRE(issued);
  const auto user = tokens.user_of(issued->token, kNow + std::chrono::seconds{599});
  REQUIRE(user);
  CHECK(user->name == "system:serviceaccount:research:trainer");
  CHECK_FALSE(tokens.user_of(issued->token, kNow + std::chrono::seconds{600}));
  CHECK(issued->expires == kNow + std::chrono::seconds{600});
}

TEST_CASE("Tokens that were changed anywhere belong to nobody") {
  Tokens tokens(kAdmin, kSecret);
  const std::string token = tokens.issue("research", "trainer", 600, kNow)->token;
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    CHECK_FALSE(tokens.user_of(changed, kNow));
  }
  CHECK_FALSE(Tokens(kAdmin, std::string(64, 't')).user_of(token, kNow));
}

TEST_CASE("Random tokens are long and differ") {
  CHECK(random_token().size() == 64);
  CHECK(random_token() != random_token());
}

}  // namespace
}  // namespace amdahl::local
