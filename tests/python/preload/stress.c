/* Opens files as the library of hints may meet it: threads, forks, handlers, cancelled threads, no standard error, exec.
 *
 * Use: stress SEED, in a folder of its own, with the library preloaded and a table that has `short *.log`.
 *
 * Every file is checked to have its hint. Ends with 0, or with the line that failed as status (modulo 200, plus 1). All
 * that handlers and children of fork call is safe in signal handlers, so whatever hangs or aborts is the library's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define GET_RW_HINT 1035
#define SHORT 2
#define STACK 8192 /* SIGSTKSZ of old */

#define MUST(what) \
    do { \
        if (!(what)) \
            _exit(__LINE__ % 200 + 1); \
    } while (0)

static unsigned next(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

static void has_hint(int fd)
{
    uint64_t hint = 99;
    MUST(fd >= 0);
    MUST(fcntl(fd, GET_RW_HINT, &hint) == 0);
    MUST(hint == SHORT);
}

static void open_one(const char *name)
{
    errno = 4711;
    int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    MUST(errno == 4711);
    has_hint(fd);
    close(fd);
}

static void handler(int number)
{
    (void)number;
    int before = errno;
    open_one("handler.log");
    errno = before;
}

static void tick(int which, unsigned micros)
{
    struct itimerval every = {{0, micros}, {0, micros}};
    MUST(setitimer(which, &every, NULL) == 0);
}

static void ended(pid_t child)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        ;
    MUST(pid == child && status == 0);
}

static void forked(unsigned micros)
{
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        tick(ITIMER_REAL, micros);
        for (int i = 0; i < 4; i++)
            open_one("child.log");
        _exit(0);
    }
    ended(child);
}

static void vforked(void)
{
    pid_t child = vfork();
    MUST(child >= 0);
    if (child == 0) {
        int fd = open("vfork.log", O_CREAT | O_WRONLY, 0600);
        uint64_t hint = 0;
        _exit(fd < 0 || fcntl(fd, GET_RW_HINT, &hint) != 0 || hint != SHORT);
    }
    ended(child);
}

static void *works(void *argument)
{
    unsigned state = *(unsigned *)argument;
    char name[] = "XXXXXX.log";
    void *held[16] = {NULL};
    for (int i = 0; i < 8; i++) {
        unsigned kind = next(&state) % 12, slot = next(&state) % 16;
        int fd = -1;
        free(held[slot]);
        held[slot] = malloc(next(&state) % 70000);
        switch (kind) {
        case 0:
            forked(50 + next(&state) % 200);
            continue;
        case 1:
            has_hint(fd = creat("a.log", 0600));
            break;
        case 2:
            has_hint(fd = openat(AT_FDCWD, "b.log", O_CREAT | O_RDWR | O_CLOEXEC, 0600));
            break;
        case 3:
            memset(name, 'X', 6);
            has_hint(fd = mkostemps(name, 4, O_CLOEXEC));
            unlink(name);
            break;
        case 4: {
            FILE *stream = fopen("c.log", "we");
            MUST(stream != NULL);
            has_hint(fileno(stream));
            fclose(stream);
            continue;
        }
        default:
            open_one("d.log");
            continue;
        }
        close(fd);
    }
    for (int i = 0; i < 16; i++)
        free(held[i]);
    return NULL;
}

static void *waits(void *fifo)
{
    open(fifo, O_WRONLY); /* a cancellation point: there is no reader */
    return NULL;
}

static void cancelled(void)
{
    pthread_t thread;
    void *result;
    unlink("fifo");
    MUST(mkfifo("fifo", 0600) == 0);
    MUST(pthread_create(&thread, NULL, waits, (void *)"fifo") == 0);
    MUST(pthread_cancel(thread) == 0);
    MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

/* A handler's stack with a page behind it that faults. */
static void small_stack(void)
{
    char *at = mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(at != MAP_FAILED && mprotect(at, 4096, PROT_NONE) == 0);
    stack_t stack = {.ss_sp = at + 4096, .ss_size = STACK};
    MUST(sigaltstack(&stack, NULL) == 0);
}

/* Data under the number of standard error, and in every third run under every number there is. */
static void take_numbers(unsigned seed)
{
    close(STDERR_FILENO);
    MUST(open("data", O_CREAT | O_TRUNC | O_RDWR, 0600) == STDERR_FILENO);
    MUST(write(STDERR_FILENO, "data", 4) == 4);
    if (seed % 3 == 0)
        for (int fd = 3; fd < 1024; fd++)
            dup2(STDERR_FILENO, fd);
    for (int fd = 3; fd < 1000; fd++)
        close(fd);
}

int main(int count, char **arguments)
{
    MUST(count == 2 || count == 3);
    unsigned seed = (unsigned)atoi(arguments[1]), state = seed * 2654435761u, seeds[64];
    int threads = seed % 16 == 7 ? 64 : 1 << next(&state) % 4;
    pthread_t running[64];
    if (seed % 2 == 0)
        take_numbers(seed);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    if (seed % 4 < 2) {
        small_stack();
        action.sa_flags |= SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    tick(seed % 3 == 0 ? ITIMER_PROF : ITIMER_REAL, 50 + next(&state) % 300);
    if (seed % 5 == 0)
        vforked();
    for (int i = 0; i < threads; i++) {
        seeds[i] = next(&state) + (unsigned)i;
        MUST(pthread_create(&running[i], NULL, works, &seeds[i]) == 0);
    }
    works(&state);
    for (int i = 0; i < threads; i++)
        MUST(pthread_join(running[i], NULL) == 0);
    if (seed % 6 == 1)
        cancelled();
    if (seed % 4 == 1 && count == 2) {
        tick(ITIMER_REAL, 0);
        tick(ITIMER_PROF, 0);
        execl("/proc/self/exe", arguments[0], arguments[1], "last", (char *)NULL);
        MUST(0);
    }
    return 0;
}
