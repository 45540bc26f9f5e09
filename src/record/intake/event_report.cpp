#include "record/intake/event_report.h"

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

constexpr size_t kMaxNameBytes = 128;

bool take_prefix(std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.erase(0, prefix.size());
  return true;
}

bool take_suffix(std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.resize(name.size() - suffix.size());
  return true;
}

std::string as_name(std::string name) {
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '_' && c != '.' && c != '/' && c != '-' && byte < 0x80) {
      c = '_';
    }
  }
  name.resize(std::min(name.size(), kMaxNameBytes));
  return name;
}

struct Meaning {
  std::string name, set;
  bool of_epoch = false;
};

Meaning meaning_of(std::string_view folder, std::string_view tag) {
  Meaning meaning;
  meaning.set = set_of_word(lower(folder));
  std::string name;
  // "train/loss" and "Loss/train" are the loss of the training set.
  const std::string lowered = lower(tag);
  for (const std::string_view part : split(lowered, '/')) {
    const std::string_view set = set_of_word(part);  // "eval/loss", "Loss/test"
    if (!set.empty()) {
      meaning.set = set;
    } else {
      name += (name.empty() ? "" : "/") + std::string(part);
    }
  }
  meaning.of_epoch = take_prefix(name, "epoch_");
  if (!meaning.of_epoch) take_prefix(name, "batch_");
  if (take_prefix(name, "evaluation_")) {
    take_suffix(name, "_vs_iterations");
    meaning.set = "validation";
  }
  const NamedNumber named = without_set_prefix(name);
  if (!named.set.empty()) {
    meaning.set = named.set;
    name = std::string(named.name);
  }
  take_prefix(name, "train_");
  take_suffix(name, "_step");  // Lightning: train_loss_step
  meaning.name = as_name(name);
  return meaning;
}

}  // namespace

std::optional<Report> report_of_event(std::string_view folder, std::string_view tag, int64_t step,
                                      double value) {
  const Meaning meaning = meaning_of(folder, tag);
  if (meaning.name.empty() || meaning.name == "epoch" || step < 0) return std::nullopt;
  Report report;
  const bool other_set = !meaning.set.empty() && meaning.set != "train";
  if (other_set) report.set = meaning.set;
  if (other_set && !meaning.of_epoch) {
    report.kind = Report::Kind::scalar;
    report.name = meaning.name;
    report.value = value;
    report.numbers.emplace_back("step", static_cast<double>(step));
    return report;
  }
  report.kind = meaning.of_epoch ? Report::Kind::epoch : Report::Kind::step;
  report.number = step;
  report.numbers.emplace_back(meaning.name, value);
  return report;
}

}  // namespace trainscope
