// The bytes of a run (docs/run-format.md): frames, schemas, blocks of rows with their statistics,
// the manifest, and the files that they are written to. Other modules include this header alone.
//
// Guarantees: what is read back is what was written, or damage with its place. The statistics of a
// column follow one rule, totals_of, for everybody who writes. Nothing here knows of homes, runs or
// queries.
#pragma once

#include "format/codec.h"
#include "format/durable.h"
#include "format/frame.h"
#include "format/kept_files.h"
#include "format/manifest.h"
#include "format/output_times.h"
#include "format/run_data.h"
#include "format/schema.h"
#include "format/segment_writer.h"
