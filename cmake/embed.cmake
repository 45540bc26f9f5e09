# Run by the build (cmake -P): writes a C++ file with the texts of files, as a function that returns all of them.
#   cmake -DOUTPUT=file.cpp "-DFILES=name|path;name|path" -DHEADER=module/header.h -DTYPE=Type
#         -DFUNCTION=function -P embed.cmake
# Type has two members, the name and the text.
set(entries "")
foreach(file IN LISTS FILES)
  string(REPLACE "|" ";" parts "${file}")
  list(GET parts 0 name)
  list(GET parts 1 path)
  file(READ "${path}" text)
  string(FIND "${text}" ")embedded\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${path} contains the end of a raw string")
  endif()
  string(APPEND entries "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from files of the source tree.
#include \"${HEADER}\"

namespace trainscope {

std::span<const ${TYPE}> ${FUNCTION}() {
  static constexpr ${TYPE} kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace trainscope
")
