// The limits of a machine as `doctor --measure` found them: what its processors, its memory, its
// storage and its GPU give at most.
//
// Guarantees: a limit is a finite number above 0 with its unit, how it was measured and when; what
// could not be measured has a reason instead. Limits: storage is that of one file system, the GPU
// is the first one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace trainscope {

struct Limit {
  std::string name;      // "disk.read.sequential"
  double value = 0;      // in base units
  std::string unit;      // UCUM: By/s, {operation}/s, s
  std::string how;       // one line: block size, streams, instructions
  std::string measured;  // UTC text
  // Of storage: where it was measured; empty otherwise. The device is the name of a whole disk,
  // empty where the file system has none (a network, memory).
  std::string mount_point, device;
};

struct MissingLimit {
  std::string name, reason, remedy;
  std::string mount_point = {};  // as in Limit
};

struct MachineLimits {
  std::string host;
  std::vector<Limit> limits;  // what was measured last comes first
  std::vector<MissingLimit> missing;
  std::string machine = {};  // machine_kind(); "" if it is unknown
};

// "AMD EPYC 7763 64-Core Processor, 256 CPUs": host names do not identify machines. "" if either is
// unknown.
std::string machine_kind(std::string_view cpu_model, int64_t cpus);
// False if both are known and differ.
bool may_apply_to(const MachineLimits& limits, std::string_view machine);

// Replaces the kinds (disk, gpu, …) that `fresh` measured or could not measure, and keeps the
// others; of storage also the limits of other file systems, up to 16. Nothing is kept if another
// machine of this name was measured.
void merge_limits(MachineLimits& stored, const MachineLimits& fresh);

// As it is stored per host and in manifests, with its schema.
Json limits_to_json(const MachineLimits& limits);
// The objects of the contract, `limits[]` of doctor and what is missing.
Json limit_list_json(const std::vector<Limit>& limits);
Json missing_limits_json(const std::vector<MissingLimit>& missing);
// An Error states what is wrong with it.
Result<MachineLimits> limits_from_json(const Json& json);

// "1.81 GiB/s", "24.6 GFLOP/s", "41.2k files/s", "6.2 µs"
std::string limit_text(double value, std::string_view unit);
// "2026-11-16" of when it was measured.
std::string measured_date(const std::string& measured);

}  // namespace trainscope
