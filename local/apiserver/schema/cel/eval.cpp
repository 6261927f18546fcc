#include "local/apiserver/schema/cel/eval.hpp"

#include <algorithm>
#include <array>

#include "local/apiserver/schema/cel/functions.hpp"
#include "local/apiserver/schema/cel/operators.hpp"

namespace amdahl::local::cel {
namespace {

class Evaluator {
 public:
  Evaluator(const Activation& activation, Steps& steps) : activation_(activation), steps_(steps) {}

  // Depth is the tree's, which the parser bounded.
  Result<Value> value(const Expr& expr) {
    if (!steps_.take()) return too_costly();
    switch (expr.op) {
      case Op::kLiteral:
        return expr.literal;
      case Op::kIdentifier:
        return identifier(expr);
      case Op::kSelect:
        return select(expr);
      case Op::kHas:
        return has(expr);
      case Op::kCall:
        return call(expr);
      case Op::kList:
        return list(expr);
      case Op::kMap:
        return map(expr);
      case Op::kAnd:
        return absorbing(expr, false);
      case Op::kOr:
        return absorbing(expr, true);
      case Op::kNot:
        return inverted(expr);
      case Op::kChoose:
        return choose(expr);
      case Op::kAll:
      case Op::kExists:
        return quantified(expr);
      case Op::kExistsOne:
        return exists_one(expr);
      case Op::kFilter:
      case Op::kTransform:
        return collected(expr);
      case Op::kNegate: {
        TRY(const Value operand, value(*expr.args[0]));
        return negated(operand);
      }
      default:
        return binary(expr);
    }
  }

 private:
  Result<Value> identifier(const Expr& expr) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (*scope->name == expr.name) return scope->value;
    }
    if (expr.name == "self") return activation_.self;
    if (expr.name == "oldSelf" && activation_.old_self) return *activation_.old_self;
    if (expr.literal.as<TypeName>() != nullptr) return expr.literal;  // int, string, ...
    return fail(Errc::kInvalid, "no such attribute(s): {}", expr.name);
  }

  Result<Value> select(const Expr& expr) {
    TRY(const Value target, value(*expr.args[0]));
    if (!target.is_map()) return no_overload();
    TRY(auto found, map_find(target, Value{expr.name}));
    if (!found) return fail(Errc::kInvalid, "no such key: {}", expr.name);
    return std::move(*found);
  }

  Result<Value> has(const Expr& expr) {
    TRY(const Value target, value(*expr.args[0]));
    if (!target.is_map()) return no_overload();
    TRY(const auto found, map_find(target, Value{expr.name}));
    return Value{found.has_value()};
  }

  Result<Value> call(const Expr& expr) {
    std::vector<Value> args;
    args.reserve(expr.args.size());
    for (const ExprPtr& arg : expr.args) {
      TRY(Value given, value(*arg));
      args.push_back(std::move(given));
    }
    return expr.function->call(Call{expr, args, steps_});
  }

  Result<Value> list(const Expr& expr) {
    List items;
    for (const ExprPtr& arg : expr.args) {
      TRY(Value item, value(*arg));
      items.push_back(std::move(item));
    }
    return Value{std::make_shared<const List>(std::move(items))};
  }

  Result<Value> map(const Expr& expr) {
    Map entries;
    for (std::size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      TRY(Value key, value(*expr.args[i]));
      TRY(Value item, value(*expr.args[i + 1]));
      const bool scalar = key.as<std::string>() != nullptr || key.as<bool>() != nullptr ||
                          key.as<std::int64_t>() != nullptr || key.as<std::uint64_t>() != nullptr;
      if (!scalar) return fail(Errc::kInvalid, "unsupported key type");
      if (!steps_.take(entries.size() / 4)) return too_costly();
      for (const auto& [known, unused] : entries) {
        TRY(const bool same, equal(known, key, steps_));
        if (same) return fail(Errc::kInvalid, "duplicate map key");
      }
      entries.emplace_back(std::move(key), std::move(item));
    }
    return Value{std::make_shared<const Map>(std::move(entries))};
  }

  // One operand that decides makes errors of the others irrelevant, whatever their order.
  Result<Value> absorbing(const Expr& expr, bool deciding) {
    std::optional<Error> first_error;
    for (const ExprPtr& arg : expr.args) {
      Result<Value> operand = value(*arg);
      if (!operand && operand.error().code == Errc::kTooLarge) return operand;
      const bool* flag = operand ? operand->as<bool>() : nullptr;
      if (flag != nullptr && *flag == deciding) return Value{deciding};
      if (flag != nullptr || first_error) continue;
      first_error = operand ? no_overload().error() : std::move(operand).error();
    }
    if (first_error) return std::unexpected(std::move(*first_error));
    return Value{!deciding};
  }

  Result<Value> inverted(const Expr& expr) {
    TRY(const Value operand, value(*expr.args[0]));
    const bool* flag = operand.as<bool>();
    if (flag == nullptr) return no_overload();
    return Value{!*flag};
  }

  Result<Value> choose(const Expr& expr) {
    TRY(const Value condition, value(*expr.args[0]));
    const bool* flag = condition.as<bool>();
    if (flag == nullptr) return no_overload();
    return value(*expr.args[*flag ? 1 : 2]);
  }

  Result<Value> binary(const Expr& expr) {
    TRY(const Value a, value(*expr.args[0]));
    TRY(const Value b, value(*expr.args[1]));
    switch (expr.op) {
      case Op::kEqual:
      case Op::kNotEqual: {
        TRY(const bool same, equal(a, b, steps_));
        return Value{same == (expr.op == Op::kEqual)};
      }
      case Op::kIn:
        return contained(a, b, steps_);
      case Op::kIndex:
        return indexed(a, b);
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual:
        return ordered(expr.op, a, b);
      default:
        return arithmetic(expr.op, a, b, steps_);
    }
  }

  static Result<Value> ordered(Op op, const Value& a, const Value& b) {
    TRY(const int order, compare(a, b));
    switch (op) {
      case Op::kLess:
        return Value{order < 0};
      case Op::kLessEqual:
        return Value{order <= 0};
      case Op::kGreater:
        return Value{order > 0};
      default:
        return Value{order >= 0};
    }
  }

  // The elements of a list, or the keys of a map.
  Result<List> elements(const Expr& expr) {
    TRY(const Value range, value(*expr.args[0]));
    if (range.is_map()) return map_keys(range);
    if (!range.is_list()) return no_overload();
    List items;
    items.reserve(list_size(range));
    if (!steps_.take(list_size(range))) return too_costly();
    for (std::size_t i = 0; i < list_size(range); ++i) {
      TRY(Value item, list_item(range, i));
      items.push_back(std::move(item));
    }
    return items;
  }

  Result<Value> with(const Expr& expr, const Value& item, std::size_t body) {
    scopes_.push_back({&expr.name, item});
    Result<Value> result = value(*expr.args[body]);
    scopes_.pop_back();
    return result;
  }

  Result<Value> quantified(const Expr& expr) {
    const bool deciding = expr.op == Op::kExists;
    TRY(const List items, elements(expr));
    std::optional<Error> first_error;
    for (const Value& item : items) {
      Result<Value> held = with(expr, item, 1);
      if (!held && held.error().code == Errc::kTooLarge) return held;
      const bool* flag = held ? held->as<bool>() : nullptr;
      if (flag != nullptr && *flag == deciding) return Value{deciding};
      if (flag != nullptr || first_error) continue;
      first_error = held ? no_overload().error() : std::move(held).error();
    }
    if (first_error) return std::unexpected(std::move(*first_error));
    return Value{!deciding};
  }

  Result<Value> exists_one(const Expr& expr) {
    TRY(const List items, elements(expr));
    int count = 0;
    for (const Value& item : items) {
      TRY(const Value held, with(expr, item, 1));
      const bool* flag = held.as<bool>();
      if (flag == nullptr) return no_overload();
      count += *flag ? 1 : 0;
    }
    return Value{count == 1};
  }

  Result<Value> collected(const Expr& expr) {
    TRY(const List items, elements(expr));
    const bool filters = expr.op == Op::kFilter || expr.args.size() == 3;
    List out;
    for (const Value& item : items) {
      if (filters) {
        TRY(const Value held, with(expr, item, 1));
        const bool* flag = held.as<bool>();
        if (flag == nullptr) return no_overload();
        if (!*flag) continue;
      }
      if (expr.op == Op::kFilter) {
        out.push_back(item);
        continue;
      }
      TRY(Value made, with(expr, item, expr.args.size() - 1));
      out.push_back(std::move(made));
    }
    return Value{std::make_shared<const List>(std::move(out))};
  }

  struct Scope {
    const std::string* name = nullptr;
    Value value = {};
  };
  const Activation& activation_;
  Steps& steps_;
  std::vector<Scope> scopes_ = {};
};

}  // namespace

Result<Value> evaluate(const Expr& expr, const Activation& activation, Steps& steps) {
  return Evaluator(activation, steps).value(expr);
}

}  // namespace amdahl::local::cel
