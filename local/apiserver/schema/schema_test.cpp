#include "local/apiserver/schema/schema.hpp"

#include <catch2/catch.hpp>

TEST_CASE("empty") { CHECK(true); }
