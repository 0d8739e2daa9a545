// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Preloaded, it makes folders full: what is written to a file there fails as beyond a quota, which statvfs does not
// see, and statvfs tells the free space that the environment says. It also stops the process while a file is replaced,
// so that a test can send signals at known places of a run.
//
//   PRISMFIELD_FULL  folders, absolute, separated by colons
//   PRISMFIELD_FREE  FOLDER=BYTES
//   PRISMFIELD_HOLD  NAME:N: SIGSTOP at moment N (from 1) of the files NAME: each that is written has two, before its
//                    temporary file is renamed to it and after; NAME.part:N: when the N-th temporary file is made
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
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

/// Something happens to a file of this name, without its folder.
void count_moment(const std::string& name) {
  const char* const order = std::getenv("PRISMFIELD_HOLD");
  const char* const colon = order == nullptr ? nullptr : std::strrchr(order, ':');
  if (colon == nullptr || std::string(order, colon) != name) return;
  static std::atomic<long> moments{0};
  if (++moments == std::strtol(colon + 1, nullptr, 10)) ::raise(SIGSTOP);
}

std::string name_of(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// As base/temporary_file.cpp names what it makes.
void count_temporary_file(const char* path) {
  const std::string name = name_of(path);
  const std::size_t mark = name.rfind(".part-");
  if (mark != std::string::npos && name.front() == '.') count_moment(name.substr(1, mark - 1) + ".part");
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

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  const int descriptor = real(path, flags, mode);
  if (descriptor >= 0 && (flags & O_EXCL) != 0) count_temporary_file(path);
  return descriptor;
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  count_moment(name_of(to));
  const int status = real(from, to);
  count_moment(name_of(to));
  return status;
}
}
