#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checkpoint_place.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct PinOptions {
  PlaceOptions place = {};
  std::int64_t step = 0;
};

std::string pin_name(std::int64_t step) {
  return checkpoint::write_name({.kind = checkpoint::ObjectKind::kPin, .step = step});
}

Result<int> pin(Program& program, const PinOptions& options) {
  TRY(const StorePtr store, open_place(program, options.place));
  const auto call = call_within(program, kRecordsDeadline);
  const auto content = checkpoint::bytes_of("pinned\n");
  const auto created = store->create(pin_name(options.step), {&content, 1}, call);
  if (!created && created.error().code != Errc::kAlreadyExists)
    return std::unexpected<Error>(created.error());
  // After the pin: what is there now stays. A collector that had begun before may have taken it.
  if (auto there = choose_checkpoint(program, *store, options.step, call); !there) {
    if (created) TRY(store->remove(pin_name(options.step), call));
    return wrap(std::move(there).error(), "step {} is not pinned", options.step);
  }
  program.terminal.out(fmt::format("Step {} is pinned.\n", options.step));
  return kDone;
}

Result<int> unpin(Program& program, const PinOptions& options) {
  TRY(const StorePtr store, open_place(program, options.place));
  TRY(store->remove(pin_name(options.step), call_within(program, kRecordsDeadline)));
  program.terminal.out(fmt::format("Step {} is not pinned.\n", options.step));
  return kDone;
}

CLI::App* pin_verb(CLI::App& group, const char* name, const char* what, PinOptions& options) {
  CLI::App* verb = group.add_subcommand(name, what);
  add_place_options(*verb, options.place);
  verb->add_option("STEP", options.step, "of a committed checkpoint")
      ->required()
      ->check(CLI::Range(std::int64_t{0}, checkpoint::kStepMax).description(""));
  verb->footer(place_help() + access_help() +
               fmt::format("\nExample:\n  amdahl checkpoint {} llama-ft 4000\n", name));
  return verb;
}

}  // namespace

void add_checkpoint_pin(CLI::App& group, Program& program, Action& action) {
  const auto options = std::make_shared<PinOptions>();
  pin_verb(group, "pin", "Keep a checkpoint, whatever the retention says.", *options)
      ->callback([&program, &action, options] {
        action = [&program, options] { return pin(program, *options); };
      });
}

void add_checkpoint_unpin(CLI::App& group, Program& program, Action& action) {
  const auto options = std::make_shared<PinOptions>();
  pin_verb(group, "unpin", "Leave a pinned checkpoint to the retention again.", *options)
      ->callback([&program, &action, options] {
        action = [&program, options] { return unpin(program, *options); };
      });
}

}  // namespace amdahl::cli
