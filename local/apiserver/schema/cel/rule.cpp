#include "local/apiserver/schema/cel/rule.hpp"

#include <fmt/format.h>

#include "local/apiserver/schema/cel/check.hpp"
#include "local/apiserver/schema/cel/parser.hpp"
#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"

namespace amdahl::local::cel {
namespace {

Result<Checked> compiled(std::string_view source, const Scope& scope) {
  if (source.size() > kRuleBytesMax) {
    return fail(Errc::kTooLarge, "expression is longer than {} bytes", kRuleBytesMax);
  }
  if (!is_exposed(scope.self)) {
    return fail(Errc::kInvalid, "values that the schema leaves open cannot be seen by rules");
  }
  TRY(const ExprPtr expr, parse(source));
  return check(source, expr, scope);
}

void compile_message(std::string_view source, const Scope& scope, Rule& rule) {
  auto message = compiled(source, scope);
  if (!message) {
    rule.message_error = "messageExpression compilation failed: " + message.error().context;
  } else if (message->kind != Kind::kString && message->kind != Kind::kDynamic) {
    rule.message_error = "messageExpression must evaluate to a string";
  } else {
    rule.message_program = std::move(message->expr);
  }
}

// One step of a field path, taken from the front: ".name" or "['name']".
std::optional<std::string> take_step(std::string_view& path) {
  if (path.starts_with('.')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    std::string name(path.substr(0, end));
    path.remove_prefix(end);
    return name.empty() ? std::nullopt : std::optional(std::move(name));
  }
  if (!path.starts_with("['")) return std::nullopt;
  path.remove_prefix(2);
  std::string name;
  while (!path.starts_with('\'')) {
    if (path.empty()) return std::nullopt;
    if (path.front() == '\\') {
      path.remove_prefix(1);
      if (path.empty() || (path.front() != '\'' && path.front() != '\\')) return std::nullopt;
    }
    name.push_back(path.front());
    path.remove_prefix(1);
  }
  path.remove_prefix(1);
  if (!path.starts_with(']')) return std::nullopt;
  path.remove_prefix(1);
  return name;
}

}  // namespace

std::string Rule::shown() const {
  return std::string(go_trimmed(message.empty() ? rule : message));
}

std::optional<std::string> normalized_field_path(std::string_view path, const Json& node) {
  std::string out;
  const Json* at = &node;
  while (!path.empty()) {
    const auto name = take_step(path);
    if (!name) return std::nullopt;
    const Json& fields = fields_of(*at, "properties");
    const Json* other = other_schema_of(*at);
    if (!fields.empty()) {
      at = keyword(fields, *name);
      if (at == nullptr) return std::nullopt;
      out = path_child(out, *name);
    } else if (other != nullptr) {
      at = other;
      out = path_key(out, *name);
    } else {
      return std::nullopt;
    }
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

std::shared_ptr<const Rule> compile_rule(const Json& rule, const Json& node, const Schema& self,
                                         bool resource_root) {
  auto made = std::make_shared<Rule>();
  made->rule = text_of(rule, "rule");
  made->message = text_of(rule, "message");
  made->reason = text_of(rule, "reason");
  made->optional_old_self = flag_of(rule, "optionalOldSelf");
  if (const std::string_view path = text_of(rule, "fieldPath"); !path.empty()) {
    made->field_path = normalized_field_path(path, node).value_or("");
  }
  if (go_trimmed(made->rule).empty()) return made;
  const Scope scope{
      .self = self, .resource_root = resource_root, .optional_old_self = made->optional_old_self};
  auto program = compiled(made->rule, scope);
  if (!program) {
    made->error = "compilation failed: " + program.error().context;
  } else if (program->kind != Kind::kBool && program->kind != Kind::kDynamic) {
    made->error = "cel expression must evaluate to a bool";
  } else {
    made->uses_old_self = program->uses_old_self;
    made->program = std::move(program->expr);
    const std::string_view message = text_of(rule, "messageExpression");
    if (!go_trimmed(message).empty()) compile_message(message, scope, *made);
  }
  return made;
}

}  // namespace amdahl::local::cel
