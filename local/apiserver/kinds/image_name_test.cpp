// The rows are what kube-apiserver 1.34.4 made of these names: it pulls "latest" always.
#include "local/apiserver/kinds/image_name.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace amdahl::local {
namespace {

const std::string kSum(64, 'a');

TEST_CASE("An image without tag and digest is the latest") {
  for (const std::string& image :
       {std::string("busybox"), std::string("busybox:latest"), std::string("r:5000/busybox"),
        std::string("r:5000/busybox:latest"), std::string("Bad/x"), std::string("localhost/a"),
        std::string("foo_bar.x/y"), std::string("a__b"), std::string("a--b"),
        std::string("[::1]:5000/a"), std::string("[::1]/a"), std::string("docker.io/a"),
        std::string("docker.io/library/a:latest"), "busybox:latest@sha256:" + kSum, "b/" + kSum,
        std::string(63, 'a'), std::string(247, 'a'), "x.y/" + std::string(255, 'a')}) {
    CAPTURE(image);
    CHECK(image_tag(image) == "latest");
  }
}

TEST_CASE("A tag is given as it stands, and a digest is as good as a tag") {
  CHECK(image_tag("busybox:1") == "1");
  CHECK(image_tag("r:5000/busybox:v1_2.3-x") == "v1_2.3-x");
  CHECK(image_tag("busybox:1@sha256:" + kSum) == "1");
  CHECK(image_tag("busybox@sha256:" + kSum) == "");
  CHECK(image_tag("busybox@sha512:" + kSum + kSum) == "");
  CHECK(image_tag("a:" + std::string(128, 't')) == std::string(128, 't'));
}

TEST_CASE("What is no name of an image has no tag") {
  for (const std::string& image : {std::string(),
                                   std::string("r:x/busybox"),
                                   std::string("Bad"),
                                   std::string("Bad_Name!"),
                                   std::string("Bad/X"),
                                   std::string("x/Bad"),
                                   std::string("a..b/c"),
                                   std::string("a___b"),
                                   std::string("a_-b"),
                                   std::string("-a"),
                                   std::string("a-"),
                                   std::string("a/"),
                                   std::string("/a"),
                                   std::string("a//b"),
                                   std::string("a:"),
                                   std::string("a:b:c"),
                                   std::string("[g]/a"),
                                   std::string("[]/a"),
                                   std::string("a b"),
                                   std::string("a!"),
                                   std::string("a.b:80:90/c"),
                                   std::string("a.b:/c"),
                                   std::string("\xc3\xbc"),
                                   std::string("a:.x"),
                                   std::string("a:latest@"),
                                   "a@sha256:" + kSum.substr(1),
                                   "a@sha256:" + std::string(64, 'A'),
                                   "a@md5:" + std::string(32, 'a'),
                                   kSum,
                                   std::string(248, 'a'),
                                   "x.y/" + std::string(256, 'a'),
                                   "a:" + std::string(129, 't')}) {
    CAPTURE(image);
    CHECK_FALSE(image_tag(image));
  }
}

}  // namespace
}  // namespace amdahl::local
