/*
 * PID 1 of a sandbox: starts what the engine asks for and reaps what nobody waits for.
 *
 * It is handed to runc as a sealed memory file, needs nothing of the image (no libc, no loader, no shell), allocates
 * nothing and parses nothing in PID 1: a request is decoded by the forked child alone.
 *
 *   fd 0  SOCK_SEQPACKET to the engine. One request is one message with four descriptors: the request itself (a
 *         memory file, see `struct request`), stdin, stdout and stderr. Replies are `struct reply`.
 *   fd 1  this program (left open, so that 0 to 2 stay taken)
 *   fd 2  runc's log until the hello is out
 *
 * When the engine's end of the socket closes (the engine died, however), init ends, and the kernel kills everything
 * else in the PID namespace with it. Not dumpable: nothing in the sandbox can trace it or reach its descriptors.
 *
 * Build: build.sh
 */
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { HELLO = 1, STARTED = 2, EXITED = 3, REFUSED = 4 };
enum { SOCKET = 0, REQUEST = 0, DESCRIPTORS = 4 };

struct reply {
    int32_t kind;
    int32_t pid;   /* in the sandbox's namespace */
    int32_t value; /* EXITED: wait status; REFUSED: errno */
};

/* Everything else follows in the same memory file. Offsets count from its start; the two tables hold offsets of
 * NUL-terminated strings and end with a 0, and become argv and envp in place. */
struct request {
    uint64_t size, cwd, argv, envp, groups;
    uint32_t group_count, uid, gid, reserved;
};

#if defined(__x86_64__)
static long call6(long n, long a, long b, long c, long d, long e, long f) {
    long r;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}
__asm__(".globl _start\n_start: xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call run\n hlt\n");
#elif defined(__aarch64__)
static long call6(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
__asm__(".globl _start\n_start: mov x29,#0\n mov x30,#0\n mov x0,sp\n bl run\n");
#else
#error "this machine's system call convention is not written down here"
#endif

#define CALL(n, a, b, c, d) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL6(n, a, b, c, d, e, f) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

void *memset(void *to, int byte, size_t n) {
    char *p = to;
    while (n--) {
        *p++ = (char)byte;
        __asm__ volatile("" ::: "memory"); /* or the compiler makes this loop a call of memset */
    }
    return to;
}

static size_t length(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

static void leave(int code) {
    for (;;) CALL(__NR_exit_group, code, 0, 0, 0);
}

static void complain(const char *what, const char *about, const char *why) {
    const char *parts[] = {"envs-forge: ", what, about, why, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CALL(__NR_write, 2, parts[i], length(parts[i]), 0);
}

/* --- the child: from the request to the command ------------------------------------------------------------- */

static const char *reason(long error) {
    switch (error) {
    case -ENOENT: return ": no such file or directory";
    case -EACCES: return ": permission denied";
    case -ENOEXEC: return ": exec format error";
    case -ENOTDIR: return ": not a directory";
    case -ELOOP: return ": too many links";
    case -E2BIG: return ": argument list too long";
    case -ENOMEM: return ": out of memory";
    case -ENAMETOOLONG: return ": name too long";
    case -EPERM: return ": not permitted";
    default: return ": cannot be run";
    }
}

static const char *search_path(char **envp) {
    for (; *envp; envp++) {
        const char *e = *envp;
        if (e[0] == 'P' && e[1] == 'A' && e[2] == 'T' && e[3] == 'H' && e[4] == '=') return e + 5;
    }
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

static int has_slash(const char *s) {
    for (; *s; s++)
        if (*s == '/') return 1;
    return 0;
}

/* Returns only on failure, with the error that says most. */
static long execute(char **argv, char **envp) {
    static char path[4096];
    const char *name = argv[0];
    size_t name_length = length(name);
    long worst = -ENOENT;
    if (has_slash(name) || !*name) return CALL(__NR_execve, name, argv, envp, 0);
    for (const char *p = search_path(envp);; p++) {
        size_t n = 0;
        for (; *p && *p != ':'; p++)
            if (n < sizeof path) path[n++] = *p;
        if (n + name_length + 3 <= sizeof path) {
            if (!n) path[n++] = '.';
            path[n++] = '/';
            for (size_t i = 0; i <= name_length; i++) path[n + i] = name[i];
            long error = CALL(__NR_execve, path, argv, envp, 0);
            if (error != -ENOENT && error != -ENOTDIR && error != -EACCES) return error;
            if (error == -EACCES) worst = error;
        }
        if (!*p) return worst;
    }
}

static void restore_signals(void) {
    struct { void *handler; unsigned long flags; void *restorer; uint64_t mask; } usual;
    memset(&usual, 0, sizeof usual);
    for (int signal = 1; signal <= 64; signal++) CALL(__NR_rt_sigaction, signal, &usual, 0, 8);
    uint64_t none = 0;
    CALL(__NR_rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
}

static char **table(char *base, uint64_t offset) {
    uint64_t *entry = (uint64_t *)(base + offset);
    for (uint64_t *e = entry; *e; e++) *e += (uint64_t)base;
    return (char **)entry;
}

static void become(const int *fds, uint64_t size) {
    for (int i = 0; i < 3; i++)
        if (CALL(__NR_dup3, fds[i + 1], i, 0, 0) < 0) leave(126);
    char *base = (char *)CALL6(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[REQUEST], 0);
    struct request *r = (struct request *)base;
    if ((unsigned long)base > -4096UL || r->size != size) leave(126);
    char **argv = table(base, r->argv), **envp = table(base, r->envp);
    restore_signals();
    CALL(__NR_setsid, 0, 0, 0, 0);
    CALL(__NR_umask, 022, 0, 0, 0);
    long error = CALL(__NR_chdir, base + r->cwd, 0, 0, 0);
    if (error < 0) {
        complain("cannot enter ", base + r->cwd, reason(error));
        leave(126);
    }
    if (CALL(__NR_setgroups, r->group_count, base + r->groups, 0, 0) < 0 ||
        CALL(__NR_setresgid, r->gid, r->gid, r->gid, 0) < 0 || CALL(__NR_setresuid, r->uid, r->uid, r->uid, 0) < 0) {
        complain("cannot change the user", "", "");
        leave(126);
    }
    error = execute(argv, envp);
    complain(argv[0], "", reason(error));
    leave(error == -ENOENT || error == -ENOTDIR ? 127 : 126);
}

/* --- PID 1 --------------------------------------------------------------------------------------------------- */

static void send_reply(int kind, long pid, long value) {
    struct reply reply = {kind, (int32_t)pid, (int32_t)value};
    CALL6(__NR_sendto, SOCKET, &reply, sizeof reply, MSG_NOSIGNAL, 0, 0);
}

static long spawn(const int *fds, uint64_t size) {
    long pid = CALL6(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (pid == 0) become(fds, size);
    if (pid > 0)
        send_reply(STARTED, pid, 0);
    else
        send_reply(REFUSED, 0, -pid);
    return pid > 0 ? pid : 0;
}

/* Takes one request; 0 when nothing was started. Ends with the engine. */
static long take_request(void) {
    uint64_t size = 0;
    union { struct cmsghdr head; char room[CMSG_SPACE(DESCRIPTORS * sizeof(int))]; } control;
    struct iovec vector = {&size, sizeof size};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    long got = CALL(__NR_recvmsg, SOCKET, &message, MSG_CMSG_CLOEXEC, 0);
    if (got == -EINTR) return 0;
    if (got <= 0) leave(0);
    int *fds = (int *)CMSG_DATA(&control.head);
    if (got != sizeof size || message.msg_controllen < CMSG_LEN(DESCRIPTORS * sizeof(int))) leave(1);
    long pid = spawn(fds, size);
    for (int i = 0; i < DESCRIPTORS; i++) CALL(__NR_close, fds[i], 0, 0, 0);
    return pid;
}

static void reap(long command) {
    for (;;) {
        int32_t status = 0;
        long pid = CALL(__NR_wait4, -1, &status, WNOHANG, 0);
        if (pid <= 0) return;
        if (pid == command) send_reply(EXITED, pid, status);
    }
}

void run(long *stack) {
    (void)stack;
    CALL(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0);
    uint64_t children = 1UL << (SIGCHLD - 1);
    CALL(__NR_rt_sigprocmask, SIG_BLOCK, &children, 0, 8);
    struct pollfd watched[2] = {{SOCKET, POLLIN, 0}, {0, POLLIN, 0}};
    watched[1].fd = (int)CALL(__NR_signalfd4, -1, &children, 8, O_CLOEXEC | O_NONBLOCK);
    send_reply(HELLO, 1, 0);
    CALL(__NR_dup3, 1, 2, 0, 0);
    long command = 0;
    for (;;) {
        CALL6(__NR_ppoll, watched, 2, 0, 0, 8, 0);
        if (watched[1].revents) {
            char information[128];
            while (CALL(__NR_read, watched[1].fd, information, sizeof information, 0) > 0) {}
            reap(command);
        }
        if (watched[0].revents) {
            long pid = take_request();
            if (pid) command = pid;
        }
    }
}
