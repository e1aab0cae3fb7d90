/*
 * Preloaded into a process, refuses what MODEST lists, such as "chmod link": so does the disk of a share, a memory card or a mounted bucket,
 * and a kernel without IPv6.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuses(const char *what) {
  const char *all = getenv("MODEST");
  if (all == NULL || strstr(all, what) == NULL) return 0;
  errno = EPERM;
  return 1;
}

static int is_folder(int file) {
  struct stat found;
  return fstat(file, &found) == 0 && S_ISDIR(found.st_mode);
}

/* A function that fails where `refused` holds, and else is the real one. */
#define CALL(name, parameters, arguments, refused)                                \
  int name parameters {                                                           \
    static int(*real) parameters;                                                 \
    if (real == NULL) real = (int(*) parameters)dlsym(RTLD_NEXT, #name);          \
    return refused ? -1 : real arguments;                                         \
  }

CALL(chmod, (const char *path, mode_t mode), (path, mode), refuses("chmod"))
CALL(fchmod, (int file, mode_t mode), (file, mode), refuses("chmod"))
CALL(link, (const char *from, const char *to), (from, to), refuses("link"))
CALL(fsync, (int file), (file), is_folder(file) && refuses("fsync"))
CALL(socket, (int domain, int type, int protocol), (domain, type, protocol), domain == AF_INET6 && refuses("ipv6") && (errno = EAFNOSUPPORT))
CALL(bind, (int socket, const struct sockaddr *to, socklen_t size), (socket, to, size), to->sa_family == AF_UNIX && refuses("bind"))
