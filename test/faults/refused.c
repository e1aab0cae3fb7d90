/*
 * Preloaded into a process, has every change below the folder REFUSED_ROOT fail while the file REFUSED_ERROR has the number of an error, also by
 * files that are open already: so does a disk that the system makes read-only because it has errors.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const volatile int32_t *error;
static const char *root;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("REFUSED_ERROR");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || (root = getenv("REFUSED_ROOT")) == NULL) abort();
  error = mmap(NULL, sizeof *error, PROT_READ, MAP_SHARED, file, 0);
  if (error == MAP_FAILED) abort();
  close(file);
}

/* Whether a change at a path, or of an open file, is refused. */
static int refuses(const char *path) {
  if (error == NULL || *error == 0 || strncmp(path, root, strlen(root)) != 0) return 0;
  errno = *error;
  return 1;
}

static int refuses_open(int file) {
  char link[64], path[PATH_MAX];
  if (error == NULL || *error == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return refuses(path);
}

/* A function that fails where `refused` holds, and else is the real one. */
#define CHANGE(type, name, parameters, arguments, refused)                        \
  type name parameters {                                                          \
    static type(*real) parameters;                                                \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name);         \
    return refused ? (type)-1 : real arguments;                                   \
  }

CHANGE(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count), refuses_open(file))
CHANGE(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at), refuses_open(file))
CHANGE(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at), refuses_open(file))
CHANGE(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count), refuses_open(file))
CHANGE(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t at), (file, parts, count, at), refuses_open(file))
CHANGE(int, ftruncate, (int file, off_t length), (file, length), refuses_open(file))
CHANGE(int, ftruncate64, (int file, off64_t length), (file, length), refuses_open(file))
CHANGE(int, fallocate, (int file, int mode, off_t at, off_t length), (file, mode, at, length), refuses_open(file))
CHANGE(int, mkdir, (const char *path, mode_t mode), (path, mode), refuses(path))
CHANGE(int, rmdir, (const char *path), (path), refuses(path))
CHANGE(int, unlink, (const char *path), (path), refuses(path))
CHANGE(int, remove, (const char *path), (path), refuses(path))
CHANGE(int, rename, (const char *from, const char *to), (from, to), refuses(to))
CHANGE(int, link, (const char *from, const char *to), (from, to), refuses(to))

/* The mode of a file that is made. */
#define OPEN(name, parameters, arguments)                                         \
  int name parameters {                                                           \
    static int(*real) parameters;                                                 \
    if (real == NULL) real = (int(*) parameters)dlsym(RTLD_NEXT, #name);          \
    va_list more;                                                                 \
    va_start(more, flags);                                                        \
    mode_t mode = va_arg(more, mode_t);                                           \
    va_end(more);                                                                 \
    return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && refuses(path) ? -1 : real arguments; \
  }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
