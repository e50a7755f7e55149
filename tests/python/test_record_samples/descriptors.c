/* Ways by which a program changes files, one for each child: what the back ends of the recorder see of each is tested in
   test_record_descriptors.py. Each child writes to a file that bears its name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
static char page[PAGE];
static char stack[65536];

static int must(long result) {
  if (result < 0) {
    perror("descriptors");
    _exit(9);
  }
  return (int)result;
}

static int make(const char *name, int more) { return must(open(name, O_RDWR | O_CREAT | more, 0644)); }

static void put(int fd, int pages) {
  while (pages--)
    if (write(fd, page, PAGE) != PAGE) must(-1);
}

static void send_one(int socket, int fd) {
  char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 'x';
  struct iovec io = {&byte, 1};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  must(sendmsg(socket, &message, 0));
}

static int receive_one(int socket, int many) {
  char space[CMSG_SPACE(sizeof(int))] = {0}, byte;
  int fd;
  struct iovec io = {&byte, 1};
  struct mmsghdr messages = {
      .msg_hdr = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space}};
  must(many ? recvmmsg(socket, &messages, 1, 0, NULL) : recvmsg(socket, &messages.msg_hdr, 0));
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&messages.msg_hdr)), sizeof fd);
  return fd;
}

/* The sender has written a page, and has closed the file before the receiver looks. */
static void pass(const char *name, int many, int deleted, int pages) {
  int pair[2], status;
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  pid_t child = must(fork());
  if (child == 0) {
    int fd = receive_one(pair[1], many);
    put(fd, pages);
    must(fsync(fd));
    _exit(0);
  }
  int fd = make(name, O_TRUNC);
  put(fd, 1);
  if (deleted) must(unlink(name));
  send_one(pair[0], fd);
  close(fd);
  must(waitpid(child, &status, 0));
}

static void passed(void) { pass("passed", 0, 0, 10); }
static void passed_in_many(void) { pass("passed_in_many", 1, 0, 2); }
static void passed_deleted(void) { pass("passed_deleted", 0, 1, 3); }

static void stolen(void) {
  int ready[2], go[2], fd, status;
  must(pipe(ready)), must(pipe(go));
  pid_t child = must(fork());
  if (child == 0) {
    fd = make("stolen", 0);
    put(fd, 1);
    must(write(ready[1], &fd, sizeof fd));
    must(read(go[0], &status, 1));
    _exit(0);
  }
  must(read(ready[0], &fd, sizeof fd));
  int process = must(syscall(SYS_pidfd_open, child, 0));
  put(must(syscall(SYS_pidfd_getfd, process, fd, 0)), 2);
  must(write(go[1], "", 1));
  must(waitpid(child, &status, 0));
}

static void by_proc(void) {
  char path[64];
  int fd = make("by_proc", 0);
  must(unlink("by_proc"));
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int again = must(open(path, O_WRONLY));
  put(again, 2);
  must(fsync(again));
}

static void duplicated(void) {
  int fd = make("duplicated", 0);
  put(must(fcntl(fd, F_DUPFD, 100)), 1);
  put(must(dup2(fd, 50)), 1);
  put(must(dup3(fd, 60, O_CLOEXEC)), 1);
}

static int open_for_all(void *name) {
  make(name, 0); /* 30 is the next number */
  return 0;
}
static int close_alone(void *unused) {
  (void)unused;
  must(unshare(CLONE_FILES));
  must(close(30));
  return 0;
}
static int close_range_alone(void *unused) {
  (void)unused;
  must(syscall(SYS_close_range, 3, ~0U, 2 /* CLOSE_RANGE_UNSHARE */));
  return 0;
}
static void with(int (*what)(void *), void *argument) {
  int status;
  must(waitpid(must(clone(what, stack + sizeof stack, CLONE_FILES | SIGCHLD, argument)), &status, 0));
}
static void shared_table(void) {
  must(syscall(SYS_close_range, 30, ~0U, 0));
  for (int fd = 3; fd < 30; fd++) must(dup2(0, fd));
  with(open_for_all, "shared_table");
  put(30, 1);
  with(close_alone, NULL);
  put(30, 1);
  with(close_range_alone, NULL);
  put(30, 1);
}

static void over_exec(void) {
  must(dup3(make("over_exec", 0), 70, O_CLOEXEC)), must(dup2(make("over_exec", 0), 71));
  must(execl("/proc/self/exe", "descriptors", "after exec", (char *)NULL));
}
static void after_exec(void) {
  if (write(70, page, PAGE) >= 0) _exit(8);
  put(71, 2);
}

static void inherited(void) { put(7, 2); }

static void spliced(void) {
  int pair[2], fd = make("spliced", 0);
  must(pipe(pair));
  put(pair[1], 1);
  must(splice(pair[0], NULL, fd, NULL, PAGE, 0));
}
static void sent(void) {
  int from = make("source", O_TRUNC);
  put(from, 4);
  off_t start = 0;
  must(sendfile(make("sent", 0), from, &start, 2 * PAGE));
}
static void copied(void) {
  int from = make("source", 0), to = make("copied", 0);
  put(from, 4);
  off_t out = 3 * PAGE, in = 0;
  must(copy_file_range(from, &in, to, &out, PAGE, 0)); /* page 3 */
  in = 0;
  must(copy_file_range(from, &in, to, NULL, PAGE, 0)); /* page 0 */
}

static void elsewhere(void) {
  int ends[2], sockets[2];
  must(pipe2(ends, O_CLOEXEC)), must(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
  put(ends[1], 1), put(sockets[0], 1), put(make("/dev/null", 0), 1), put(must(memfd_create("elsewhere", 0)), 1);
  long long one = 1;
  must(write(must(eventfd(0, 0)), &one, sizeof one));
}

static void mapped(void) {
  int fd = make("mapped", 0);
  must(ftruncate(fd, 4 * PAGE));
  char *at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) must(-1);
  memset(at, 'm', 4 * PAGE);
  must(msync(at, 4 * PAGE, MS_SYNC));
  mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
  mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int ring;
static struct io_uring_sqe *entries;
static char *queue, *results;
static struct io_uring_params parameters;
static void ring_up(void) {
  ring = must(syscall(SYS_io_uring_setup, 4, &parameters));
  queue = mmap(NULL, parameters.sq_off.array + 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  results = mmap(NULL, parameters.cq_off.cqes + 256, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  entries = mmap(NULL, 4 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  if (queue == MAP_FAILED || results == MAP_FAILED || entries == MAP_FAILED) must(-1);
}
static int ring_do(struct io_uring_sqe entry) {
  unsigned *tail = (unsigned *)(queue + parameters.sq_off.tail), *head = (unsigned *)(results + parameters.cq_off.head);
  unsigned mask = *(unsigned *)(queue + parameters.sq_off.ring_mask), place = *tail & mask;
  entries[place] = entry;
  ((unsigned *)(queue + parameters.sq_off.array))[place] = place;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  must(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
  struct io_uring_cqe *done = (struct io_uring_cqe *)(results + parameters.cq_off.cqes);
  int result = done[*head & *(unsigned *)(results + parameters.cq_off.ring_mask)].res;
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
  errno = -result;
  return must(result < 0 ? -1 : result);
}
/* A write that only the ring sees; then a descriptor that it opens, to which ordinary calls write. */
static void by_ring(void) {
  ring_up();
  ring_do((struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = make("by_ring", 0), .addr = (unsigned long)page, .len = PAGE});
  struct io_uring_sqe open_it = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (unsigned long)"opened_by_ring"};
  open_it.open_flags = O_WRONLY | O_CREAT, open_it.len = 0644;
  put(ring_do(open_it), 2);
}

static void by_aio(void) {
  aio_context_t context = 0;
  struct io_event event;
  struct iocb write = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = make("by_aio", 0)}, *one = &write;
  write.aio_buf = (unsigned long)page, write.aio_nbytes = PAGE;
  must(syscall(SYS_io_setup, 1, &context)), must(syscall(SYS_io_submit, context, 1, &one));
  must(syscall(SYS_io_getevents, context, 1, 1, &event, NULL));
}

/* A write by the 32-bit interface of the kernel. */
static void by_32_bit(void) {
  int fd = make("by_32_bit", 0);
#ifdef __x86_64__
  long result;
  char *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  memcpy(low, page, PAGE);
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(4), "b"(fd), "c"(low), "d"(PAGE) : "memory");
  must(result == PAGE ? 0 : -1);
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(118 /* fsync */), "b"(fd) : "memory");
  must(result);
#else
  (void)fd;
  _exit(7);
#endif
}

static const struct {
  const char *name;
  void (*run)(void);
} ways[] = {
    {"passed", passed}, {"passed_in_many", passed_in_many}, {"passed_deleted", passed_deleted}, {"stolen", stolen},
    {"by_proc", by_proc}, {"duplicated", duplicated}, {"shared_table", shared_table}, {"over_exec", over_exec},
    {"inherited", inherited}, {"spliced", spliced}, {"sent", sent}, {"copied", copied}, {"elsewhere", elsewhere},
    {"mapped", mapped}, {"by_ring", by_ring}, {"by_aio", by_aio}, {"by_32_bit", by_32_bit},
};

int main(int count, char **arguments) {
  memset(page, 'x', sizeof page);
  if (count > 1 && strcmp(arguments[1], "after exec") == 0) {
    after_exec();
    return 0;
  }
  for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
    if (count > 1 && strcmp(arguments[1], ways[way].name) != 0) continue;
    int status = 0;
    pid_t child = must(fork());
    if (child == 0) {
      ways[way].run();
      _exit(0);
    }
    must(waitpid(child, &status, 0));
    if (status != 0) fprintf(stderr, "%s: status %x\n", ways[way].name, status);
  }
  return 0;
}
