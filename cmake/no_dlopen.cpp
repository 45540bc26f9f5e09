// Part of the static program only. A static program cannot load libraries: glibc would want the very
// version it was linked with, at run time. SQLite refers to dlopen for extensions nobody here loads, so
// it gets these, which always fail, instead of glibc's loader and its link-time warning.
#include <dlfcn.h>

extern "C" {

void* dlopen(const char* /*file*/, int /*mode*/) noexcept { return nullptr; }

void* dlsym(void* /*handle*/, const char* /*name*/) noexcept { return nullptr; }

int dlclose(void* /*handle*/) noexcept { return -1; }

char* dlerror() noexcept {
  static char message[] = "a static program loads no libraries";
  return message;
}

}  // extern "C"
