#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QtTest>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <random>
#include <set>
#include <thread>

extern "C"
{
    extern char __libc_single_threaded; // NOLINT(bugprone-reserved-identifier): glibc's name
    std::uint32_t arc4random();
    void arc4random_buf(void *buffer, std::size_t size);
}

/// app/package/compat.c, which this program links in place of the libc's own: what the manual pages say of each.
class TestCompat : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void referencesAreCountedAtomically();
    void threadsHaveNumbersOfTheirOwn();
    void randomBytesFillTheBufferAndNoMore();
    void randomNumbersUseAllBits();
    void aWaitEndsAtItsDeadlineAndNotBefore_data();
    void aWaitEndsAtItsDeadlineAndNotBefore();
    void aSignalEndsAWait_data() { aWaitEndsAtItsDeadlineAndNotBefore_data(); }
    void aSignalEndsAWait();
    void aLongWaitEndsEarlyWithoutATimeout();
    void aLockedMutexIsGivenUpAtTheDeadline_data() { aWaitEndsAtItsDeadlineAndNotBefore_data(); }
    void aLockedMutexIsGivenUpAtTheDeadline();
    void aMutexIsTakenWhenItIsFree_data() { aWaitEndsAtItsDeadlineAndNotBefore_data(); }
    void aMutexIsTakenWhenItIsFree();
    void wrongTimesAndClocksAreRefused();
    void functionsHaveTheirValues();
    void functionsTellErrors();
};

namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

constexpr auto kSoon = 80ms;

Nanoseconds now(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

timespec in(clockid_t clock, Nanoseconds wait)
{
    const Nanoseconds at = now(clock) + wait;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    return {seconds.count(), (at - seconds).count()};
}

struct Waiting
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    bool isReady = false;

    /// As std::condition_variable::wait_until() with a predicate.
    int wait(clockid_t clock, const timespec &deadline)
    {
        pthread_mutex_lock(&mutex);
        int outcome = 0;
        while (!isReady && outcome == 0)
            outcome = pthread_cond_clockwait(&condition, &mutex, clock, &deadline);
        pthread_mutex_unlock(&mutex);
        return outcome;
    }
    void signal()
    {
        pthread_mutex_lock(&mutex);
        isReady = true;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    }
};

/// Between neighbours in the type; the C library promises one for these functions.
double ulps(double value, double expected)
{
    return std::abs(value - expected)
        / (std::nextafter(std::abs(expected), std::numeric_limits<double>::infinity()) - std::abs(expected));
}

volatile double s_zero = 0; ///< keeps the compiler from computing what the functions are to compute

} // namespace

void TestCompat::referencesAreCountedAtomically()
{
    QCOMPARE(static_cast<int>(__libc_single_threaded), 0); // with threads or without
}

void TestCompat::threadsHaveNumbersOfTheirOwn()
{
    QCOMPARE(gettid(), getpid()); // of the first thread (man gettid)
    pid_t other = 0;
    pid_t expected = 0;
    std::thread([&] {
        other = gettid();
        expected = static_cast<pid_t>(syscall(SYS_gettid));
    }).join();
    QCOMPARE(other, expected);
    QVERIFY(other != gettid());
}

void TestCompat::randomBytesFillTheBufferAndNoMore()
{
    constexpr unsigned char kMark = 0xa5;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{70'000}}) {
        std::vector<unsigned char> bytes(size + 16, kMark);
        arc4random_buf(bytes.data() + 8, size);
        const auto isMark = [](unsigned char byte) { return byte == kMark; };
        QVERIFY(std::all_of(bytes.begin(), bytes.begin() + 8, isMark));
        QVERIFY(std::all_of(bytes.end() - 8, bytes.end(), isMark));
        if (size > 1000) // each value is there, the last bytes too: 1 in 2^200 that chance says otherwise
            QVERIFY(std::set<unsigned char>(bytes.end() - 8008, bytes.end() - 8).size() == 256);
    }
}

void TestCompat::randomNumbersUseAllBits()
{
    constexpr int kDraws = 10'000;
    std::array<int, 32> ones{};
    std::set<std::uint32_t> seen;
    for (int k = 0; k < kDraws; ++k) {
        const std::uint32_t number = arc4random();
        seen.insert(number);
        for (std::size_t bit = 0; bit < ones.size(); ++bit)
            ones[bit] += static_cast<int>(number >> bit & 1U);
    }
    QVERIFY(seen.size() > kDraws - 10);
    for (const int count : ones) // binomial: 8 standard deviations of sqrt(10,000)/2
        QVERIFY(std::abs(count - kDraws / 2) < 400);
    QVERIFY(std::random_device()() != std::random_device()()); // libstdc++ draws from it
}

void TestCompat::aWaitEndsAtItsDeadlineAndNotBefore_data()
{
    QTest::addColumn<int>("clock");
    QTest::newRow("monotonic") << CLOCK_MONOTONIC;
    QTest::newRow("real time") << CLOCK_REALTIME;
}

void TestCompat::aWaitEndsAtItsDeadlineAndNotBefore()
{
    QFETCH(int, clock);
    Waiting waiting;
    const Nanoseconds begin = now(clock);
    QCOMPARE(waiting.wait(clock, in(clock, kSoon)), ETIMEDOUT);
    QVERIFY(now(clock) - begin >= kSoon);
    const timespec past = in(clock, -1s);
    QCOMPARE(waiting.wait(clock, past), ETIMEDOUT);
}

void TestCompat::aSignalEndsAWait()
{
    QFETCH(int, clock);
    Waiting waiting;
    int outcome = -1;
    const Nanoseconds begin = now(CLOCK_MONOTONIC);
    std::thread waiter([&] { outcome = waiting.wait(clock, in(clock, 60s)); });
    std::this_thread::sleep_for(20ms);
    waiting.signal();
    waiter.join();
    QCOMPARE(outcome, 0);
    QVERIFY(now(CLOCK_MONOTONIC) - begin < 30s);
}

/// So that a real-time clock that is set delays nobody; POSIX allows wakeups without a signal.
void TestCompat::aLongWaitEndsEarlyWithoutATimeout()
{
    Waiting waiting;
    const timespec deadline = in(CLOCK_MONOTONIC, 600s);
    const Nanoseconds begin = now(CLOCK_MONOTONIC);
    pthread_mutex_lock(&waiting.mutex);
    QCOMPARE(pthread_cond_clockwait(&waiting.condition, &waiting.mutex, CLOCK_MONOTONIC, &deadline), 0);
    pthread_mutex_unlock(&waiting.mutex);
    QVERIFY(now(CLOCK_MONOTONIC) - begin < 30s);
}

void TestCompat::aLockedMutexIsGivenUpAtTheDeadline()
{
    QFETCH(int, clock);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int outcome = -1;
    std::thread([&] {
        const timespec deadline = in(clock, 1200ms); // longer than the longest sleep in one piece
        const Nanoseconds begin = now(clock);
        outcome = pthread_mutex_clocklock(&mutex, clock, &deadline);
        if (now(clock) - begin < 1200ms)
            outcome = -2;
    }).join();
    QCOMPARE(outcome, ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
}

void TestCompat::aMutexIsTakenWhenItIsFree()
{
    QFETCH(int, clock);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const timespec past = in(clock, -1s);
    QCOMPARE(pthread_mutex_clocklock(&mutex, clock, &past),
             0); // POSIX: no timeout where it can be locked at once
    int outcome = -1;
    std::thread waiter([&] {
        const timespec deadline = in(clock, 60s);
        outcome = pthread_mutex_clocklock(&mutex, clock, &deadline);
        pthread_mutex_unlock(&mutex);
    });
    std::this_thread::sleep_for(20ms);
    pthread_mutex_unlock(&mutex);
    waiter.join();
    QCOMPARE(outcome, 0);
}

void TestCompat::wrongTimesAndClocksAreRefused()
{
    Waiting waiting;
    const timespec tooMany{0, 1'000'000'000};
    const timespec negative{0, -1};
    const timespec soon = in(CLOCK_MONOTONIC, kSoon);
    pthread_mutex_lock(&waiting.mutex);
    for (const timespec &wrong : {tooMany, negative})
        QCOMPARE(pthread_cond_clockwait(&waiting.condition, &waiting.mutex, CLOCK_MONOTONIC, &wrong), EINVAL);
    QCOMPARE(pthread_cond_clockwait(&waiting.condition, &waiting.mutex, CLOCK_PROCESS_CPUTIME_ID, &soon),
             EINVAL);
    std::thread([&] {
        QCOMPARE(pthread_mutex_clocklock(&waiting.mutex, CLOCK_MONOTONIC, &tooMany), EINVAL);
        QCOMPARE(pthread_mutex_clocklock(&waiting.mutex, CLOCK_PROCESS_CPUTIME_ID, &soon), EINVAL);
    }).join();
    pthread_mutex_unlock(&waiting.mutex);
}

void TestCompat::functionsHaveTheirValues()
{
    const double one = s_zero + 1;
    QCOMPARE(std::exp(s_zero), 1.0);
    QCOMPARE(std::log(one), 0.0);
    for (int k = -1000; k <= 1000; k += 8) { // powers of two are exact
        const double power = std::ldexp(1.0, k);
        QCOMPARE(std::exp2(k * one), power);
        QCOMPARE(std::pow(2 * one, k), power);
        QCOMPARE(std::log2(power), static_cast<double>(k));
    }
    // Constants of the mathematics, rounded (OEIS A001113, A002162, A002392, A002193)
    QVERIFY(ulps(std::exp(one), 2.718281828459045235) <= 1);
    QVERIFY(ulps(std::log(2 * one), 0.693147180559945309) <= 1);
    QVERIFY(ulps(std::log(10 * one), 2.302585092994045684) <= 1);
    QVERIFY(ulps(std::pow(2 * one, 0.5), 1.414213562373095049) <= 1);
    QVERIFY(ulps(std::exp2(0.5 * one), 1.414213562373095049) <= 1);
    QCOMPARE(std::pow(-3 * one, 3), -27.0);
}

void TestCompat::functionsTellErrors()
{
    errno = 0;
    QVERIFY(std::isinf(std::exp(s_zero + 1000)));
    QCOMPARE(errno, ERANGE);
    errno = 0;
    QVERIFY(std::isnan(std::log(s_zero - 1)));
    QCOMPARE(errno, EDOM);
    errno = 0;
    QVERIFY(std::isinf(std::log2(s_zero)));
    QCOMPARE(errno, ERANGE);
    errno = 0;
    QVERIFY(std::isnan(std::pow(s_zero - 1, 0.5)));
    QCOMPARE(errno, EDOM);
    errno = 0;
    QCOMPARE(std::exp2(s_zero - 2000), 0.0);
    QCOMPARE(errno, ERANGE);
}

QTEST_APPLESS_MAIN(TestCompat)
#include "tst_compat.moc"
