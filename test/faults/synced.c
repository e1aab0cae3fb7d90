/*
 * Preloaded into a process, records what of a folder would be there after a power failure. With each sync of a file or folder below SYNCED_ROOT,
 * it writes into SYNCED_RECORD: the bytes of the file as data/<inode>, and in `tree` the type, inode and path of everything in the folder. As on
 * file systems with a journal, a sync keeps whatever was made, renamed or removed before, and the bytes of one file only.
 * The disk is slow: between the writes of the database's log and their sync some time passes, in which SYNCED_RECORD has a file `log`.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void walk(FILE *out, const char *folder, const char *below) {
  DIR *entries = opendir(folder);
  if (entries == NULL) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char path[PATH_MAX], name[PATH_MAX];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    snprintf(name, sizeof name, "%s%s", below, entry->d_name);
    if (lstat(path, &found) != 0) continue;
    if (S_ISREG(found.st_mode)) fprintf(out, "f %lu %s\n", (unsigned long)found.st_ino, name);
    if (!S_ISDIR(found.st_mode)) continue;
    fprintf(out, "d %lu %s\n", (unsigned long)found.st_ino, name);
    strncat(name, "/", sizeof name - strlen(name) - 1);
    walk(out, path, name);
  }
  closedir(entries);
}

static void copy(const char *record, unsigned long inode, const char *open_path) {
  char made[PATH_MAX], target[PATH_MAX], held[PATH_MAX], part[1 << 16];
  snprintf(made, sizeof made, "%s/part", record);
  snprintf(target, sizeof target, "%s/data/%lu", record, inode);
  snprintf(held, sizeof held, "%s/held/%lu", record, inode);
  /* As long as it has this link, no other file gets its inode. */
  linkat(AT_FDCWD, open_path, AT_FDCWD, held, AT_SYMLINK_FOLLOW);
  int from = open(open_path, O_RDONLY | O_CLOEXEC);
  int to = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t bytes;
  while (from >= 0 && to >= 0 && (bytes = read(from, part, sizeof part)) > 0)
    if (write(to, part, bytes) != bytes) abort();
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  rename(made, target);
}

static void delay(const char *record, const char *path) {
  size_t length = strlen(path);
  if (length < 4 || strcmp(path + length - 4, ".wal") != 0) return;
  char mark[PATH_MAX];
  snprintf(mark, sizeof mark, "%s/log", record);
  close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  usleep(100000);
  unlink(mark);
}

static void record(int file) {
  const char *root = getenv("SYNCED_ROOT"), *to = getenv("SYNCED_RECORD");
  char open_path[64], path[PATH_MAX], name[PATH_MAX], made[PATH_MAX];
  struct stat found;
  if (root == NULL || to == NULL || fstat(file, &found) != 0) return;
  snprintf(open_path, sizeof open_path, "/proc/self/fd/%d", file);
  ssize_t length = readlink(open_path, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = '\0';
  size_t rooted = strlen(root);
  if (strncmp(path, root, rooted) != 0 || (path[rooted] != '/' && path[rooted] != '\0')) return;
  delay(to, path);
  snprintf(name, sizeof name, "%s/lock", to);
  int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return;
  flock(lock, LOCK_EX);
  if (S_ISREG(found.st_mode)) copy(to, (unsigned long)found.st_ino, open_path);
  snprintf(made, sizeof made, "%s/tree.part", to);
  snprintf(name, sizeof name, "%s/tree", to);
  FILE *tree = fopen(made, "we");
  if (tree != NULL) {
    walk(tree, root, "");
    fclose(tree);
    rename(made, name);
  }
  close(lock);
}

int fsync(int file) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  record(file);
  return real(file);
}

int fdatasync(int file) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  record(file);
  return real(file);
}
