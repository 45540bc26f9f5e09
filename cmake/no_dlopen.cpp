// Part of the static program only, where --wrap sends every dlopen here. A static program cannot load
// libraries: glibc would want the very version it was linked with, at run time. SQLite refers to dlopen
// for extensions that nobody here loads; it is told that there are none.
extern "C" void* __wrap_dlopen(const char* /*file*/, int /*mode*/) {  // NOLINT(*-reserved-identifier)
  return nullptr;
}
