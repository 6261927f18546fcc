#include "local/apiserver/schema/cel/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "local/apiserver/schema/cel/lexer.hpp"
#include "local/apiserver/schema/cel/types.hpp"

namespace amdahl::local::cel {
namespace {

constexpr std::array<std::string_view, 10> kTypeNames{
    "int", "uint", "double", "bool", "string", "list", "map", "bytes", "null_type", "type"};

struct Typed {
  ExprPtr expr = {};
  Type type = {};
};

class Checker {
 public:
  Checker(std::string_view source, const Scope& scope) : source_(source), scope_(scope) {}

  bool uses_old_self = false;

  Result<Typed> expression(const Expr& expr) {
    switch (expr.op) {
      case Op::kLiteral:
        return Typed{std::make_shared<const Expr>(expr), type_of(expr.literal)};
      case Op::kIdentifier:
        return identifier(expr);
      case Op::kAll:
      case Op::kExists:
      case Op::kExistsOne:
      case Op::kFilter:
      case Op::kTransform:
        return comprehension(expr);
      default:
        break;
    }
    Expr copy = expr;
    std::vector<Type> types;
    for (ExprPtr& arg : copy.args) {
      TRY(Typed checked, expression(*arg));
      arg = std::move(checked.expr);
      types.push_back(std::move(checked.type));
    }
    TRY(Type type, typed(copy, types));
    return Typed{std::make_shared<const Expr>(std::move(copy)), std::move(type)};
  }

 private:
  std::unexpected<Error> wrong(const Expr& expr, std::string_view message) const {
    return fail(Errc::kInvalid, "{}", at_place(source_, expr.at, message));
  }
  std::unexpected<Error> overload(const Expr& expr, std::string_view name,
                                  const std::vector<Type>& types) const {
    std::string args;
    const std::size_t first = expr.member ? 1 : 0;
    for (std::size_t i = first; i < types.size(); ++i) {
      args.append(i == first ? "" : ", ").append(shown(types[i]));
    }
    return wrong(expr, fmt::format("found no matching overload for '{}' applied to '{}({})'", name,
                                   expr.member ? shown(types[0]) + "." : "", args));
  }

  Result<Typed> identifier(const Expr& expr) {
    Typed result{std::make_shared<const Expr>(expr), {}};
    for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
      if (name->first != expr.name) continue;
      result.type = name->second;
      return result;
    }
    const Type self = type_of(scope_.self, scope_.resource_root);
    if (expr.name == "self") {
      result.type = self;
      return result;
    }
    if (expr.name == "oldSelf") {
      uses_old_self = true;
      result.type = scope_.optional_old_self
                        ? Type{.kind = Kind::kOptional, .item = std::make_shared<const Type>(self)}
                        : self;
      return result;
    }
    const auto type = std::ranges::find(kTypeNames, expr.name);
    if (type == kTypeNames.end()) {
      return wrong(expr, fmt::format("undeclared reference to '{}' (in container '')", expr.name));
    }
    Expr copy = expr;
    copy.literal = Value{TypeName{*type}};
    return Typed{std::make_shared<const Expr>(std::move(copy)), Type{.kind = Kind::kType}};
  }

  Result<Type> typed(Expr& expr, const std::vector<Type>& types) {
    switch (expr.op) {
      case Op::kSelect:
        return field(expr, types[0]);
      case Op::kHas: {
        TRY(field(expr, types[0]));
        return Type{.kind = Kind::kBool};
      }
      case Op::kCall:
        return call(expr, types);
      case Op::kList:
        return list(types);
      case Op::kMap:
        return Type{.kind = Kind::kMap};
      case Op::kAnd:
      case Op::kOr:
      case Op::kNot:
        for (const Type& type : types) {
          if (!may_be(type, Kind::kBool)) return overload(expr, operator_name(expr.op), types);
        }
        return Type{.kind = Kind::kBool};
      case Op::kNegate: {
        const Kind kind = types[0].kind;
        const bool fits = kind == Kind::kDynamic || kind == Kind::kInt || kind == Kind::kDouble;
        if (!fits) return overload(expr, operator_name(expr.op), types);
        return types[0];
      }
      case Op::kChoose:
        if (!may_be(types[0], Kind::kBool)) return overload(expr, operator_name(expr.op), types);
        return types[1].kind == types[2].kind ? types[1] : Type{};
      default:
        break;
    }
    auto type = operator_type(expr.op, types[0], types[1]);
    if (!type) return overload(expr, operator_name(expr.op), types);
    return std::move(*type);
  }

  Result<Type> field(const Expr& expr, const Type& target) {
    auto type = field_type(target, expr.name);
    if (type) return std::move(*type);
    if (target.kind == Kind::kObject) {
      return wrong(expr, fmt::format("undefined field '{}'", expr.name));
    }
    return wrong(expr, fmt::format("type '{}' does not support field selection", shown(target)));
  }

  static Type list(const std::vector<Type>& types) {
    const bool same = !types.empty() && std::ranges::all_of(types, [&](const Type& type) {
      return type.kind == types[0].kind;
    });
    return Type{.kind = Kind::kList,
                .item = same ? std::make_shared<const Type>(types[0]) : nullptr};
  }

  Result<Type> call(Expr& expr, const std::vector<Type>& types) {
    const std::size_t args = expr.args.size() - (expr.member ? 1 : 0);
    expr.function = find_function(expr.name, expr.member, args);
    if (expr.function == nullptr) {
      if (any_function(expr.name)) return overload(expr, expr.name, types);
      return wrong(expr, fmt::format("undeclared reference to '{}' (in container ''): this server "
                                     "has no such function",
                                     expr.name));
    }
    const Function& function = *expr.function;
    if (!types.empty() && !may_be(types[0], function.target)) {
      return overload(expr, expr.name, types);
    }
    if (function.name == "size" && !has_size(types[0].kind)) return overload(expr, "size", types);
    TRY(compile_pattern(expr));
    return result_type(function, types);
  }

  static bool has_size(Kind kind) {
    return kind == Kind::kString || kind == Kind::kBytes || kind == Kind::kList ||
           kind == Kind::kMap || kind == Kind::kDynamic;
  }

  static Type result_type(const Function& function, const std::vector<Type>& types) {
    const bool gives_item = function.member && function.result == Kind::kDynamic &&
                            (function.target == Kind::kList || function.target == Kind::kOptional);
    if (gives_item) return item_type(types[0]);
    if (function.name == "split") {
      const Type text{.kind = Kind::kString};
      return Type{.kind = Kind::kList, .item = std::make_shared<const Type>(text)};
    }
    return Type{.kind = function.result};
  }

  Result<void> compile_pattern(Expr& expr) const {
    if (expr.name != "matches" || expr.args[1]->op != Op::kLiteral) return {};
    const auto* text = expr.args[1]->literal.as<std::string>();
    if (text == nullptr) return {};
    auto pattern = Pattern::compile(*text);
    if (!pattern) {
      return wrong(*expr.args[1], "invalid matches argument: " + pattern.error().context);
    }
    expr.pattern = std::move(*pattern);
    return {};
  }

  Result<Typed> comprehension(const Expr& expr) {
    Expr copy = expr;
    TRY(Typed range, expression(*copy.args[0]));
    copy.args[0] = range.expr;
    Type item;
    if (range.type.kind == Kind::kList) {
      item = item_type(range.type);
    } else if (range.type.kind == Kind::kMap) {
      item = range.type.schema == nullptr ? Type{} : Type{.kind = Kind::kString};
    } else if (range.type.kind != Kind::kDynamic) {
      return wrong(expr, fmt::format("expression of type '{}' cannot be range of a comprehension "
                                     "(must be list, map, or dynamic)",
                                     shown(range.type)));
    }
    names_.emplace_back(expr.name, item);
    Type last;
    for (std::size_t i = 1; i < copy.args.size(); ++i) {
      TRY(Typed body, expression(*copy.args[i]));
      copy.args[i] = std::move(body.expr);
      last = std::move(body.type);
      const bool condition = expr.op != Op::kTransform || i + 1 < copy.args.size();
      if (condition && !may_be(last, Kind::kBool)) {
        return wrong(*expr.args[i],
                     fmt::format("expected type 'bool' but found '{}'", shown(last)));
      }
    }
    names_.pop_back();
    const bool collects = expr.op == Op::kFilter || expr.op == Op::kTransform;
    const Type made = expr.op == Op::kTransform ? last : item;
    Type type{.kind = collects ? Kind::kList : Kind::kBool};
    if (collects) type.item = std::make_shared<const Type>(made);
    return Typed{std::make_shared<const Expr>(std::move(copy)), std::move(type)};
  }

  std::string_view source_;
  const Scope& scope_;
  std::vector<std::pair<std::string, Type>> names_ = {};
};

}  // namespace

Result<Checked> check(std::string_view source, const ExprPtr& expr, const Scope& scope) {
  Checker checker(source, scope);
  TRY(Typed typed, checker.expression(*expr));
  return Checked{std::move(typed.expr), typed.type.kind, checker.uses_old_self};
}

}  // namespace amdahl::local::cel
