// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// A library for LD_PRELOAD that makes one call of a program fail. What it does stands in the environment:
//
//   PRISMFIELD_FAULT=CALL:N:HOW    from main on, call N (from 1) of a kind fails: malloc, write, fsync, rename, open
//                                  (for writing) or read. HOW: the number of an error; `short`: half of the bytes are
//                                  written or read; `term`: SIGTERM comes and the call does its work. N+: all from N on
//   PRISMFIELD_FAULT_LOG=FILE      at the end: how many calls of each kind there were; on the way: which libraries were
//                                  calling when the call failed, and when the process crashed
//
// Programs that the process starts are left alone.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace {

enum Call { call_malloc, call_write, call_fsync, call_rename, call_open, call_read, n_calls };
constexpr std::array<const char*, n_calls> names = {"malloc", "write", "fsync", "rename", "open", "read"};

enum class How { pass, fail, half, signal };

struct Order {
  int call = -1;
  long first = 0;
  bool forever = false;
  How how = How::fail;
  int error = 0;
};

Order order;
int log_descriptor = -1;
std::atomic<bool> active{false};
std::array<std::atomic<long>, n_calls> counts{};
thread_local bool inside = false;

template <class Function>
Function* real(Function*& kept, const char* name) {
  if (kept == nullptr) kept = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return kept;
}

ssize_t put(const void* bytes, std::size_t n) {
  static ssize_t (*next)(int, const void*, std::size_t) = nullptr;
  return log_descriptor < 0 ? 0 : real(next, "write")(log_descriptor, bytes, n);
}

/// "what library+offset library+offset ...": the functions that were running, innermost first.
void log_callers(const char* what) {
  constexpr int most = 64;
  constexpr int own_frames = 2;
  std::array<void*, most> frames{};
  const int n = backtrace(frames.data(), most);
  (void)put(what, strlen(what));
  for (int i = own_frames; i < n; ++i) {
    void* const at = frames[static_cast<std::size_t>(i)];
    Dl_info info{};
    if (dladdr(at, &info) == 0 || info.dli_fname == nullptr) continue;
    const char* slash = strrchr(info.dli_fname, '/');
    std::array<char, 256> frame{};
    const std::ptrdiff_t offset = static_cast<char*>(at) - static_cast<char*>(info.dli_fbase);
    snprintf(frame.data(), frame.size(), " %s+%tx", slash == nullptr ? info.dli_fname : slash + 1, offset);
    (void)put(frame.data(), strlen(frame.data()));
  }
  (void)put("\n", 1);
}

How next_call(Call call) {
  if (!active || inside) return How::pass;
  const long n = ++counts[call];
  if (order.call != call || n < order.first || (n > order.first && !order.forever)) return How::pass;
  if (n == order.first) {
    inside = true;
    log_callers(names[call]);
    if (order.how == How::signal) raise(SIGTERM);
    inside = false;
  }
  if (order.how == How::signal) return How::pass;
  errno = order.error;
  return order.how;
}

void crashed(int number) {
  inside = true;
  log_callers("crash");
  signal(number, SIG_DFL);
  raise(number);
}

void finish() {
  active = false;
  for (std::size_t i = 0; i < n_calls; ++i) {
    std::array<char, 64> line{};
    const int n = snprintf(line.data(), line.size(), "count %s %ld\n", names[i], counts[i].load());
    (void)put(line.data(), static_cast<std::size_t>(n));
  }
}

void read_order() {
  const char* text = getenv("PRISMFIELD_FAULT");
  if (text == nullptr) return;
  for (int call = 0; call < n_calls; ++call) {
    const std::size_t n = strlen(names[static_cast<std::size_t>(call)]);
    if (strncmp(text, names[static_cast<std::size_t>(call)], n) != 0 || text[n] != ':') continue;
    char* rest = nullptr;
    order.first = strtol(text + n + 1, &rest, 10);
    order.forever = *rest == '+';
    rest += order.forever ? 2 : 1;
    order.error = atoi(rest);
    if (strcmp(rest, "short") == 0) order.how = How::half;
    if (strcmp(rest, "term") == 0) order.how = How::signal;
    order.call = call;
  }
}

int (*program_main)(int, char**, char**) = nullptr;

int watched_main(int argc, char** argv, char** environment) {
  read_order();
  if (const char* file = getenv("PRISMFIELD_FAULT_LOG")) {
    static int (*next)(const char*, int, ...) = nullptr;
    log_descriptor = real(next, "open")(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  }
  for (const char* name : {"LD_PRELOAD", "PRISMFIELD_FAULT", "PRISMFIELD_FAULT_LOG"}) unsetenv(name);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(number, crashed);
  // its first call takes memory
  std::array<void*, 1> frame{};
  (void)backtrace(frame.data(), 1);
  (void)atexit(finish);
  active = true;
  return program_main(argc, argv, environment);
}

/// The bytes that a call which does half its work is to do, at least one; it is told to do as many as it wanted else.
std::size_t part_of(How how, std::size_t n) { return how == How::half && n > 1 ? n / 2 : n; }

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0; }

int flags_of(const char* mode) { return strpbrk(mode, "wa+") != nullptr ? O_WRONLY : O_RDONLY; }

/// As a stream does whose system call failed.
void mark_error(FILE* stream) {
  constexpr int error_seen = 0x20;
  stream->_flags |= error_seen;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t n);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* old, std::size_t n);
void* __libc_memalign(std::size_t alignment, std::size_t n);

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  static decltype(__libc_start_main)* next = nullptr;
  program_main = main;
  return real(next, "__libc_start_main")(watched_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(std::size_t n) noexcept { return next_call(call_malloc) == How::pass ? __libc_malloc(n) : nullptr; }
void* calloc(std::size_t n, std::size_t size) noexcept {
  return next_call(call_malloc) == How::pass ? __libc_calloc(n, size) : nullptr;
}
void* realloc(void* old, std::size_t n) noexcept {
  return n == 0 || next_call(call_malloc) == How::pass ? __libc_realloc(old, n) : nullptr;
}
void* memalign(std::size_t alignment, std::size_t n) noexcept {
  return next_call(call_malloc) == How::pass ? __libc_memalign(alignment, n) : nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept { return memalign(alignment, n); }
int posix_memalign(void** to, std::size_t alignment, std::size_t n) noexcept {
  void* const made = memalign(alignment, n);
  if (made == nullptr) return ENOMEM;
  *to = made;
  return 0;
}

ssize_t write(int file, const void* bytes, std::size_t n) {
  static decltype(write)* next = nullptr;
  const How how = next_call(call_write);
  return how == How::fail ? -1 : real(next, "write")(file, bytes, part_of(how, n));
}
ssize_t pwrite(int file, const void* bytes, std::size_t n, off_t at) {
  static decltype(pwrite)* next = nullptr;
  const How how = next_call(call_write);
  return how == How::fail ? -1 : real(next, "pwrite")(file, bytes, part_of(how, n), at);
}
ssize_t pwrite64(int file, const void* bytes, std::size_t n, off64_t at) { return pwrite(file, bytes, n, at); }
ssize_t writev(int file, const struct iovec* parts, int n) {
  static decltype(writev)* next = nullptr;
  const How how = next_call(call_write);
  return how == How::fail ? -1 : real(next, "writev")(file, parts, how == How::half && n > 1 ? n / 2 : n);
}
std::size_t fwrite(const void* bytes, std::size_t size, std::size_t n, FILE* stream) {
  static decltype(fwrite)* next = nullptr;
  const How how = next_call(call_write);
  if (how == How::pass) return real(next, "fwrite")(bytes, size, n, stream);
  mark_error(stream);
  return how == How::fail ? 0 : real(next, "fwrite")(bytes, size, n / 2, stream);
}
int fflush(FILE* stream) {
  static decltype(fflush)* next = nullptr;
  if (next_call(call_write) == How::pass) return real(next, "fflush")(stream);
  if (stream != nullptr) mark_error(stream);
  return EOF;
}

ssize_t read(int file, void* bytes, std::size_t n) {
  static decltype(read)* next = nullptr;
  const How how = next_call(call_read);
  return how == How::fail ? -1 : real(next, "read")(file, bytes, part_of(how, n));
}
ssize_t pread(int file, void* bytes, std::size_t n, off_t at) {
  static decltype(pread)* next = nullptr;
  const How how = next_call(call_read);
  return how == How::fail ? -1 : real(next, "pread")(file, bytes, part_of(how, n), at);
}
ssize_t pread64(int file, void* bytes, std::size_t n, off64_t at) { return pread(file, bytes, n, at); }
std::size_t fread(void* bytes, std::size_t size, std::size_t n, FILE* stream) {
  static decltype(fread)* next = nullptr;
  const How how = next_call(call_read);
  if (how == How::pass) return real(next, "fread")(bytes, size, n, stream);
  mark_error(stream);
  return how == How::fail ? 0 : real(next, "fread")(bytes, size, n / 2, stream);
}

int fsync(int file) {
  static decltype(fsync)* next = nullptr;
  return next_call(call_fsync) == How::pass ? real(next, "fsync")(file) : -1;
}
int fdatasync(int file) {
  static decltype(fdatasync)* next = nullptr;
  return next_call(call_fsync) == How::pass ? real(next, "fdatasync")(file) : -1;
}

int rename(const char* from, const char* to) noexcept {
  static decltype(rename)* next = nullptr;
  return next_call(call_rename) == How::pass ? real(next, "rename")(from, to) : -1;
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static decltype(renameat)* next = nullptr;
  return next_call(call_rename) == How::pass ? real(next, "renameat")(from_folder, from, to_folder, to) : -1;
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  static decltype(renameat2)* next = nullptr;
  return next_call(call_rename) == How::pass ? real(next, "renameat2")(from_folder, from, to_folder, to, flags) : -1;
}

int open(const char* file, int flags, ...) {
  static decltype(open)* next = nullptr;
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return !writes(flags) || next_call(call_open) == How::pass ? real(next, "open")(file, flags, mode) : -1;
}
int open64(const char* file, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(file, flags, mode);
}
int openat(int folder, const char* file, int flags, ...) {
  static decltype(openat)* next = nullptr;
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return !writes(flags) || next_call(call_open) == How::pass ? real(next, "openat")(folder, file, flags, mode) : -1;
}
FILE* fopen(const char* file, const char* mode) {
  static decltype(fopen)* next = nullptr;
  const bool pass = !writes(flags_of(mode)) || next_call(call_open) == How::pass;
  return pass ? real(next, "fopen")(file, mode) : nullptr;
}
FILE* fopen64(const char* file, const char* mode) { return fopen(file, mode); }
}
