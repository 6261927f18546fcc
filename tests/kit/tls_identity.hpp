// The certificate of a ScriptedServer. For the files of this folder only.
#pragma once

#include <memory>

namespace boost::asio::ssl {
class context;
}

namespace amdahl::testkit {

struct TlsIdentity {
  std::shared_ptr<boost::asio::ssl::context> context;
};

}  // namespace amdahl::testkit
