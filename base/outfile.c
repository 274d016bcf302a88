/* outfile.c - see outfile.h. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_TRIES = 1000,
    NAME_PREFIX_BYTES = 200 /* bytes of the name that its temporary name repeats */
};

struct pl_outfile {
    FILE *f;
    char *path; /* NULL: written to directly */
    char *part; /* its temporary name; NULL: it has none */
};

/* ---- the existing file ---- */

static int check_head(const char *path, const pl_outfile_rule *rule, uint64_t bytes)
{
    unsigned char head[PL_OUTFILE_HEAD];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno;
    size_t n = 0;
    ssize_t k;
    while (n < sizeof head && (k = read(fd, head + n, sizeof head - n)) != 0) {
        if (k > 0) n += (size_t)k;
        if (k < 0 && errno != EINTR) break;
    }
    const int why = n < sizeof head && k < 0 ? errno : 0;
    close(fd);
    if (why) return why;
    return rule->is_replaceable && rule->is_replaceable(rule->ctx, head, n, bytes) ? 0 : EEXIST;
}

/* *old: the existing file; st_nlink is 0 if there is none. */
static int check_existing(const char *path, const pl_outfile_rule *rule, struct stat *old)
{
    struct stat link;
    memset(old, 0, sizeof *old);
    if (!*path) return ENOENT;
    if (stat(path, old) != 0) {
        if (errno != ENOENT) return errno;
        const bool dangling = lstat(path, &link) == 0;
        memset(old, 0, sizeof *old);
        return dangling ? ENOENT : 0;
    }
    if (S_ISDIR(old->st_mode)) return EISDIR;
    if (S_ISBLK(old->st_mode)) return rule->force ? 0 : EEXIST;
    if (!S_ISREG(old->st_mode) || rule->force || old->st_size == 0) return 0;
    return check_head(path, rule, (uint64_t)old->st_size);
}

int pl_outfile_may_replace(const char *path, const pl_outfile_rule *rule)
{
    struct stat old;
    return check_existing(path, rule, &old);
}

/* ---- opening ---- */

/* The descriptor that a path names (/dev/stdout, /dev/fd/N, /proc/self/fd/N); -1: none. It is
 * written to as it is: opening it again would truncate a file, and fails for the pipe of another
 * user. */
static int named_descriptor(const char *path)
{
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t k = 0; k < sizeof folder / sizeof *folder; k++) {
        const size_t n = strlen(folder[k]);
        if (strncmp(path, folder[k], n) != 0) continue;
        const size_t digits = strspn(path + n, "0123456789");
        if (digits && digits < 6 && !path[n + digits]) return (int)strtol(path + n, NULL, 10);
    }
    return -1;
}

/* Opens a copy of a descriptor for writing. */
static int open_descriptor(pl_outfile *o, int descriptor)
{
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) return EBADF;
    const int fd = flags < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    o->f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (o->f) return 0;
    const int why = errno;
    if (fd >= 0) close(fd);
    return why;
}

/* The folder of a path; to be freed by the caller. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* Creates an unnamed file in the folder of path, so that nothing remains of it after a failure; -1:
 * not supported here. */
static int make_unnamed(const char *path)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) != 0) return -1;
    char *folder = folder_of(path);
    const int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
#else
    (void)path;
    return -1;
#endif
}

/* Gives a file a new name next to path; creates the file if fd is -1. Returns the descriptor, or
 * -1. */
static int name_part(pl_outfile *o, int fd)
{
    const char *slash = strrchr(o->path, '/'), *name = slash ? slash + 1 : o->path;
    const size_t n = strlen(o->path) + 48;
    char self[40];
    int created = -1;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (!(o->part = malloc(n))) return -1;
    for (int i = 0; i < MAX_TRIES && created < 0; i++) {
        snprintf(o->part, n, "%.*s%.*s.%ld-%d.part", (int)(name - o->path), o->path,
                 NAME_PREFIX_BYTES, name, (long)getpid(), i);
        if (fd < 0)
            created = open(o->part, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
        else
            created = linkat(AT_FDCWD, self, AT_FDCWD, o->part, AT_SYMLINK_FOLLOW) == 0 ? fd : -1;
        if (created < 0 && errno != EEXIST) break;
    }
    if (created >= 0) return created;
    free(o->part);
    o->part = NULL;
    return -1;
}

/* Creates the file next to path, with the permissions of the file that it will replace. */
static int make_file(pl_outfile *o, const struct stat *old)
{
    const char *slash = strrchr(o->path, '/');
    if (slash && !slash[1]) return EISDIR;
    int fd = make_unnamed(o->path);
    if (fd < 0) fd = name_part(o, -1);
    if (fd < 0) return errno;
    struct stat own;
    if (old->st_nlink && fstat(fd, &own) == 0) {
        const bool other = own.st_uid != old->st_uid || own.st_gid != old->st_gid;
        /* If this fails, the file belongs to the current user. */
        if (other && fchown(fd, old->st_uid, old->st_gid) != 0) errno = 0;
        fchmod(fd, old->st_mode & 07777);
    }
    o->f = fdopen(fd, "wb");
    if (o->f) return 0;
    const int why = errno;
    close(fd);
    if (o->part) unlink(o->part);
    return why;
}

/* ENXIO: the pipe has no reader yet. */
static int open_pipe(pl_outfile *o, const char *path)
{
    const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno;
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0) o->f = fdopen(fd, "wb");
    if (o->f) return 0;
    const int why = errno;
    close(fd);
    return why;
}

static int open_outfile(pl_outfile *o, const char *path, const struct stat *old)
{
    if (old->st_nlink && S_ISFIFO(old->st_mode)) return open_pipe(o, path);
    if (old->st_nlink && !S_ISREG(old->st_mode)) {
        o->f = fopen(path, "wb");
        return o->f ? 0 : errno;
    }
    if (old->st_nlink && access(path, W_OK) != 0) return errno;
    o->path = old->st_nlink ? realpath(path, NULL) : strdup(path); /* keeps a symbolic link */
    return o->path ? make_file(o, old) : errno;
}

static void free_outfile(pl_outfile *o)
{
    free(o->part);
    free(o->path);
    free(o);
}

int pl_outfile_open(pl_outfile **out, const char *path, const pl_outfile_rule *rule)
{
    struct stat old;
    const int descriptor = named_descriptor(path);
    *out = NULL;
    int why = descriptor < 0 ? check_existing(path, rule, &old) : 0;
    if (why) return why;
    pl_outfile *o = calloc(1, sizeof *o);
    if (!o) return ENOMEM;
    why = descriptor < 0 ? open_outfile(o, path, &old) : open_descriptor(o, descriptor);
    if (why)
        free_outfile(o);
    else
        *out = o;
    return why;
}

int pl_outfile_check(const char *path, const pl_outfile_rule *rule)
{
    pl_outfile *o;
    struct stat old = {0};
    int why = named_descriptor(path) < 0 ? check_existing(path, rule, &old) : 0;
    /* Opening a pipe would block until it has a reader. */
    if (why || (old.st_nlink && !S_ISREG(old.st_mode))) return why;
    why = pl_outfile_open(&o, path, rule);
    pl_outfile_close(o, false);
    return why;
}

FILE *pl_outfile_stream(pl_outfile *o)
{
    return o->f;
}

/* ---- closing ---- */

static int rename_part(const char *part, const char *path)
{
    if (rename(part, path) != 0) return errno;
    char *folder = folder_of(path);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd); /* best effort: the file itself is already synced */
        close(fd);
    }
    free(folder);
    return 0;
}

int pl_outfile_publish(const char *part, const char *path)
{
    int fd = open(part, O_RDWR | O_CLOEXEC), why = 0;
    if (fd < 0 || fsync(fd) != 0) why = errno;
    if (fd >= 0 && close(fd) != 0 && !why) why = errno;
    return why ? why : rename_part(part, path);
}

int pl_outfile_error(pl_outfile *o)
{
    FILE *f = o->f;
    const bool lost = ferror(f) != 0;
    errno = 0;
    if (fflush(f) != 0) return errno ? errno : EIO;
    if (!lost) return 0;
    clearerr(f); /* the error occurred earlier; retry to obtain the current reason */
    errno = 0;
    return putc('\n', f) == EOF || fflush(f) != 0 ? (errno ? errno : EIO) : EIO;
}

int pl_outfile_close(pl_outfile *o, bool keep)
{
    if (!o) return 0;
    const int fd = fileno(o->f);
    int why = keep ? pl_outfile_error(o) : 0;
    const bool named = keep && !why && o->path;
    if (named && fsync(fd) != 0) why = errno;
    if (named && !why && !o->part && name_part(o, fd) < 0) why = errno;
    if (fclose(o->f) != 0 && keep && !why) why = errno ? errno : EIO;
    if (named && !why) why = rename_part(o->part, o->path);
    if (o->part && (why || !keep)) unlink(o->part);
    free_outfile(o);
    return why;
}
