#include "core/walks/work_pool.h"

#include <QTest>

#include <atomic>
#include <new>

using namespace halftone;
using walks::WorkPool;

class TstWorkPool : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void allThatIsSubmittedIsDone()
    {
        for (const unsigned threads : {0U, 1U, 4U}) { // with none the submitting thread does it
            std::atomic<int> done = 0;
            WorkPool pool(threads);
            for (int k = 0; k < 100; ++k)
                pool.submit(
                    [&done] {
                        ++done;
                        return Result<void>();
                    },
                    std::size_t{64} << 20);
            QVERIFY(pool.wait().ok());
            QCOMPARE(done.load(), 100);
        }
    }

    void waitReportsWhatWorkThrowsOrRefuses()
    {
        for (const unsigned threads : {0U, 2U}) {
            std::atomic<int> done = 0;
            WorkPool pool(threads);
            pool.submit([]() -> Result<void> { throw std::bad_alloc(); });
            pool.submit([&done] {
                ++done;
                return Result<void>();
            });
            const Result<void> ended = pool.wait();
            QVERIFY(!ended.ok());
            QCOMPARE(ended.error().code, Errc::NoMemory);
            QCOMPARE(done.load(), 1);
        }
    }
};

QTEST_APPLESS_MAIN(TstWorkPool)
#include "tst_work_pool.moc"
