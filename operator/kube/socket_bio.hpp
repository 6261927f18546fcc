// A BIO on a non-blocking socket that it does not own. Unlike OpenSSL's own it cannot raise
// SIGPIPE when the peer has gone: a library must not need a signal's disposition changed.
#pragma once

struct bio_st;

namespace amdahl::kube {

bio_st* make_socket_bio(int socket);

}  // namespace amdahl::kube
