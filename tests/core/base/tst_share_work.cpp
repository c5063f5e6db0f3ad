#include "core/base/share_work.h"

#include <QTest>

#include <array>
#include <atomic>
#include <stdexcept>

using namespace halftone;

class TestShareWork : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachPartIsDoneOnce()
    {
        for (const unsigned threads : {1U, 3U, 200U}) {
            std::array<std::atomic<int>, 100> done{};
            std::atomic<unsigned> most = 0;
            shareParts(threads, done.size(), [&](std::size_t part, unsigned thread) {
                ++done.at(part);
                for (unsigned seen = most; seen < thread && !most.compare_exchange_weak(seen, thread);) { }
                return true;
            });
            for (const std::atomic<int> &times : done)
                QCOMPARE(times.load(), 1);
            QVERIFY(most < threads && most < done.size());
        }
    }

    void nothingIsDoneWhereThereIsNothing()
    {
        shareParts(4, 0, [](std::size_t, unsigned) -> bool { throw std::logic_error("no such part"); });
    }

    void afterTheLastNoneIsBegun()
    {
        std::size_t begun = 0;
        shareParts(1, 100, [&](std::size_t part, unsigned) {
            ++begun;
            return part < 6;
        });
        QCOMPARE(begun, std::size_t(7));
    }

    void whatIsThrownIsThrownAgain()
    {
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, shareParts(3, 10, [](std::size_t part, unsigned) {
                                     return part == 4 ? throw std::runtime_error("four") : true;
                                 }));
    }
};

QTEST_GUILESS_MAIN(TestShareWork)
#include "tst_share_work.moc"
