// Whom connections to stores trust.
//
// Thread: any, once loaded. Failure: kTls with the file.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace boost::asio::ssl {
class context;
}

namespace amdahl::checkpoint {

class TlsTrust {
 public:
  // A file with certificates; empty: those of the system.
  static Result<std::shared_ptr<TlsTrust>> load(const std::string& ca_file);
  TlsTrust();
  ~TlsTrust();
  TlsTrust(const TlsTrust&) = delete;
  TlsTrust& operator=(const TlsTrust&) = delete;

  boost::asio::ssl::context& context() { return *context_; }

 private:
  std::unique_ptr<boost::asio::ssl::context> context_;
};

}  // namespace amdahl::checkpoint
