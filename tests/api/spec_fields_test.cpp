// Every field of a TrainingJob's spec: changed, set out of bounds, deleted and set back, on the
// embedded API server. A field without a row in spec_fields.json fails here.
#include <set>

#include "base/json_decode.hpp"
#include "operator/api/training_job.hpp"
#include "operator/api/training_job_crd.hpp"
#include "tests/api/job_server.hpp"

namespace amdahl::tests {
namespace {

using api::TrainingJobSpec;

// The paths of a table, parents included.
struct Paths : FieldVisitor {
  std::set<std::string>& found;
  std::string prefix = {};
  Paths(std::set<std::string>& into, std::string above) : found(into), prefix(std::move(above)) {}

  template <class T>
  void required(std::string_view name, T& member, const FieldRules& = {}) {
    const std::string path = prefix + std::string(name);
    found.insert(path);
    descend(member, path);
  }
  template <class T>
  void optional(std::string_view name, T& member, const FieldRules& = {}) {
    required(name, member);
  }
  template <class T, class D>
  void defaulted(std::string_view name, T& member, const D&, const FieldRules& = {}) {
    required(name, member);
  }

 private:
  template <class T>
  void descend(T& member, const std::string& path) {
    if constexpr (HasFieldCodec<T>) {
      return;
    } else if constexpr (OptionalField<T>) {
      typename T::value_type inner{};
      descend(inner, path);
    } else if constexpr (HasFields<T>) {
      Paths below(found, path + ".");
      fields(below, member);
    }
  }
};

// The schema of "checkpoint.uri", and whether its parent requires it.
struct Place {
  Json type = {};
  bool required = false;
};
Place place_of(const std::string& path) {
  Place place{.type = api::training_job_crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
                                             ["properties"]["spec"]};
  std::stringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    const Json names = place.type.value("required", Json::array());
    place.required = std::ranges::find(names, Json(part)) != names.end();
    place.type = Json(place.type["properties"][part]);
  }
  return place;
}

// One row on one object.
class FieldRun {
 public:
  FieldRun(JobServer& server, const Json& row) : server_(server), row_(row) {
    pointer_ = Json::json_pointer(pointer_of(row["path"]));
    Json job = rows_file()["job"];
    if (row.contains("before")) job = job.patch(row["before"]);
    name_ = "field-" + std::to_string(server.refusals.size());
    job["metadata"]["name"] = name_;
    first_ = server.create(job)["spec"];
    REQUIRE(our_fault(first_) == "");
  }

  void run() {
    set_out_of_bounds();
    change();
    remove();
    revert();
  }

 private:
  Json operation(const char* what) const { return {{"op", what}, {"path", pointer_.to_string()}}; }
  Json set(const Json& value) const {
    Json one = operation("add");
    one["value"] = value;
    return Json::array({one});
  }
  Json spec() { return server_.get(name_)["spec"]; }
  std::string path() const { return row_["path"]; }
  Json without_it() const {
    return Json{{"spec", first_}}.patch(Json::array({operation("remove")}))["spec"];
  }
  static TrainingJobSpec read(const Json& spec) {
    return decode<TrainingJobSpec>(spec.dump()).value();
  }

  void set_out_of_bounds() {
    for (const Json& value : row_["refused"]) {
      CAPTURE(value.dump());
      const auto got = server_.patch(name_, set(value));
      CHECK(got.status == 422);
      CHECK(JobServer::message(got).contains("spec." + path()));
      Json wrong = {{"spec", first_}};
      wrong[pointer_] = value;
      // To our reader an empty optional text is an absent one.
      if (value == "" && our_fault(wrong["spec"]).empty())
        CHECK(encode(read(wrong["spec"])) == encode(read(without_it())));
      else
        CHECK(our_fault(wrong["spec"]).starts_with(path()));
    }
    CHECK(spec() == first_);
  }

  void change() {
    const Json& value = row_["change"];
    const auto got = server_.patch(name_, set(value));
    INFO(got.text);
    if (row_.contains("immutable")) {
      CHECK(got.status == 422);
      CHECK(JobServer::message(got).contains(row_["immutable"].get<std::string>()));
      return;
    }
    REQUIRE(got.status == 200);
    CHECK(got.body["metadata"]["generation"] == 2);
    Json expected = value;  // and defaults around it
    if (value.is_object()) {
      expected = got.body[pointer_];
      expected.update(value);
    }
    CHECK(got.body[pointer_] == expected);
    CHECK(got.body["spec"] != first_);
    CHECK(our_fault(got.body["spec"]) == "");
  }

  void remove() {
    const Place place = place_of(path());
    const auto got = server_.patch(name_, Json::array({operation("remove")}));
    INFO(got.text);
    if (place.required || row_.contains("sticky")) {
      CHECK(got.status == 422);
      CHECK(JobServer::message(got).contains("spec." + path()));
      return;
    }
    REQUIRE(got.status == 200);
    CHECK(our_fault(got.body["spec"]) == "");
    CHECK(got.body.contains(pointer_) == place.type.contains("default"));
    if (place.type.contains("default") && place.type["type"] != "object")
      CHECK(got.body[pointer_] == place.type["default"]);
  }

  void revert() {
    const Json before = Json{{"spec", first_}}[pointer_];
    const auto got = server_.patch(name_, set(before));
    INFO(got.text);
    if (row_.contains("sticky")) {
      CHECK(got.status == 422);
      CHECK(JobServer::message(got).contains(row_["sticky"].get<std::string>()));
      return;
    }
    REQUIRE(got.status == 200);
    CHECK(got.body["spec"] == first_);
  }

  JobServer& server_;
  const Json& row_;
  Json::json_pointer pointer_{""};
  std::string name_ = {};
  Json first_ = {};
};

void run_rule(JobServer& server, const Json& rule) {
  Json job = rows_file()["job"];
  const std::string name = "rule-" + std::to_string(server.refusals.size());
  job["metadata"]["name"] = name;
  server.create(job);
  for (const Json& step : rule["steps"]) {
    CAPTURE(step.dump());
    const auto got = server.patch(name, step["patch"]);
    INFO(got.text);
    CHECK(got.status == (step.contains("refused") ? 422 : 200));
    if (step.contains("refused"))
      CHECK(JobServer::message(got).contains(step["refused"].get<std::string>()));
  }
}

void collect_messages(const Json& type, std::set<std::string>& into) {
  for (const Json& rule : type.value("x-kubernetes-validations", Json::array()))
    into.insert(rule["message"].get<std::string>());
  for (const auto& [name, part] : type.value("properties", Json::object()).items())
    collect_messages(part, into);
}

TEST_CASE("TrainingJob: every field of the spec has a row") {
  std::set<std::string> table;
  Paths paths(table, "");
  TrainingJobSpec spec;
  fields(paths, spec);
  std::set<std::string> rows;
  for (const Json& row : rows_file()["fields"]) {
    CAPTURE(row["path"]);
    CHECK(rows.insert(row["path"].get<std::string>()).second);
    CHECK_FALSE(row["refused"].empty());
  }
  CHECK(rows == table);
}

TEST_CASE("TrainingJob: fields and rules hold on the embedded API server, each both ways") {
  JobServer server;
  const Json rows = rows_file();
  for (const Json& row : rows["fields"]) {
    CAPTURE(row["path"]);
    FieldRun(server, row).run();
  }
  for (const Json& rule : rows["rules"]) {
    CAPTURE(rule["name"]);
    run_rule(server, rule);
  }
  std::set<std::string> messages;
  const Json root = api::training_job_crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  collect_messages(root["properties"]["spec"], messages);
  CHECK(messages.size() > 10);
  for (const std::string& message : messages) {
    CAPTURE(message);
    CHECK(server.refused_with(message));
  }
}

}  // namespace
}  // namespace amdahl::tests
