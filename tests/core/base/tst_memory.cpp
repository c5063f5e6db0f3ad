#include "core/base/guarded.h"
#include "core/base/memory.h"
#include "core/base/share_work.h"

#include <sys/resource.h>

#include <QTest>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <vector>

using namespace halftone;

class TestMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void thereIsSomeMemoryAndNotAllOfIt()
    {
        QVERIFY(availableMemory() > 0);
        QVERIFY(availableMemory() < std::uint64_t{1} << 50);
    }

    void theLimitOfTheAddressSpaceCounts()
    {
        rlimit before = {};
        ::getrlimit(RLIMIT_AS, &before);
        const rlimit small{rlim_t{1} << 30, before.rlim_max};
        ::setrlimit(RLIMIT_AS, &small);
        const std::uint64_t left = availableMemory();
        ::setrlimit(RLIMIT_AS, &before);
        QVERIFY(left < std::uint64_t{1} << 30);
    }

    void whatIsNotThereIsRefusedWithBothFigures()
    {
        QVERIFY(checkRoom(1000, "a little").ok());
        const Result<void> refused = checkRoom(std::uint64_t{1} << 50, "a lot");
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, Errc::NoMemory);
        const QString text = QString::fromStdString(refused.error().message());
        QVERIFY2(text.startsWith(u"out of memory: 1024.0 TiB requested for a lot, ")
                     && text.endsWith(u" left"),
                 qPrintable(text));
    }

    void whatIsThrownBecomesAnError()
    {
        const auto thrown
            = [](auto exception) { return guarded([&]() -> Result<void> { throw exception; }).error(); };
        QCOMPARE(thrown(OutOfMemory(std::size_t{3} << 30)).code, Errc::NoMemory);
        QVERIFY(thrown(OutOfMemory(std::size_t{3} << 30))
                    .found.starts_with("out of memory: 3.0 GiB requested, "));
        QCOMPARE(thrown(std::bad_alloc()).code, Errc::NoMemory);
        QCOMPARE(thrown(std::length_error("vector")).code, Errc::NoMemory);
        QCOMPARE(thrown(std::system_error(EAGAIN, std::generic_category())).code, Errc::NoMemory);
        QCOMPARE(thrown(std::runtime_error("it is so")).found, std::string("it is so"));
        QCOMPARE(thrown(1).code, Errc::Unsupported);
        QCOMPARE(guarded([] { return Result<int>(7); }).value(), 7);
    }

    void everyThreadIsCalledOnceAndWaitedFor()
    {
        std::vector<std::atomic<int>> calls(5);
        shareWork(5, [&](unsigned k) { ++calls[k]; });
        for (const std::atomic<int> &count : calls)
            QCOMPARE(count.load(), 1);
    }

    void whatAThreadThrowsIsThrownByTheCaller()
    {
        std::atomic<int> done = 0;
        bool isThrown = false;
        try {
            shareWork(4, [&](unsigned k) {
                if (k == 2)
                    throw OutOfMemory(1);
                ++done;
            });
        } catch (const OutOfMemory &) {
            isThrown = true;
        }
        QVERIFY(isThrown);
        QCOMPARE(done.load(), 3);
    }

    void withoutThreadsTheCallerWorksAlone()
    {
#ifdef HALFTONE_SANITIZED
        QSKIP("a sanitizer ends the process where a thread has no room");
#endif
        rlimit before = {};
        ::getrlimit(RLIMIT_AS, &before);
        const rlimit none{1 << 20, before.rlim_max}; // less than is taken already: no stack for a thread
        std::atomic<std::size_t> next = 0;
        std::atomic<std::size_t> done = 0;
        std::vector<int> memory(1000);
        ::setrlimit(RLIMIT_AS, &none);
        shareWork(8, [&](unsigned) {
            while (next++ < 100)
                ++done;
        });
        ::setrlimit(RLIMIT_AS, &before);
        QCOMPARE(done.load(), std::size_t{100});
    }
};

QTEST_APPLESS_MAIN(TestMemory)
#include "tst_memory.moc"
