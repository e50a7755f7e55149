/* Gives files write lifetime hints (F_SET_RW_HINT) by their paths, in a program that knows nothing of them.
 *
 * Build: cc -O2 -fexceptions -shared -fPIC -Wl,-z,now -o hints.so hints.c -ldl -lpthread
 * Use:   FLOATGATE_HINTS=hints.table LD_PRELOAD=$PWD/hints.so PROGRAM ...
 *
 * Wraps the functions by which a C library opens files. A regular file that is opened for writing gets the hint of the
 * first row of the table whose pattern matches its path, as /proc tells it. A row is a hint (short, medium, long,
 * extreme, none), one space and a pattern. In a pattern * stands for any characters but /, ? for one character but /,
 * [x] for x. A pattern that begins with / is matched with the whole path, one of n components with the last n. Lines
 * that begin with # are comments. A table with a damaged row gives no hints at all.
 *
 * Programs open files in signal handlers, in children of vfork, between fork and exec, and in threads that are forked
 * or cancelled. Therefore:
 * - A constructor loads the table and resolves every wrapped function (-z now: and every function that we call). From
 *   then on nothing that the wrappers use is written to, except atomic counters.
 * - The wrappers may be cancelled and unwound (-fexceptions), as open may.
 * - The wrappers add fstat, readlink and fcntl to an open: calls that are safe in signal handlers. They take no lock,
 *   allocate nothing and need 1 KiB of stack (5 KiB for paths beyond 511 bytes), since handlers may run on 8 KiB.
 * - The program sees no error of ours: errno stays.
 * - Messages go to the standard error of the program's start, at its start and (FLOATGATE_HINTS_VERBOSE=1) at its end,
 *   and only while that descriptor still refers to the same file.
 *
 * Out of reach: programs that call the kernel themselves (static ones, Go, io_uring), functions that open files within
 * the C library (tmpfile, posix_spawn), and files that are opened before the constructor or received from others.
 */
#undef _FORTIFY_SOURCE /* makes open and its like inline functions */
#undef _FILE_OFFSET_BITS /* makes open another name of open64 */
#undef _TIME_BITS
#undef _GNU_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if ATOMIC_LONG_LOCK_FREE != 2 || ATOMIC_POINTER_LOCK_FREE != 2
#error "signal handlers need atomics without locks"
#endif

#ifndef F_SET_RW_HINT
#define F_SET_RW_HINT 1036 /* F_LINUX_SPECIFIC_BASE + 12, since Linux 4.13 */
#endif

#ifdef __GLIBC__ /* fstat of 32-bit programs fails on large files */
typedef struct stat64 file_status;
#define status_of fstat64
#else
typedef struct stat file_status;
#define status_of fstat
#endif

/* Limits of a table; fcntl.py refuses to write more. */
#define TABLE_BYTES_MAX (16u << 20)
#define TABLE_ROWS_MAX 65536u

#define MESSAGE_BYTES 512
#define SHORT_PATH_BYTES 512
#define LONG_PATH_BYTES 4097 /* readlink in /proc tells no longer paths */

/* Patterns */

/* The bytes of the character at the start of a text: those of a UTF-8 sequence, else one. So does Python when it decodes
 * names of files (surrogateescape). */
static size_t character(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0xc2 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 1;
    /* The second byte excludes longer forms of short sequences, surrogates, and what is beyond Unicode. */
    unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < length; i++, low = 0x80, high = 0xbf)
        if (at[i] < low || at[i] > high)
            return 1;
    return length;
}

/* Whether a pattern matches a text as a whole. fnmatch would do, but glibc's may allocate. A star takes as little as
 * possible; where the rest fails, the last star takes one character more. Earlier stars need no second try: what the
 * last one can take includes what they could leave to it, and none takes a slash. */
static int matches(const char *pattern, const char *text)
{
    const char *after_star = NULL, *retry = NULL;
    for (;;) {
        if (*pattern == '*') {
            after_star = ++pattern;
            retry = text;
            continue;
        }
        if (*pattern == '\0' && *text == '\0')
            return 1;
        if (*pattern != '\0' && *text != '\0') {
            const char *expected = pattern;
            size_t length = character(pattern), step = length, taken = character(text);
            if (*pattern == '[' && pattern[1] != '\0' && pattern[1 + character(pattern + 1)] == ']') {
                expected = pattern + 1;
                length = character(expected);
                step = length + 2;
            }
            if (*pattern == '?' ? *text != '/' : length == taken && memcmp(expected, text, taken) == 0) {
                if (*text == '/')
                    after_star = NULL;
                pattern += step;
                text += taken;
                continue;
            }
        }
        if (after_star == NULL || *retry == '\0' || *retry == '/')
            return 0;
        retry += character(retry);
        pattern = after_star;
        text = retry;
    }
}

/* The number of last components of a path that a pattern is matched with; 0 stands for the whole path. */
static size_t components_of(const char *pattern)
{
    size_t components = *pattern != '/';
    for (const char *at = pattern; *pattern != '/' && *at != '\0'; at++)
        components += *at == '/';
    return components;
}

/* The last components of a path; NULL if it has fewer. */
static const char *tail(const char *path, size_t components)
{
    if (components == 0)
        return path;
    for (const char *at = path + strlen(path); at > path; at--)
        if (at[-1] == '/' && --components == 0)
            return at;
    return components == 1 ? path : NULL;
}

/* The table */

struct row {
    uint64_t hint;
    size_t components;
    const char *pattern;
};

/* Mapped rather than allocated: read-only once it is loaded, and independent of the program's allocator. */
struct table {
    char *text;
    size_t text_bytes;
    struct row *rows;
    size_t rows_bytes;
    size_t count;
};

/* In the order of RWH_WRITE_LIFE_*, from NONE = 1. */
static const char *const hint_names[] = {"none", "short", "medium", "long", "extreme"};

/* The number of the first row that matches; the number of rows if none does. */
static size_t first_row(const struct row *rows, size_t count, const char *path)
{
    const char *end = path;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].components != rows[i - 1].components)
            end = tail(path, rows[i].components);
        if (end != NULL && matches(rows[i].pattern, end))
            return i;
    }
    return count;
}

static void *mapped(size_t bytes, int sharing)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void drop(struct table *table)
{
    if (table->text != NULL)
        munmap(table->text, table->text_bytes);
    if (table->rows != NULL)
        munmap(table->rows, table->rows_bytes);
    *table = (struct table){0};
}

/* Reads the whole file; says what is wrong, or NULL. A copy, since a mapping of a file that shrinks ends in SIGBUS. */
static const char *read_text(const char *path, struct table *table, size_t *length)
{
    /* O_NONBLOCK: a FIFO without a writer must not stop the program. By number, since `open` is our own. */
    int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_LARGEFILE;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
    if (fd < 0)
        return strerror(errno);
    file_status about;
    const char *wrong = NULL;
    if (status_of(fd, &about) != 0)
        wrong = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        wrong = "is not a regular file; expected a table that floatgate placement --format fcntl wrote";
    else if (about.st_size > (long long)TABLE_BYTES_MAX)
        wrong = "is too large; expected at most 16 MiB";
    if (wrong == NULL) {
        table->text_bytes = (size_t)about.st_size + 1;
        table->text = mapped(table->text_bytes, MAP_PRIVATE);
        wrong = table->text == NULL ? strerror(errno) : NULL;
    }
    ssize_t more = 1;
    for (*length = 0; wrong == NULL && more > 0 && *length < table->text_bytes; *length += more > 0 ? (size_t)more : 0)
        if ((more = read(fd, table->text + *length, table->text_bytes - *length)) < 0)
            wrong = strerror(errno);
    if (wrong == NULL && *length != (size_t)about.st_size)
        wrong = "changed while it was read";
    close(fd);
    return wrong;
}

/* Takes a line that ends in a zero byte; says what is wrong, or NULL. */
static const char *add(struct table *table, const char *line, size_t length)
{
    if (memchr(line, '\0', length) != NULL || memchr(line, '\r', length) != NULL)
        return "has a zero byte or a carriage return; expected lines of text that end in a newline";
    if (length == 0 || line[0] == '#')
        return NULL;
    for (size_t hint = 0; hint < sizeof hint_names / sizeof *hint_names; hint++) {
        size_t name = strlen(hint_names[hint]);
        if (strncmp(line, hint_names[hint], name) == 0 && line[name] == ' ' && line[name + 1] != '\0') {
            if (table->count == TABLE_ROWS_MAX)
                return "is one row too many; expected at most 65536";
            const char *pattern = line + name + 1;
            table->rows[table->count++] = (struct row){hint + 1, components_of(pattern), pattern};
            return NULL;
        }
    }
    return "is not a hint with a pattern; expected short, medium, long, extreme or none, one space, and a pattern";
}

/* Loads a table. Returns NULL, or what is wrong with the line `*number` (0: with the file), and then no table. */
static const char *load(const char *path, struct table *table, size_t *number)
{
    size_t length = 0, lines = 1;
    *table = (struct table){0};
    *number = 0;
    const char *wrong = read_text(path, table, &length);
    if (wrong == NULL) {
        for (size_t i = 0; i < length; i++)
            lines += table->text[i] == '\n';
        table->rows_bytes = (lines < TABLE_ROWS_MAX ? lines : TABLE_ROWS_MAX) * sizeof *table->rows;
        table->rows = mapped(table->rows_bytes, MAP_PRIVATE);
        wrong = table->rows == NULL ? strerror(errno) : NULL;
    }
    for (size_t at = 0; wrong == NULL && at < length;) {
        char *end = memchr(table->text + at, '\n', length - at);
        size_t bytes = end == NULL ? length - at : (size_t)(end - table->text) - at;
        table->text[at + bytes] = '\0';
        ++*number;
        wrong = add(table, table->text + at, bytes);
        at += bytes + 1;
    }
    if (wrong != NULL)
        drop(table);
    return wrong;
}

#ifndef FLOATGATE_HINTS_TABLE_ONLY /* tests of the above */

/* Messages */

/* Which file a descriptor refers to. */
struct identity {
    file_status about;
    int flags;
    int64_t born_s;
    uint32_t born_ns;
};

static int identity_of(int fd, struct identity *identity)
{
    memset(identity, 0, sizeof *identity);
    identity->flags = fcntl(fd, F_GETFL);
    if (identity->flags < 0 || status_of(fd, &identity->about) != 0)
        return 0;
#if defined(STATX_BTIME) && defined(SYS_statx)
    /* File systems give the number of a deleted file to the next one. */
    struct statx more;
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME) != 0) {
        identity->born_s = more.stx_btime.tv_sec;
        identity->born_ns = more.stx_btime.tv_nsec;
    }
#endif
    return 1;
}

static int same(const struct identity *one, const struct identity *other)
{
    return one->about.st_dev == other->about.st_dev && one->about.st_ino == other->about.st_ino
        && (one->about.st_mode & S_IFMT) == (other->about.st_mode & S_IFMT) && one->born_s == other->born_s
        && one->born_ns == other->born_ns;
}

/* Whether a descriptor with the number of standard error may be that. Where a parent closed it, the number can belong
 * to a file of data, which programs mostly open for reading too. */
static int takes_messages(const struct identity *identity)
{
    int access = identity->flags & O_ACCMODE;
    if (S_ISREG(identity->about.st_mode))
        return access == O_WRONLY;
    return access != O_RDONLY && !S_ISBLK(identity->about.st_mode);
}

/* Writes unless that would wait; a reader who left costs the message, not the program (SIGPIPE). */
static void put(int fd, const char *text, size_t length)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0)
        return;
    sigset_t pipes, before, pending;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    sigemptyset(&pending);
    if (sigpending(&pending) != 0 || pthread_sigmask(SIG_BLOCK, &pipes, &before) != 0)
        return;
    if (write(fd, text, length) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
        struct timespec none = {0};
        while (sigtimedwait(&pipes, NULL, &none) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int voice = -1; /* our copy of standard error, for the end */
static struct identity voice_identity; /* of standard error at the start */

__attribute__((format(printf, 2, 3))) static void say(int fd, const char *form, ...)
{
    char text[MESSAGE_BYTES];
    struct identity now;
    if (!identity_of(fd, &now) || !same(&now, &voice_identity) || !takes_messages(&now))
        return;
    va_list rest;
    va_start(rest, form);
    int length = vsnprintf(text, sizeof text - 1, form, rest);
    va_end(rest);
    if (length < 0 || (size_t)length > sizeof text - 2)
        length = length < 0 ? 0 : sizeof text - 2;
    for (int i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '?';
    text[length] = '\n';
    put(fd, text, (size_t)length + 1);
}

/* What happens after the constructor */

static struct table table; /* mapped read-only */
static atomic_size_t active_rows; /* its rows; 0 before the constructor and without a table */

/* By row, then these. Shared with children by fork, whose opens the process that loaded the library reports. */
enum { UNMATCHED, REFUSED, OTHERS };
static atomic_ulong *counts;
static pid_t loaded_in;

static void count(size_t which)
{
    if (counts != NULL)
        atomic_fetch_add_explicit(&counts[which], 1, memory_order_relaxed);
}

/* The length of the path that a descriptor refers to; cut at the end if it fills the room, negative if unknown. */
static ssize_t path_of(int fd, char *path, size_t room)
{
    /* A thread can have descriptors of its own, which /proc/self does not show. */
    char link[48] = "/proc/thread-self/fd/", digits[16];
    size_t at = strlen(link), number = 0;
    do
        digits[number++] = (char)('0' + fd % 10);
    while ((fd /= 10) != 0);
    while (number > 0)
        link[at++] = digits[--number];
    link[at] = '\0';
    ssize_t length = readlink(link, path, room - 1);
    if (length >= 0)
        path[length] = '\0';
    return length;
}

/* Apart, since only long paths need the stack. Where /proc has no path, the name that the program gave counts. */
__attribute__((noinline)) static size_t row_of_long(int fd, const char *name, size_t rows)
{
    char path[LONG_PATH_BYTES];
    if (path_of(fd, path, sizeof path) > 0)
        return first_row(table.rows, rows, path);
    return name == NULL ? rows : first_row(table.rows, rows, name);
}

__attribute__((noinline)) static size_t row_of(int fd, const char *name, size_t rows)
{
    char path[SHORT_PATH_BYTES];
    ssize_t length = path_of(fd, path, sizeof path);
    if (length > 0 && (size_t)length < sizeof path - 1)
        return first_row(table.rows, rows, path);
    return row_of_long(fd, name, rows);
}

static void give(int fd, int flags, const char *name)
{
    size_t rows = atomic_load_explicit(&active_rows, memory_order_acquire);
    if (rows == 0 || fd < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) == O_PATH)
        return;
    int before = errno;
    file_status about;
    if (status_of(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        /* The name of a temporary file without a name is that of its folder. */
        size_t row = row_of(fd, (flags & O_TMPFILE) == O_TMPFILE ? NULL : name, rows);
        if (row == rows)
            count(rows + UNMATCHED);
        else
            count(fcntl(fd, F_SET_RW_HINT, &table.rows[row].hint) == 0 ? row : rows + REFUSED);
    }
    errno = before;
}

/* The functions of the C library that ours stand before */

/* All of them, by their parameters, with the flag that the kernel needs for large files. */
#ifdef __GLIBC__
#define EACH(OPEN, OPENAT, OPEN_2, OPENAT_2, CREAT, FOPEN, FREOPEN, MKSTEMP, MKSTEMP_WITH, MKOSTEMPS) \
    OPEN(open, 0) OPEN(open64, O_LARGEFILE) OPENAT(openat, 0) OPENAT(openat64, O_LARGEFILE) \
    OPEN_2(__open_2, 0) OPEN_2(__open64_2, O_LARGEFILE) OPENAT_2(__openat_2, 0) OPENAT_2(__openat64_2, O_LARGEFILE) \
    CREAT(creat, 0) CREAT(creat64, O_LARGEFILE) FOPEN(fopen, 0) FOPEN(fopen64, 0) FREOPEN(freopen, 0) \
    FREOPEN(freopen64, 0) MKSTEMP(mkstemp, 0) MKSTEMP(mkstemp64, 0) MKSTEMP_WITH(mkostemp, 0) \
    MKSTEMP_WITH(mkostemp64, 0) MKSTEMP_WITH(mkstemps, 0) MKSTEMP_WITH(mkstemps64, 0) MKOSTEMPS(mkostemps, 0) \
    MKOSTEMPS(mkostemps64, 0)
/* What open and openat become where a program is built with _FORTIFY_SOURCE and gives no mode. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags);
#else
#define EACH(OPEN, OPENAT, OPEN_2, OPENAT_2, CREAT, FOPEN, FREOPEN, MKSTEMP, MKSTEMP_WITH, MKOSTEMPS) \
    OPEN(open, O_LARGEFILE) OPENAT(openat, O_LARGEFILE) CREAT(creat, O_LARGEFILE) FOPEN(fopen, 0) FREOPEN(freopen, 0) \
    MKSTEMP(mkstemp, 0) MKSTEMP_WITH(mkostemp, 0) MKSTEMP_WITH(mkstemps, 0) MKOSTEMPS(mkostemps, 0)
#endif
#define ALL(X) EACH(X, X, X, X, X, X, X, X, X, X)

#define FOUND(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))
#define NEXT(name) atomic_load_explicit(&known_##name, memory_order_relaxed)
#define KNOWN(name, large) static _Atomic(__typeof__(&name)) known_##name;
#define RESOLVE(name, large) atomic_store_explicit(&known_##name, FOUND(name), memory_order_relaxed);
ALL(KNOWN)

#define MODE(mode, flags) \
    mode_t mode = 0; \
    va_list rest; \
    va_start(rest, flags); \
    if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) \
        mode = va_arg(rest, mode_t); \
    va_end(rest);

static int given(int fd, int flags, const char *name)
{
    give(fd, flags, name);
    return fd;
}

static FILE *stream_given(FILE *stream, const char *mode, const char *name)
{
    if (stream != NULL && (mode[0] != 'r' || strchr(mode, '+') != NULL))
        give(fileno(stream), O_RDWR, name);
    return stream;
}

/* Constructors of other libraries may run before ours, and may open files. The open family then calls the kernel, which
 * is safe even in their signal handlers. */
#define OR_RAW(name, parameters, prepare, arguments, at, flags, mode, large) \
    int name parameters \
    { \
        prepare \
        __typeof__(&name) next = NEXT(name); \
        int fd = next != NULL ? next arguments : (int)syscall(SYS_openat, at, path, (flags) | (large), mode); \
        return given(fd, flags, path); \
    }
#define OPEN(name, large) \
    OR_RAW(name, (const char *path, int flags, ...), MODE(mode, flags), (path, flags, mode), AT_FDCWD, flags, mode, \
           large)
#define OPENAT(name, large) \
    OR_RAW(name, (int at, const char *path, int flags, ...), MODE(mode, flags), (at, path, flags, mode), at, flags, \
           mode, large)
#define OPEN_2(name, large) \
    OR_RAW(name, (const char *path, int flags), , (path, flags), AT_FDCWD, flags, 0, large)
#define OPENAT_2(name, large) \
    OR_RAW(name, (int at, const char *path, int flags), , (at, path, flags), at, flags, 0, large)
#define CREAT(name, large) \
    OR_RAW(name, (const char *path, mode_t mode), , (path, mode), AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, mode, large)

/* Others look the function up in that case: no handler may call them anyway. */
#define OR_LOOKED_UP(type, name, parameters, failed, result) \
    type name parameters \
    { \
        __typeof__(&name) next = NEXT(name); \
        if (next == NULL && (next = FOUND(name)) == NULL) { \
            errno = ENOSYS; \
            return failed; \
        } \
        return result; \
    }
#define FOPEN(name, large) \
    OR_LOOKED_UP(FILE *, name, (const char *path, const char *mode), NULL, stream_given(next(path, mode), mode, path))
#define FREOPEN(name, large) \
    OR_LOOKED_UP(FILE *, name, (const char *path, const char *mode, FILE *stream), NULL, \
                 stream_given(next(path, mode, stream), mode, path))
#define MKSTEMP(name, large) OR_LOOKED_UP(int, name, (char *path), -1, given(next(path), O_RDWR, path))
#define MKSTEMP_WITH(name, large) \
    OR_LOOKED_UP(int, name, (char *path, int with), -1, given(next(path, with), O_RDWR, path))
#define MKOSTEMPS(name, large) \
    OR_LOOKED_UP(int, name, (char *path, int suffix, int flags), -1, given(next(path, suffix, flags), O_RDWR, path))

EACH(OPEN, OPENAT, OPEN_2, OPENAT_2, CREAT, FOPEN, FREOPEN, MKSTEMP, MKSTEMP_WITH, MKOSTEMPS)

/* Start and end */

/* Takes a copy of standard error with a high number, where few programs get in its way. */
static void find_voice(void)
{
    struct rlimit limit;
    int below = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024 ? (int)limit.rlim_cur : 1024;
    voice = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, below > 32 ? below - 16 : below / 2);
}

static void start_table(void)
{
    /* Not the environment's where the program has more rights than its user. */
    const char *path = secure_getenv("FLOATGATE_HINTS"), *wanted = secure_getenv("FLOATGATE_HINTS_VERBOSE");
    int verbose = wanted != NULL && strcmp(wanted, "0") != 0 && wanted[0] != '\0';
    if (!identity_of(STDERR_FILENO, &voice_identity))
        verbose = 0;
    if (path == NULL || path[0] == '\0') {
        if (verbose)
            say(STDERR_FILENO, "floatgate hints: FLOATGATE_HINTS names no table; no file gets a hint");
        return;
    }
    size_t line;
    const char *wrong = load(path, &table, &line);
    if (wrong != NULL) {
        char where[32] = "";
        if (line > 0)
            snprintf(where, sizeof where, ":%zu", line);
        say(STDERR_FILENO, "floatgate hints: %.200s%s: %s; no file gets a hint", path, where, wrong);
        return;
    }
    mprotect(table.text, table.text_bytes, PROT_READ);
    mprotect(table.rows, table.rows_bytes, PROT_READ);
    if (verbose) {
        say(STDERR_FILENO, "floatgate hints: %.200s: %zu patterns", path, table.count);
        find_voice();
        counts = mapped((table.count + OTHERS) * sizeof *counts, MAP_SHARED);
        loaded_in = getpid();
    }
    atomic_store_explicit(&active_rows, table.count, memory_order_release);
}

__attribute__((constructor)) static void start(void)
{
    int before = errno; /* main is to find 0 */
    ALL(RESOLVE)
    dlerror(); /* of functions that this C library lacks */
    start_table();
    errno = before;
}

/* Says how many files got which hint, in the process that loaded the library. */
__attribute__((destructor)) static void end(void)
{
    if (counts == NULL || voice < 0 || getpid() != loaded_in)
        return;
    for (size_t i = 0; i < table.count; i++) {
        unsigned long files = atomic_load(&counts[i]);
        if (files > 0)
            say(voice, "floatgate hints: %lu opened with the hint of %s %.300s", files,
                hint_names[table.rows[i].hint - 1], table.rows[i].pattern);
    }
    say(voice, "floatgate hints: %lu match no pattern, %lu take no hint",
        atomic_load(&counts[table.count + UNMATCHED]), atomic_load(&counts[table.count + REFUSED]));
}
#endif
