// A transport for tests that answers from a list and notes what it was asked.
#pragma once

#include <deque>
#include <vector>

#include "base/clock.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::kube {

// Answers from a list; the last answer repeats.
class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(const Clock& clock) : clock_(clock) {}

  std::deque<Result<Response>> answers;
  std::vector<Request> requests;
  std::vector<Monotonic> sent;       // when
  std::vector<Monotonic> deadlines;  // with which deadline

  Task<Result<Response>> send(Request request, Monotonic deadline) override {
    requests.push_back(std::move(request));
    sent.push_back(clock_.monotonic());
    deadlines.push_back(deadline);
    Result<Response> answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    co_return answer;
  }
  Task<Result<StreamResponse>> open(Request request, Monotonic deadline) override {
    requests.push_back(std::move(request));
    deadlines.push_back(deadline);
    Result<Response> answer = answers.front();
    if (!answer) co_return std::unexpected<Error>(answer.error());
    co_return StreamResponse{.head = *answer, .body = {}};
  }
  void set_fence(const WriteFence* /*fence*/) override {}

 private:
  const Clock& clock_;
};

}  // namespace amdahl::kube
