/* Writes, forks and syncs from a deep stack while a timer fires each 10 ms, with calls that are taken up again by themselves
   and without. Unwinding the stack at each signal takes longer than that. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char page[4096];
static volatile sig_atomic_t ticks;
static void tick(int number) { ticks += number > 0; }

__attribute__((noinline)) static int deep(int frames, int fd) {
  if (frames > 0) return deep(frames - 1, fd) + 1;
  for (int turn = 0; turn < 10; turn++)
    while (write(fd, page, sizeof page) < 0)
      if (errno != EINTR) exit(9);
  pid_t child = fork();
  if (child == 0) _exit(0);
  while (waitpid(child, NULL, 0) < 0)
    if (errno != EINTR) exit(9);
  while (fsync(fd) < 0)
    if (errno != EINTR) exit(9);
  while (ticks == 0) continue;
  return 0;
}

int main(void) {
  struct itimerval each = {{0, 10000}, {0, 10000}};
  int fd = open("timed", O_WRONLY | O_CREAT, 0644);
  for (int restart = 0; restart < 2; restart++) {
    struct sigaction action = {.sa_handler = tick, .sa_flags = restart ? SA_RESTART : 0};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    ticks = 0;
    deep(240, fd);
  }
  return 0;
}
