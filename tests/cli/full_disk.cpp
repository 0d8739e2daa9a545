// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Preloaded, it makes folders full: what is written to a file there fails as beyond a quota, which statvfs does not
// see, and statvfs tells the free space that the environment says.
//
//   PRISMFIELD_FULL  folders, absolute, separated by colons
//   PRISMFIELD_FREE  FOLDER=BYTES
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

/// A function that this library stands before.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool is_full(int descriptor) {
  const char* const folders = std::getenv("PRISMFIELD_FULL");
  if (folders == nullptr) return false;
  char path[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  if (::readlink(link.c_str(), path, sizeof path - 1) < 0) return false;
  const std::string all = std::string(":") + folders + ":";
  const std::string name = path;
  const std::size_t slash = name.rfind('/');
  return slash != std::string::npos && all.find(":" + name.substr(0, slash) + ":") != std::string::npos;
}

void tell_free_space(const char* path, struct statvfs* disk) {
  const char* const wanted = std::getenv("PRISMFIELD_FREE");
  const char* const equals = wanted == nullptr ? nullptr : std::strchr(wanted, '=');
  char real[PATH_MAX] = {};
  if (equals == nullptr || ::realpath(path, real) == nullptr) return;
  if (std::string(wanted, equals) != real) return;
  disk->f_frsize = 1;
  disk->f_bavail = std::strtoull(equals + 1, nullptr, 10);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_full(descriptor)) {
    errno = EDQUOT;
    return -1;
  }
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return real(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (is_full(descriptor)) {
    errno = EDQUOT;
    return -1;
  }
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return real(descriptor, bytes, count, offset);
}

int statvfs(const char* path, struct statvfs* disk) {
  static const auto real = next<int (*)(const char*, struct statvfs*)>("statvfs");
  const int status = real(path, disk);
  if (status == 0) tell_free_space(path, disk);
  return status;
}
}
