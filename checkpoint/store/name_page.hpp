// The names of one page of a listing: the first kListPageMax that come after `next`, in the order
// of their bytes, whatever order they are offered in.
//
// Memory is bounded by the page, and an object that is there all the time is listed once, even if
// others come and go between pages. Pure. Thread: one.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

class NamePage {
 public:
  NamePage(std::string_view prefix, std::string_view next) : prefix_(prefix), next_(next) {}

  void offer(std::string name) {
    if (!name.starts_with(prefix_) || name <= next_ || is_behind(name)) return;
    names_.insert(std::move(name));
    if (names_.size() <= kListPageMax) return;
    names_.erase(std::prev(names_.end()));
    more_ = true;
  }
  // `path` is an object or a folder of ours that is not listed. See ListPage::odd.
  void note_odd(const std::string& path) {
    if (path.starts_with(prefix_) || prefix_.starts_with(path + "/")) odd_ = path;
  }
  // Whether a name that begins with `folder`, which ends in a slash, could be on this page.
  bool wants_below(std::string_view folder) const {
    const std::string_view same = std::string_view(prefix_).substr(0, folder.size());
    if (!folder.starts_with(same)) return false;
    return std::string_view(next_).substr(0, folder.size()) <= folder && !is_behind(folder);
  }
  const std::set<std::string>& names() const { return names_; }
  const std::string& odd() const { return odd_; }
  std::string next() const { return more_ ? *names_.rbegin() : std::string(); }

 private:
  bool is_behind(std::string_view name) const {
    return names_.size() == kListPageMax && more_ && name > *names_.rbegin();
  }

  std::string prefix_;
  std::string next_;
  std::set<std::string> names_;
  bool more_ = false;
  std::string odd_;
};

}  // namespace amdahl::checkpoint
