/* Gives files write lifetime hints (F_SET_RW_HINT) by their paths, in a program that knows nothing of them.
 *
 * Build: cc -O2 -shared -fPIC -o hints.so hints.c -ldl -lpthread
 * Use:   FLOATGATE_HINTS=hints.table LD_PRELOAD=$PWD/hints.so PROGRAM ...
 *
 * Wraps the functions by which a C library opens files. A regular file that is opened for writing gets the hint of the
 * first line of the table whose pattern matches its path, as /proc/self/fd tells it. A line is a hint (short, medium,
 * long, extreme, none), one space and a pattern, for fnmatch with FNM_PATHNAME and FNM_NOESCAPE; a pattern of n
 * components without a leading slash is matched with the last n components of the path. Lines that begin with # are
 * comments.
 *
 * The program never sees an error of ours: errno stays, and without a table nothing is done. FLOATGATE_HINTS_VERBOSE=1
 * reports on standard error. Out of reach are programs that call the kernel themselves (static ones, Go, io_uring) and
 * files that are opened before this library is loaded or received from others.
 */
#undef _FORTIFY_SOURCE /* which makes open and its like inline functions */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SET_RW_HINT
#define F_SET_RW_HINT 1036 /* F_LINUX_SPECIFIC_BASE + 12, since Linux 4.13 */
#endif

#define LONGEST 4096

struct line {
    uint64_t hint;
    int components; /* 0: the whole path */
    char *pattern;
};

static struct line *lines;
static size_t count;
static int verbose;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void report(const char *what, const char *path, const char *more)
{
    if (verbose)
        dprintf(STDERR_FILENO, "floatgate hints: %s: %s%s%s\n", path, what, more ? " " : "", more ? more : "");
}

static int hint_of(const char *name, uint64_t *hint)
{
    /* In the order of RWH_WRITE_LIFE_*, from NONE. */
    static const char *const names[] = {"none", "short", "medium", "long", "extreme"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *hint = i + 1;
            return 1;
        }
    }
    return 0;
}

static int add(char *text)
{
    char *pattern = strchr(text, ' ');
    uint64_t hint;
    if (pattern == NULL || pattern[1] == '\0')
        return 0;
    *pattern++ = '\0';
    if (!hint_of(text, &hint))
        return 0;
    struct line *more = realloc(lines, (count + 1) * sizeof *lines);
    if (more == NULL)
        return 0;
    lines = more;
    char *copy = strdup(pattern);
    if (copy == NULL)
        return 0;
    int components = copy[0] == '/' ? 0 : 1;
    for (const char *at = copy; components != 0 && *at != '\0'; at++)
        components += *at == '/';
    lines[count++] = (struct line){hint, components, copy};
    return 1;
}

static FILE *real_fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return next == NULL ? NULL : next(path, mode);
}

static void load(void)
{
    const char *asked = getenv("FLOATGATE_HINTS_VERBOSE"), *path = getenv("FLOATGATE_HINTS");
    verbose = asked != NULL && strcmp(asked, "0") != 0 && asked[0] != '\0';
    if (path == NULL) {
        report("names no table; expected a file that floatgate placement --format fcntl wrote", "FLOATGATE_HINTS", NULL);
        return;
    }
    FILE *in = real_fopen(path, "re");
    if (in == NULL) {
        report("cannot be read", path, NULL);
        return;
    }
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&text, &room, in)) >= 0) {
        if (length > 0 && text[length - 1] == '\n')
            text[length - 1] = '\0';
        if (text[0] != '#' && text[0] != '\0' && !add(text))
            report("a line is no hint and pattern:", path, text);
    }
    free(text);
    fclose(in);
}

/* The last components of a path; NULL if it has fewer. */
static const char *tail(const char *path, int components)
{
    if (components == 0)
        return path;
    for (const char *at = path + strlen(path); at > path; at--)
        if (at[-1] == '/' && --components == 0)
            return at;
    return NULL;
}

static void give(int fd, int flags, const char *name)
{
    if (fd < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) == O_PATH)
        return;
    int before = errno;
    struct stat about;
    char link[64], path[LONGEST + 1];
    pthread_once(&once, load);
    if (count == 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        goto done;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, LONGEST);
    if (length > 0)
        path[length] = '\0';
    else
        snprintf(path, sizeof path, "%s", name == NULL ? "" : name);
    for (size_t i = 0; i < count; i++) {
        const char *end = tail(path, lines[i].components);
        if (end != NULL && fnmatch(lines[i].pattern, end, FNM_PATHNAME | FNM_NOESCAPE) == 0) {
            if (fcntl(fd, F_SET_RW_HINT, &lines[i].hint) == 0)
                report("has the hint of", path, lines[i].pattern);
            else
                report("takes no hint:", path, strerror(errno));
            goto done;
        }
    }
    report("matches no pattern", path, NULL);
done:
    errno = before;
}

/* The function of the C library that ours stands before. */
#define NEXT(name, failed) \
    static __typeof__(&name) known; \
    __typeof__(&name) next = __atomic_load_n(&known, __ATOMIC_RELAXED); \
    if (next == NULL) { \
        next = (__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name); \
        __atomic_store_n(&known, next, __ATOMIC_RELAXED); \
    } \
    if (next == NULL) { \
        errno = ENOSYS; \
        return failed; \
    }

#define MODE(mode, flags) \
    mode_t mode = 0; \
    if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

#define GIVEN(fd, flags, path) \
    int opened = (fd); \
    give(opened, flags, path); \
    return opened;

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        MODE(mode, flags) \
        NEXT(name, -1) \
        GIVEN(next(path, flags, mode), flags, path) \
    }

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) \
    { \
        MODE(mode, flags) \
        NEXT(name, -1) \
        GIVEN(next(at, path, flags, mode), flags, path) \
    }

#define CREAT(name) \
    int name(const char *path, mode_t mode) \
    { \
        NEXT(name, -1) \
        GIVEN(next(path, mode), O_WRONLY, path) \
    }

static FILE *stream_given(FILE *stream, const char *mode, const char *path)
{
    if (stream != NULL && (mode[0] != 'r' || strchr(mode, '+') != NULL))
        give(fileno(stream), O_RDWR, path);
    return stream;
}

#define FOPEN(name) \
    FILE *name(const char *path, const char *mode) \
    { \
        NEXT(name, NULL) \
        return stream_given(next(path, mode), mode, path); \
    }

#define FREOPEN(name) \
    FILE *name(const char *path, const char *mode, FILE *stream) \
    { \
        NEXT(name, NULL) \
        return stream_given(next(path, mode, stream), mode, path); \
    }

#define MKSTEMP(name) \
    int name(char *path) \
    { \
        NEXT(name, -1) \
        GIVEN(next(path), O_RDWR, path) \
    }

#define MKSTEMP_WITH(name) \
    int name(char *path, int with) \
    { \
        NEXT(name, -1) \
        GIVEN(next(path, with), O_RDWR, path) \
    }

#define MKOSTEMPS(name) \
    int name(char *path, int suffix, int flags) \
    { \
        NEXT(name, -1) \
        GIVEN(next(path, suffix, flags), O_RDWR, path) \
    }

OPEN(open)
OPENAT(openat)
CREAT(creat)
FOPEN(fopen)
FREOPEN(freopen)
MKSTEMP(mkstemp)
MKSTEMP_WITH(mkostemp)
MKSTEMP_WITH(mkstemps)
MKOSTEMPS(mkostemps)

#ifdef __GLIBC__
OPEN(open64)
OPENAT(openat64)
CREAT(creat64)
FOPEN(fopen64)
FREOPEN(freopen64)
MKSTEMP(mkstemp64)
MKSTEMP_WITH(mkostemp64)
MKSTEMP_WITH(mkstemps64)
MKOSTEMPS(mkostemps64)

/* What open and openat become where a program is built with _FORTIFY_SOURCE and gives no mode. */
#define OPEN_2(name) \
    int name(const char *path, int flags); \
    int name(const char *path, int flags) \
    { \
        NEXT(name, -1) \
        GIVEN(next(path, flags), flags, path) \
    }

#define OPENAT_2(name) \
    int name(int at, const char *path, int flags); \
    int name(int at, const char *path, int flags) \
    { \
        NEXT(name, -1) \
        GIVEN(next(at, path, flags), flags, path) \
    }

OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)
#endif
