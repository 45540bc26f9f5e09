// Small runs made in memory, for tests: frames are put together by hand and opened without a
// folder.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "format/format.h"
#include "store/read/files.h"

namespace trainscope {

struct FixtureColumn {
  std::string metric;
  Labels labels;
  std::string unit = "1";
  Kind kind = Kind::gauge;
  Scale scale;
  std::string type = "i64";
};

// The bytes of one file of frames.
class FixtureFile {
 public:
  FixtureFile() : bytes_(file_header()) {}

  FixtureFile& frame(FrameType type, std::string_view payload, uint8_t flags = 0) {
    append_frame(bytes_, type, flags, payload);
    return *this;
  }
  FixtureFile& head(int incarnation) {
    return frame(FrameType::head, Json{{"incarnation", incarnation}}.dump());
  }
  FixtureFile& schema(int number, int stream, int64_t period_ns, const std::string& source,
                      const std::vector<FixtureColumn>& columns,
                      const Json& missing = Json::array()) {
    Json list = Json::array();
    std::vector<Totals> totals;
    for (const FixtureColumn& c : columns) {
      Json labels = Json::object();
      for (const auto& [name, value] : c.labels) labels[name] = value;
      list.push_back({{"metric", c.metric},
                      {"labels", labels},
                      {"unit", c.unit},
                      {"kind", kind_name(c.kind)},
                      {"scale", {c.scale.numerator, c.scale.denominator}},
                      {"type", c.type}});
      totals.push_back(totals_of(c.kind, c.type == "f64"));
    }
    totals_[number] = totals;
    return frame(FrameType::schema, Json{{"schema", number},
                                         {"stream", stream},
                                         {"period_ns", period_ns},
                                         {"source", source},
                                         {"columns", list},
                                         {"missing", missing}}
                                        .dump());
  }
  FixtureFile& times(uint64_t stream, uint64_t block, const std::vector<RowTime>& rows) {
    return frame(FrameType::times, encode_times(stream, block, rows));
  }
  // rows[r][c]; sealed blocks have statistics and compression, blocks of `tail` do not.
  FixtureFile& values(int schema, uint64_t block, const std::vector<std::vector<int64_t>>& rows,
                      bool sealed = true) {
    std::vector<const int64_t*> pointers;
    for (const auto& row : rows) pointers.push_back(row.data());
    EncodeOptions options;
    if (sealed) options = {totals_[schema], 3};
    uint8_t flags = 0;
    const std::string payload = encode_columns(static_cast<uint64_t>(schema), block, pointers,
                                               rows.empty() ? 0 : rows[0].size(), options, flags);
    return frame(FrameType::columns, payload, flags);
  }
  FixtureFile& event(double time_s, const std::string& kind, const std::string& text) {
    const auto time_ns = static_cast<int64_t>(time_s * 1e9);
    return frame(FrameType::event,
                 Json{{"time_ns", time_ns}, {"kind", kind}, {"text", text}}.dump());
  }
  FixtureFile& closing(int schema, double time_s, const Json& values) {
    const auto time_ns = static_cast<int64_t>(time_s * 1e9);
    return frame(FrameType::closing,
                 Json{{"schema", schema}, {"time_ns", time_ns}, {"values", values}}.dump());
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::map<int, std::vector<Totals>> totals_;
};

inline constexpr int64_t kMs = 1'000'000;

// A manifest of a run of so many seconds, 100 ms a tick.
inline Manifest fixture_manifest(std::optional<double> duration_s) {
  Manifest m;
  m.id = "0123456789";
  m.started = "2026-01-02T03:04:05.000Z";
  m.command = {"true"};
  m.period_ns = 100 * kMs;
  m.duration_s = duration_s;
  if (duration_s) {
    m.ended = "2026-01-02T03:04:06.000Z";
    m.ended_by = EndedBy::exit;
    m.exit_code = 0;
  }
  return m;
}

inline RunFiles fixture_files(const std::vector<std::string>& segments,
                              std::optional<double> duration_s, const std::string& tail = "") {
  RunFiles files;
  files.path = "run";
  files.manifest = fixture_manifest(duration_s);
  int number = 0;
  for (const std::string& bytes : segments) {
    files.segments.push_back({fmt::format("samples-{:04}.seg", ++number), bytes});
  }
  if (!tail.empty()) files.tail = {"tail", tail};
  return files;
}

inline std::unique_ptr<RunView> open_fixture(RunFiles files) {
  auto run = view_run(std::move(files));
  EXPECT_TRUE(run) << (run ? "" : run.error().message());
  return run ? std::move(*run) : nullptr;
}

inline size_t series_index(const RunView& run, const std::string& text) {
  for (size_t i = 0; i < run.series().size(); ++i) {
    if (series_text(run.series()[i]) == text) return i;
  }
  ADD_FAILURE() << "no series " << text;
  return 0;
}

// "0.1=5 0.2=- 0.3=7"
inline std::string points_text(const RunView& run, const std::string& series,
                               const Range& range = {}) {
  const auto points = run.points(series_index(run, series), range);
  if (!points) return points.error().message();
  std::string text;
  for (size_t i = 0; i < points->time_s.size(); ++i) {
    text += fmt::format("{}{:g}={}", i == 0 ? "" : " ", points->time_s[i],
                        points->present[i] != 0 ? fmt::format("{:g}", points->value[i]) : "-");
  }
  return text;
}

}  // namespace trainscope
