#include "local/apiserver/schema/cel/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "local/apiserver/schema/cel/lexer.hpp"

namespace amdahl::local::cel {
namespace {

struct Operator {
  std::string_view symbol = {};
  Op op = Op::kAdd;
};
constexpr std::array<Operator, 7> kRelations{{{"==", Op::kEqual},
                                              {"!=", Op::kNotEqual},
                                              {"<=", Op::kLessEqual},
                                              {">=", Op::kGreaterEqual},
                                              {"<", Op::kLess},
                                              {">", Op::kGreater},
                                              {"in", Op::kIn}}};
constexpr std::array<Operator, 2> kSums{{{"+", Op::kAdd}, {"-", Op::kSubtract}}};
constexpr std::array<Operator, 3> kProducts{
    {{"*", Op::kMultiply}, {"/", Op::kDivide}, {"%", Op::kModulo}}};
constexpr std::array<Operator, 5> kMacros{{{"all", Op::kAll},
                                           {"exists", Op::kExists},
                                           {"exists_one", Op::kExistsOne},
                                           {"filter", Op::kFilter},
                                           {"map", Op::kTransform}}};

class Parser {
 public:
  Parser(std::string_view source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  Result<ExprPtr> run() {
    TRY(ExprPtr expr, ternary());
    if (now().kind != TokenKind::kEnd) return unexpected_token();
    return expr;
  }

 private:
  const Token& now() const { return tokens_[index_]; }
  bool is(std::string_view symbol) const {
    const Token& token = now();
    const bool word = token.kind == TokenKind::kName && symbol == "in";
    return (token.kind == TokenKind::kSymbol || word) && token.text == symbol;
  }
  bool take(std::string_view symbol) {
    if (!is(symbol)) return false;
    ++index_;
    return true;
  }
  std::unexpected<Error> wrong(std::size_t at, std::string_view message) const {
    return fail(Errc::kInvalid, "{}", at_place(source_, at, message));
  }
  std::unexpected<Error> unexpected_token() const {
    if (now().kind == TokenKind::kEnd) {
      return wrong(now().at, "Syntax error: mismatched input '<EOF>'");
    }
    if (is(".?") || is("[?")) {
      return wrong(now().at, "optional field selection is not supported by this server");
    }
    const std::string_view shown = source_.substr(now().at, tokens_[index_ + 1].at - now().at);
    return wrong(now().at, fmt::format("Syntax error: mismatched input '{}'", shown));
  }
  Result<void> expect(std::string_view symbol) {
    if (!take(symbol)) return unexpected_token();
    return {};
  }

  Result<ExprPtr> made(Expr expr) {
    for (const ExprPtr& arg : expr.args) expr.depth = std::max(expr.depth, arg->depth + 1);
    if (expr.depth > kExprDepthMax) {
      return wrong(expr.at, fmt::format("expression nests deeper than {}", kExprDepthMax));
    }
    if (++nodes_ > kExprNodesMax) {
      return wrong(expr.at, fmt::format("expression has more than {} parts", kExprNodesMax));
    }
    return std::make_shared<const Expr>(std::move(expr));
  }

  // Recursion passes here or through unary(); both count.
  Result<ExprPtr> ternary() {
    if (++open_ > kExprDepthMax) {
      return wrong(now().at, fmt::format("expression nests deeper than {}", kExprDepthMax));
    }
    TRY(ExprPtr condition, chain("||", Op::kOr));
    if (is("?")) {
      const std::size_t at = now().at;
      ++index_;
      TRY(ExprPtr yes, chain("||", Op::kOr));
      TRY(expect(":"));
      TRY(ExprPtr no, ternary());
      TRY(condition, made(Expr{.op = Op::kChoose, .at = at, .args = {condition, yes, no}}));
    }
    --open_;
    return condition;
  }

  // Conjunctions and disjunctions are flat: rules list many.
  Result<ExprPtr> chain(std::string_view symbol, Op op) {
    const auto part = [&] { return op == Op::kOr ? chain("&&", Op::kAnd) : relation(); };
    TRY(ExprPtr first, part());
    if (!is(symbol)) return first;
    Expr expr{.op = op, .at = now().at, .args = {first}};
    while (take(symbol)) {
      TRY(ExprPtr next, part());
      expr.args.push_back(std::move(next));
    }
    return made(std::move(expr));
  }

  template <std::size_t N, class Part>
  Result<ExprPtr> binary(const std::array<Operator, N>& operators, Part part) {
    TRY(ExprPtr left, part());
    while (true) {
      const auto found =
          std::ranges::find_if(operators, [&](const Operator& o) { return is(o.symbol); });
      if (found == operators.end()) return left;
      const std::size_t at = now().at;
      ++index_;
      TRY(ExprPtr right, part());
      TRY(left, made(Expr{.op = found->op, .at = at, .args = {left, right}}));
    }
  }
  Result<ExprPtr> relation() {
    return binary(kRelations, [this] { return sum(); });
  }
  Result<ExprPtr> sum() {
    return binary(kSums, [this] { return product(); });
  }
  Result<ExprPtr> product() {
    return binary(kProducts, [this] { return unary(); });
  }

  Result<ExprPtr> unary() {
    const std::size_t at = now().at;
    const bool no = is("!");
    if (!no && !is("-")) return member();
    ++index_;
    if (!no && now().kind == TokenKind::kLiteral) {
      if (auto number = negated(now().value)) {
        ++index_;
        return suffixes(made(Expr{.at = at, .literal = std::move(*number)}));
      }
    }
    if (++open_ > kExprDepthMax) {
      return wrong(at, fmt::format("expression nests deeper than {}", kExprDepthMax));
    }
    TRY(ExprPtr operand, unary());
    --open_;
    return made(Expr{.op = no ? Op::kNot : Op::kNegate, .at = at, .args = {operand}});
  }

  static std::optional<Value> negated(const Value& value) {
    if (const auto* d = value.as<double>()) return Value{-*d};
    const auto* i = value.as<std::int64_t>();
    if (i == nullptr) return std::nullopt;
    return *i == std::numeric_limits<std::int64_t>::min() ? value : Value{-*i};
  }

  Result<ExprPtr> member() { return suffixes(primary()); }

  Result<ExprPtr> suffixes(Result<ExprPtr> first) {
    TRY(ExprPtr expr, std::move(first));
    while (true) {
      const std::size_t at = now().at;
      if (take(".")) {
        TRY(expr, selected(expr, at));
      } else if (take("[")) {
        TRY(ExprPtr index, ternary());
        TRY(expect("]"));
        TRY(expr, made(Expr{.op = Op::kIndex, .at = at, .args = {expr, index}}));
      } else if (is("{")) {
        return wrong(at, "message construction is not supported by this server");
      } else {
        return expr;
      }
    }
  }

  Result<ExprPtr> selected(const ExprPtr& target, std::size_t at) {
    if (now().kind != TokenKind::kName) return unexpected_token();
    const Token name = now();
    if (is_reserved(name.text)) return unexpected_token();
    ++index_;
    if (!is("("))
      return made(Expr{.op = Op::kSelect, .at = at, .name = name.text, .args = {target}});
    const std::size_t paren = now().at;
    TRY(std::vector<ExprPtr> args, arguments());
    const auto macro = std::ranges::find(kMacros, name.text, &Operator::symbol);
    if (macro != kMacros.end()) return comprehension(macro->op, target, std::move(args), paren);
    args.insert(args.begin(), target);
    return made(Expr{
        .op = Op::kCall, .at = paren, .name = name.text, .args = std::move(args), .member = true});
  }

  Result<ExprPtr> comprehension(Op op, const ExprPtr& target, std::vector<ExprPtr> args,
                                std::size_t at) {
    const bool three = op == Op::kTransform && args.size() == 3;
    if (args.size() != 2 && !three) {
      return wrong(at, "macros with these arguments are not supported by this server");
    }
    if (args[0]->op != Op::kIdentifier) {
      return wrong(args[0]->at, "argument must be a simple name");
    }
    Expr expr{.op = op, .at = at, .name = args[0]->name};
    args[0] = target;
    expr.args = std::move(args);
    return made(std::move(expr));
  }

  Result<std::vector<ExprPtr>> arguments() {
    TRY(expect("("));
    std::vector<ExprPtr> args;
    while (!take(")")) {
      if (!args.empty()) TRY(expect(","));
      TRY(ExprPtr arg, ternary());
      args.push_back(std::move(arg));
    }
    return args;
  }

  Result<ExprPtr> primary() {
    const Token token = now();
    if (token.kind == TokenKind::kLiteral) {
      if (token.text == "-") return wrong(token.at, "Syntax error: invalid int literal");
      ++index_;
      return made(Expr{.at = token.at, .literal = token.value});
    }
    if (token.kind == TokenKind::kName && !is_reserved(token.text)) return named(token);
    if (take("(")) {
      TRY(ExprPtr inner, ternary());
      TRY(expect(")"));
      return inner;
    }
    if (is("[")) return items(Op::kList, "]");
    if (is("{")) return items(Op::kMap, "}");
    return unexpected_token();
  }

  Result<ExprPtr> named(const Token& token) {
    ++index_;
    if (!is("(")) return made(Expr{.op = Op::kIdentifier, .at = token.at, .name = token.text});
    const std::size_t paren = now().at;
    TRY(std::vector<ExprPtr> args, arguments());
    if (token.text != "has") {
      return made(Expr{.op = Op::kCall, .at = paren, .name = token.text, .args = std::move(args)});
    }
    if (args.size() != 1 || args[0]->op != Op::kSelect) {
      return wrong(paren, "invalid argument to has() macro");
    }
    return made(Expr{.op = Op::kHas, .at = paren, .name = args[0]->name, .args = args[0]->args});
  }

  // [a, b,] or {a: b, c: d,}
  Result<ExprPtr> items(Op op, std::string_view end) {
    Expr expr{.op = op, .at = now().at};
    ++index_;
    while (!take(end)) {
      if (!expr.args.empty()) {
        TRY(expect(","));
        if (take(end)) break;
      }
      TRY(ExprPtr item, ternary());
      expr.args.push_back(std::move(item));
      if (op != Op::kMap) continue;
      TRY(expect(":"));
      TRY(ExprPtr value, ternary());
      expr.args.push_back(std::move(value));
    }
    return made(std::move(expr));
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::size_t index_ = 0;
  std::size_t nodes_ = 0;
  int open_ = 0;
};

}  // namespace

Result<ExprPtr> parse(std::string_view source) {
  TRY(std::vector<Token> tokens, lex(source));
  return Parser(source, std::move(tokens)).run();
}

}  // namespace amdahl::local::cel
