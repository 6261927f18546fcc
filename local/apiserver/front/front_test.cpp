#include "local/apiserver/front/front.hpp"

#include <sys/resource.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>

#include "local/apiserver/front/test_front.hpp"

namespace amdahl::local {
namespace {
namespace fs = std::filesystem;
using kube::Resource;

const Resource kNamespaces{
    .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
const Resource kMaps{.version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

struct Folder {
  std::string path = (fs::temp_directory_path() / "amdahl-front-XXXXXX").string();
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
  std::string file() const { return path + "/objects.db"; }
};

std::string config_map(const std::string& name, const std::string& value = "v") {
  return Json{{"metadata", {{"name", name}}}, {"data", {{"k", value}}}}.dump();
}

void make_namespace(TestFront& front) {
  REQUIRE(front.create(kNamespaces, "", R"({"metadata":{"name":"default"}})").status == 201);
}

std::int64_t version_of(const kube::Response& response) {
  return std::stoll(Json::parse(response.body)["metadata"]["resourceVersion"].get<std::string>());
}

TEST_CASE("Front refuses who shows no token, or a wrong one, with a Status") {
  TestFront front;
  for (const std::string wrong : {"", "wrong"}) {
    TokenCredentials nobody(wrong);
    const auto transport = front.connect(nobody);
    const auto response = run_until_complete(
        front.io, transport->send(*kube::list_request(kNamespaces, {}), front.soon()));
    REQUIRE(response);
    CHECK(response->status == 401);
    CHECK(Json::parse(response->body)["reason"] == "Unauthorized");
  }
}

TEST_CASE("Front answers for a service account's token with its name") {
  TestFront front;
  const Identities::Wish wish{
      .ns = "default", .account = "sa", .audiences = {kApiAudience}, .seconds = 600};
  TokenCredentials account(front.tokens.issue(wish, front.clock.wall())->token);
  const auto transport = front.connect(account);
  const Resource reviews{.group = "authentication.k8s.io",
                         .version = "v1",
                         .plural = "selfsubjectreviews",
                         .kind = "SelfSubjectReview",
                         .namespaced = false};
  const auto response = run_until_complete(
      front.io, transport->send(*kube::review_request(reviews, "{}"), front.soon()));
  REQUIRE(response);
  CHECK(Json::parse(response->body)["status"]["userInfo"]["username"] ==
        "system:serviceaccount:default:sa");
}

TEST_CASE("Front keeps what it acknowledged over a restart, and never repeats a version") {
  const Folder folder;
  std::int64_t newest = 0;
  {
    TestFront front(folder.file());
    make_namespace(front);
    REQUIRE(front.create(kMaps, "default", config_map("kept")).status == 201);
    REQUIRE(front.create(kMaps, "default", config_map("gone")).status == 201);
    const auto gone = front.send(*kube::delete_request(kMaps, {"default", "gone"}, {}));
    CHECK(gone.status == 200);
    newest = static_cast<std::int64_t>(front.server.version());
  }
  TestFront front(folder.file());
  const auto list = Json::parse(front.send(*kube::list_request(kMaps, {})).body);
  REQUIRE(list["items"].size() == 1);
  CHECK(list["items"][0]["metadata"]["name"] == "kept");
  CHECK(version_of(front.create(kMaps, "default", config_map("next"))) > newest);
}

TEST_CASE("Front streams a watch: what is there, a bookmark, and what comes") {
  TestFront front;
  make_namespace(front);
  REQUIRE(front.create(kMaps, "default", config_map("first")).status == 201);
  auto opened = run_until_complete(
      front.io,
      front.transport->open(*kube::watch_request(kMaps, {.initial_events = true}), front.soon()));
  REQUIRE(opened);
  REQUIRE(opened->head.status == 200);
  std::string seen;
  const auto read_until = [&](std::string_view text) {
    std::array<char, 4096> buffer{};
    while (seen.find(text) == std::string::npos) {
      const auto size =
          run_until_complete(front.io, opened->body->read(std::span(buffer), front.soon()));
      REQUIRE(size);
      REQUIRE(*size > 0);
      seen.append(buffer.data(), *size);
    }
  };
  read_until("k8s.io/initial-events-end");
  CHECK(seen.find("\"first\"") != std::string::npos);
  REQUIRE(front.create(kMaps, "default", config_map("second")).status == 201);
  read_until("\"second\"");
  CHECK(seen.find("BOOKMARK") < seen.find("\"second\""));
}

TEST_CASE("Front: writers at the same time share the disk, and each gets its own answer") {
  const Folder folder;
  TestFront front(folder.file());
  make_namespace(front);
  TaskGroup writers(front.io.get_executor());
  int created = 0;
  const auto write = [&](int number) -> Task<void> {
    for (int i = 0; i < 10; ++i) {
      const std::string name = fmt::format("m-{}-{}", number, i);
      const auto response = co_await front.transport->send(
          *kube::create_request(kMaps, "default", "", config_map(name)), front.soon());
      if (response && response->status == 201) ++created;
    }
  };
  for (int number = 0; number < 8; ++number) writers.spawn("writer", write(number));
  CHECK(run_until_complete(front.io, writers.join(front.clock, front.soon())));
  CHECK(created == 80);
  CHECK(front.server.durable() == front.server.version());
  CHECK(front.journal->read()->objects.size() == 81);
}

TEST_CASE("Front says so when the disk is full, goes on reading, and recovers") {
  const Folder folder;
  TestFront front(folder.file());
  make_namespace(front);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = 256U << 10U, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const auto refused =
      front.create(kMaps, "default", config_map("large", std::string(900'000, 'x')));
  const auto later = front.create(kMaps, "default", config_map("small"));
  const auto read = front.send(*kube::get_request(kNamespaces, {"", "default"}));
  const auto list = front.send(*kube::list_request(kMaps, {}));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(refused.status == 500);
  CHECK(refused.body.find("the outcome is not known") != std::string::npos);
  CHECK(later.status == 503);
  CHECK(later.body.find("nothing can be stored") != std::string::npos);
  CHECK(read.status == 200);
  CHECK(list.status == 200);
  int status = 503;
  for (int attempt = 0; attempt < 50 && status == 503; ++attempt) {
    run_until_complete(front.io, [](Clock& clock) -> Task<void> {
      (void)co_await clock.sleep_for(std::chrono::milliseconds{100});
    }(front.clock));
    status = front.create(kMaps, "default", config_map("small")).status;
  }
  CHECK(status == 201);
}

TEST_CASE("Front ends its watches in good order when it stops") {
  TestFront front;
  make_namespace(front);
  auto opened = run_until_complete(
      front.io, front.transport->open(*kube::watch_request(kMaps, {}), front.soon()));
  REQUIRE(opened);
  TaskGroup tasks(front.io.get_executor());
  std::optional<Result<std::size_t>> end;
  tasks.spawn("reader", [](TestFront& server, kube::BodyStream& body, auto& into) -> Task<void> {
    std::array<char, 64> piece{};
    into.emplace(co_await body.read(piece, server.soon()));
  }(front, *opened->body, end));
  CHECK(run_until_complete(front.io, front.front->stop(front.soon())));
  REQUIRE(run_until_complete(front.io, tasks.join(front.clock, front.soon())));
  REQUIRE(end);
  REQUIRE(*end);
  CHECK(**end == 0);
}

}  // namespace
}  // namespace amdahl::local
