# Run by the build (cmake -P): writes a C++ file with the texts of the Python files of `run --instrument`.
#   cmake -DOUTPUT=file.cpp "-DFILES=name|path;name|path" -P embed.cmake
set(entries "")
foreach(file IN LISTS FILES)
  string(REPLACE "|" ";" parts "${file}")
  list(GET parts 0 name)
  list(GET parts 1 path)
  file(READ "${path}" text)
  string(FIND "${text}" ")python\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${path} contains the end of a raw string")
  endif()
  string(APPEND entries "      {\"${name}\", R\"python(${text})python\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from the Python files of the source tree.
#include \"record/supervise/instrument.h\"

namespace trainscope {

std::span<const InstrumentFile> instrument_files() {
  static constexpr InstrumentFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace trainscope
")
