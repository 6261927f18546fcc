#include "operator/kube/counted_transport.hpp"

namespace amdahl::kube {
namespace {

AnswerClass answer_class(int status) {
  if (status >= 500) return AnswerClass::k5xx;
  if (status >= 400) return AnswerClass::k4xx;
  if (status >= 300) return AnswerClass::k3xx;
  return status >= 200 ? AnswerClass::k2xx : AnswerClass::kNone;
}

}  // namespace

CountedTransport::CountedTransport(Transport& below, Clock& clock, MetricsRegistry& registry)
    : below_(below), clock_(clock), metrics_(registry) {}

Task<Result<Response>> CountedTransport::send(Request request, Monotonic deadline) {
  const Verb verb = request.verb;
  const Monotonic start = clock_.monotonic();
  auto answered = co_await below_.send(std::move(request), deadline);
  count(verb, answered ? answered->status : 0, start);
  co_return answered;
}

Task<Result<StreamResponse>> CountedTransport::open(Request request, Monotonic head_deadline) {
  const Verb verb = request.verb;
  const Monotonic start = clock_.monotonic();
  auto opened = co_await below_.open(std::move(request), head_deadline);
  count(verb, opened ? opened->head.status : 0, start);
  co_return opened;
}

void CountedTransport::count(Verb verb, int status, Monotonic start) {
  metrics_.requests.at(verb, answer_class(status)).increment();
  metrics_.seconds.at(verb).observe(clock_.monotonic() - start);
}

}  // namespace amdahl::kube
