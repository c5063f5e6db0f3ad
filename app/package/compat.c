/* What objects of Debian 12's compiler and libraries ask of glibc and what glibc 2.27 does not have. Linked into packaged programs alone
 * (package.sh), where these definitions stay hidden. tests/package/tst_compat.cpp holds each to its manual page. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NANOSECONDS = 1000000000, LONGEST_SLEEP = 1 };

/* glibc 2.32: libstdc++ counts references without atomic instructions where this is not 0. */
char __libc_single_threaded = 0;

/* glibc 2.30 */
pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* glibc 2.36. Never fails: without a source of random bytes the program ends. */
void arc4random_buf(void *buffer, size_t size)
{
    unsigned char *next = buffer;
    while (size > 0) {
        ssize_t got = getrandom(next, size, 0);
        if (got < 0 && errno == ENOSYS) { /* before Linux 3.17 */
            const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
            got = file < 0 ? -1 : read(file, next, size);
            if (file >= 0)
                close(file);
        }
        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            next += got;
            size -= (size_t)got;
        }
    }
}

uint32_t arc4random(void)
{
    uint32_t number;
    arc4random_buf(&number, sizeof number);
    return number;
}

static int isTime(const struct timespec *time)
{
    return time->tv_nsec >= 0 && time->tv_nsec < NANOSECONDS;
}

static int isBefore(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static int isPast(clockid_t clock, const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return !isBefore(&now, deadline);
}

/* A deadline of the monotonic clock as the real-time clock has it now, but at most LONGEST_SLEEP seconds ahead, so that a real-time clock
 * that is set meanwhile delays nobody for longer. */
static struct timespec realTimeOf(const struct timespec *deadline)
{
    struct timespec now, real;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &real);
    if (!isBefore(&now, deadline))
        return real;
    time_t seconds = deadline->tv_sec - now.tv_sec;
    long nanoseconds = deadline->tv_nsec - now.tv_nsec;
    if (nanoseconds < 0) {
        nanoseconds += NANOSECONDS;
        --seconds;
    }
    if (seconds >= LONGEST_SLEEP) {
        seconds = LONGEST_SLEEP;
        nanoseconds = 0;
    }
    real.tv_sec += seconds + (real.tv_nsec + nanoseconds) / NANOSECONDS;
    real.tv_nsec = (real.tv_nsec + nanoseconds) % NANOSECONDS;
    return real;
}

/* glibc 2.30. Before the deadline it may end without a signal, which POSIX allows of every wait; going on to wait here could miss one. */
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline)
{
    if (clock == CLOCK_REALTIME)
        return pthread_cond_timedwait(condition, mutex, deadline);
    if (clock != CLOCK_MONOTONIC || !isTime(deadline))
        return EINVAL;
    const struct timespec real = realTimeOf(deadline);
    const int outcome = pthread_cond_timedwait(condition, mutex, &real);
    return outcome == ETIMEDOUT && !isPast(CLOCK_MONOTONIC, deadline) ? 0 : outcome;
}

/* glibc 2.30 */
int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline)
{
    if (clock == CLOCK_REALTIME)
        return pthread_mutex_timedlock(mutex, deadline);
    if (clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (!isTime(deadline))
        return pthread_mutex_trylock(mutex) == 0 ? 0 : EINVAL;
    for (;;) {
        const struct timespec real = realTimeOf(deadline);
        const int outcome = pthread_mutex_timedlock(mutex, &real);
        if (outcome != ETIMEDOUT || isPast(CLOCK_MONOTONIC, deadline))
            return outcome;
    }
}

/* glibc 2.29 has new versions of these, which only no longer look for _LIB_VERSION; linked with --wrap. */
#define OLD_1(name)                                                                                          \
    double old_##name(double);                                                                               \
    __asm__(".symver old_" #name ", " #name "@GLIBC_2.2.5");                                                 \
    double __wrap_##name(double x);                                                                          \
    double __wrap_##name(double x)                                                                           \
    {                                                                                                        \
        return old_##name(x);                                                                                \
    }
OLD_1(exp)
OLD_1(exp2)
OLD_1(log)
OLD_1(log2)

double old_pow(double, double);
__asm__(".symver old_pow, pow@GLIBC_2.2.5");
double __wrap_pow(double x, double y);
double __wrap_pow(double x, double y)
{
    return old_pow(x, y);
}
