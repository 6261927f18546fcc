#include "operator/kube/credentials.hpp"

#include <algorithm>
#include <utility>

#include "operator/kube/exec_plugin.hpp"

namespace amdahl::kube {
namespace {

class StaticTokenSource final : public TokenSource {
 public:
  explicit StaticTokenSource(std::string token) : token_(std::move(token)) {}
  Task<Result<std::string>> token(Monotonic /*deadline*/) override { co_return token_; }
  void rejected(Monotonic /*request_start*/) override {}

 private:
  std::string token_;
};

class BearerCredentials final : public Credentials {
 public:
  BearerCredentials(std::unique_ptr<TokenSource> source, std::vector<Header> impersonation)
      : source_(std::move(source)), impersonation_(std::move(impersonation)) {}

  Task<Result<std::vector<Header>>> headers(Monotonic deadline) override {
    std::vector<Header> headers = impersonation_;
    CO_TRY(std::string token, co_await source_->token(deadline));
    if (!token.empty()) headers.push_back({.name = "Authorization", .value = "Bearer " + token});
    co_return headers;
  }
  void rejected(Monotonic request_start) override { source_->rejected(request_start); }

 private:
  std::unique_ptr<TokenSource> source_;
  std::vector<Header> impersonation_;
};

Result<std::unique_ptr<TokenSource>> make_source(const Config& config,
                                                 const Environment& environment,
                                                 CredentialsContext context) {
  if (const auto* file = std::get_if<TokenFile>(&config.auth))
    return std::make_unique<TokenFileSource>(*file, environment.read_file, context.clock,
                                             std::move(context.log));
  if (std::holds_alternative<ExecSpec>(config.auth))
    return std::make_unique<ExecPlugin>(config, environment, std::move(context));
  std::string token;
  if (const auto* fixed = std::get_if<StaticToken>(&config.auth)) {
    auto cleaned = clean_token(fixed->token);
    if (!cleaned) return wrap(std::move(cleaned).error(), "token of {}", config.source);
    token = std::move(*cleaned);
  }
  return std::make_unique<StaticTokenSource>(std::move(token));
}

bool is_printable(char c) {
  return c > ' ' && c <= '~';
}

// A field name may hold these; client-go leaves '%' out because it escapes with it.
bool is_header_name_char(char c) {
  const bool alphanumeric =
      (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alphanumeric || std::string_view("!#$&'*+-.^_`|~").contains(c);
}

std::string escape_header_name(std::string_view name) {
  std::string escaped;
  for (const char c : name)
    escaped += is_header_name_char(c) ? std::string(1, c)
                                      : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return escaped;
}

}  // namespace

Result<std::string> clean_token(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return fail(Errc::kInvalid, "the token is empty");
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  if (!std::ranges::all_of(text, is_printable))
    return fail(Errc::kInvalid,
                "the token has a line break, a space or another character no token has");
  return std::string(text);
}

Result<std::vector<Header>> impersonation_headers(const Impersonation& impersonation) {
  std::vector<Header> headers;
  if (!impersonation.user.empty())
    headers.push_back({.name = "Impersonate-User", .value = impersonation.user});
  if (!impersonation.uid.empty())
    headers.push_back({.name = "Impersonate-Uid", .value = impersonation.uid});
  for (const std::string& group : impersonation.groups)
    headers.push_back({.name = "Impersonate-Group", .value = group});
  for (const auto& [key, values] : impersonation.extra)
    for (const std::string& value : values)
      headers.push_back({.name = "Impersonate-Extra-" + escape_header_name(key), .value = value});
  for (const Header& header : headers)
    if (std::ranges::any_of(header.value, [](char c) { return c >= 0 && c < ' '; }))
      return fail(Errc::kInvalid, "{}: a control character cannot be sent", header.name);
  return headers;
}

Result<std::unique_ptr<Credentials>> make_credentials(const Config& config,
                                                      const Environment& environment,
                                                      CredentialsContext context) {
  TRY(auto impersonation, impersonation_headers(config.impersonate));
  TRY(auto source, make_source(config, environment, std::move(context)));
  return std::make_unique<BearerCredentials>(std::move(source), std::move(impersonation));
}

TokenFileSource::TokenFileSource(TokenFile file, FileReader read_file, const Clock& clock, Log log)
    : file_(std::move(file)),
      read_file_(std::move(read_file)),
      clock_(clock),
      log_(std::move(log)),
      token_(file_.initial) {}

Result<std::string> TokenFileSource::read() const {
  TRY(auto text, read_file_(file_.path, kCredentialFileMax));
  auto token = clean_token(text);
  if (!token) return wrap(std::move(token).error(), "{}", file_.path);
  return token;
}

Task<Result<std::string>> TokenFileSource::token(Monotonic /*deadline*/) {
  const Monotonic now = clock_.monotonic();
  if (!stale_ && now - read_at_ < kTokenFilePeriod - kTokenLeeway) co_return token_;
  auto token = read();
  if (token) {
    token_ = std::move(*token);
    read_at_ = now;
    stale_ = false;
    co_return token_;
  }
  if (token_.empty()) co_return wrap(std::move(token).error(), "token file");
  log_.warning("token file is unreadable; the old token stays in use", {{"error", token.error()}});
  co_return token_;
}

void TokenFileSource::rejected(Monotonic request_start) {
  if (read_at_ < request_start) stale_ = true;
}

}  // namespace amdahl::kube
