// Text and files of other programs: regular expressions over printed lines, the lines of
// tegrastats, TFRecord files and the numbers in TensorBoard's event files. Other modules include
// this header alone.
//
// Guarantees: pure functions of bytes; malformed input is an Error or a state of the result, never
// a guess. No header of PCRE2 or protobuf is needed to use them.
#pragma once

#include "parse/pattern.h"
#include "parse/tegrastats.h"
#include "parse/tfrecord.h"
