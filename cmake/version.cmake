# Sets `version`, which has one place, the Python module: people copy that alone next to their program.
set(version_file "${CMAKE_CURRENT_LIST_DIR}/../python/trainscope/__init__.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${version_file}")
file(STRINGS "${version_file}" version_line REGEX "^__version__ = ")
string(REGEX MATCH "[0-9]+(\\.[0-9]+)+" version "${version_line}")
if(version STREQUAL "")
  message(FATAL_ERROR "no line __version__ = \"X.Y.Z\" in ${version_file}")
endif()
