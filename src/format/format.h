// The bytes of a run (docs/run-format.md): frames, schemas, blocks of rows with their statistics,
// and the files that they are appended to. Other modules include this header alone.
//
// Guarantees: what is read back is what was written, or damage with its place. The statistics of a
// column follow one rule, totals_of, for everybody who writes. Nothing here knows of homes, runs or
// queries.
#pragma once

#include "format/codec.h"
#include "format/frame.h"
#include "format/schema.h"
#include "format/segment_writer.h"
