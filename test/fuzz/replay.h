// The fuzz targets that fuzz-replay knows, by the name of their corpus folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

struct FuzzTarget {
  const char* name;
  int (*test_one_input)(const std::uint8_t* data, std::size_t size);
};

std::span<const FuzzTarget> fuzz_targets();
