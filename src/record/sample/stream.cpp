
#include <algorithm>

#include "base/json.h"
#include "format/format.h"
#include "kernel/pid_namespace.h"
#include "record/sample/sampler.h"

namespace trainscope {

namespace {

StoredSchema schema_of(uint32_t number, uint32_t stream, int64_t period_ns,
                       const Collector& collector, const Opened& opened) {
  StoredSchema schema;
  schema.number = number;
  schema.stream = stream;
  schema.period_ns = period_ns;
  schema.source = collector.name;
  for (const Column& column : opened.columns) {
    const MetricSpec* spec = spec_of(collector, column);
    CHECK(spec != nullptr);
    schema.add({std::string(column.metric), column.labels, std::string(spec->unit), spec->kind,
                column.scale, column.is_double});
  }
  for (const Missing& m : opened.missing) {
    const MetricSpec* spec = spec_of(collector, m);
    CHECK(spec != nullptr);
    schema.missing.push_back(
        {std::string(m.metric), std::string(spec->unit), m.reason, m.remedy, spec->kind});
  }
  return schema;
}

// In the place of a source of the job whose processes cannot be found by their pids.
class UnseenJob : public Source {
 public:
  explicit UnseenJob(const Collector& collector) : collector_(collector) {}

  Opened open(const SourceContext&) override {
    Opened opened;
    for (const MetricSpec& metric : collector_.metrics) {
      opened.missing.push_back({metric.name, "/proc is of another PID namespace",
                                "mount it in this one, as by unshare --mount-proc"});
    }
    return opened;
  }

  Sampled sample(std::span<int64_t>) override { return Sampled::ok; }

 private:
  const Collector& collector_;
};

}  // namespace

SourceGroup::SourceGroup(uint32_t id, int64_t period_ns,
                         const std::vector<const Collector*>& collectors)
    : id_(id), period_ns_(period_ns) {
  CHECK(collectors.size() <= kMaxSources);
  for (const Collector* collector : collectors) {
    slots_.push_back({collector, collector->make(), 0, 0, {}, {}, false});
  }
}

void SourceGroup::open(const SourceContext& context, Ring& ring,
                       std::atomic<uint32_t>& next_schema) {
  context_ = &context;
  ring_ = &ring;
  next_schema_ = &next_schema;
  const bool is_unseen = context.job != nullptr && !shows_our_pids(context.root);
  for (Slot& slot : slots_) {
    if (!is_unseen || slot.collector->scope != Scope::job) continue;
    slot.source = std::make_unique<UnseenJob>(*slot.collector);
  }
  for (size_t i = 0; i < slots_.size(); ++i) open_slot(i);
}

void SourceGroup::open_slot(size_t index) {
  Slot& slot = slots_[index];
  Opened opened = slot.source->open(*context_);
  slot.schema = (*next_schema_)++;
  slot.announcement = schema_json(schema_of(slot.schema, id_, period_ns_, *slot.collector, opened));
  slot.columns = std::move(opened.columns);
  slot.waits = opened.waits;
  size_t offset = 0;
  for (Slot& each : slots_) {
    each.offset = offset;
    offset += each.columns.size();
  }
  row_.resize(offset);
  announce();  // a schema that did not fit into the ring precedes the next row
}

bool SourceGroup::announce() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.announcement.empty()) continue;
    if (!ring_->push_schema(id_, slot.schema, static_cast<uint32_t>(slot.columns.size()),
                            static_cast<uint32_t>(i), static_cast<uint32_t>(slots_.size()),
                            slot.announcement)) {
      return false;
    }
    slot.announcement.clear();
  }
  return true;
}

Sampled SourceGroup::read_slot(Slot& slot, Reading reading) {
  const auto part = std::span(row_).subspan(slot.offset, slot.columns.size());
  // What the source leaves out is unknown, not the value of an earlier sample or another column.
  std::fill(part.begin(), part.end(), kAbsent);
  return (*slot.source.*reading)(part);
}

void SourceGroup::read_slots(Reading reading) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (read_slot(slots_[i], reading) == Sampled::ok) continue;
    // The layout has changed. The row starts again: the offsets of the later sources moved.
    open_slot(i);
    for (size_t k = 0; k <= i; ++k) (void)read_slot(slots_[k], reading);
  }
}

bool SourceGroup::sample(int64_t tick, int64_t late_us, Ring& ring) {
  read_slots(&Source::sample);
  if (!announce()) return false;
  if (row_.empty()) return true;  // it waits for its first column
  return ring.push_row(id_, tick, late_us, row_);
}

void SourceGroup::sample_closing(int64_t time_ns, Ring& ring) {
  if (!has_counters()) return;
  read_slots(&Source::sample_last);
  if (!announce()) return;
  for (const Slot& slot : slots_) {
    Json values = Json::array();
    for (size_t c = 0; c < slot.columns.size(); ++c) {
      const int64_t raw = row_[slot.offset + c];
      // A gauge has no closing value: the job has ended.
      const bool counts = spec_of(*slot.collector, slot.columns[c])->kind == Kind::counter;
      values.push_back(raw == kAbsent || !counts ? Json() : Json(raw));
    }
    const Json closing = {{"schema", slot.schema}, {"time_ns", time_ns}, {"values", values}};
    ring.push_text(RecordKind::closing, dump_json(closing));
  }
}

bool SourceGroup::is_worth_asking() const {
  return !row_.empty() ||
         std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.waits; });
}

bool SourceGroup::has_counters() const {
  for (const Slot& slot : slots_) {
    for (const Column& column : slot.columns) {
      if (spec_of(*slot.collector, column)->kind == Kind::counter) return true;
    }
  }
  return false;
}

double SourceGroup::last_mean(std::string_view metric) const {
  int64_t count = 0;
  const double sum = last_sum(metric, &count);
  return count == 0 ? -1 : sum / static_cast<double>(count);
}

double SourceGroup::last_sum(std::string_view metric, int64_t* count) const {
  double sum = -1;
  for (const Slot& slot : slots_) {
    for (size_t c = 0; c < slot.columns.size(); ++c) {
      const int64_t raw = row_[slot.offset + c];
      if (slot.columns[c].metric != metric || raw == kAbsent) continue;
      sum = (sum < 0 ? 0 : sum) + slot.columns[c].scale.apply(raw);
      if (count != nullptr) ++*count;
    }
  }
  return sum;
}

}  // namespace trainscope
