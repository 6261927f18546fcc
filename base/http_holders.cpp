#include "base/http_holders.hpp"

#include <algorithm>

#include "base/http_session.hpp"

namespace amdahl {

void HttpHolders::remove(const std::string& holder, HttpSession* session) {
  const auto found = by_holder_.find(holder);
  if (found == by_holder_.end()) return;
  std::erase(found->second, session);
  if (found->second.empty()) by_holder_.erase(found);
}

std::size_t HttpHolders::of(const std::string& holder) const {
  const auto found = by_holder_.find(holder);
  return found == by_holder_.end() ? 0 : found->second.size();
}

bool HttpHolders::close_in(Holders::iterator holder) {
  std::vector<HttpSession*>& sessions = holder->second;
  auto closed = std::ranges::find_if(sessions, &HttpSession::make_room);
  if (closed == sessions.end()) {
    if (busy_ == Busy::kStay) return false;
    closed = sessions.begin();
    (*closed)->cut_off();
  }
  sessions.erase(closed);  // it ends later, but counts no longer
  if (sessions.empty()) by_holder_.erase(holder);
  return true;
}

bool HttpHolders::close_one_of(const std::string& holder) {
  const auto found = by_holder_.find(holder);
  return found != by_holder_.end() && close_in(found);
}

bool HttpHolders::close_one(std::size_t spared) {
  const auto most = std::ranges::max_element(
      by_holder_, {}, [](const Holders::value_type& holder) { return holder.second.size(); });
  return most != by_holder_.end() && most->second.size() > spared && close_in(most);
}

}  // namespace amdahl
