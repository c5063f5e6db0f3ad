#include "core/base/frugal_memory.h"

#include <QTest>

#include <cstdint>
#include <cstring>
#include <optional>

using halftone::FrugalMemory;

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

} // namespace

class TestFrugalMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void largeBuffersAreWantedWhileOneLives()
    {
        QVERIFY(!FrugalMemory::wants(kMebibyte));
        std::optional<FrugalMemory> outer(std::in_place);
        {
            const FrugalMemory inner;
            QVERIFY(FrugalMemory::wants(kMebibyte));
        }
        QVERIFY(FrugalMemory::wants(64 * kMebibyte));
        QVERIFY(!FrugalMemory::wants(kMebibyte - 1)); // the C library is good at those
        outer.reset();
        QVERIFY(!FrugalMemory::wants(64 * kMebibyte));
    }

    void theMostAtATimeIsCounted()
    {
        FrugalMemory::restartPeak();
        QCOMPARE(FrugalMemory::peakBytes(), std::size_t{0});
        auto first = FrugalMemory::newPages(3 * kMebibyte);
        QVERIFY(first);
        QCOMPARE(reinterpret_cast<std::uintptr_t>(first.get()) % 4096, std::uintptr_t{0});
        std::memset(first.get(), 1, 3 * kMebibyte);
        auto second = FrugalMemory::newPages(2 * kMebibyte);
        first.reset();
        auto third = FrugalMemory::newPages(kMebibyte);
        QCOMPARE(FrugalMemory::peakBytes(), 5 * kMebibyte);
        FrugalMemory::restartPeak();
        QCOMPARE(FrugalMemory::peakBytes(), 3 * kMebibyte);
        second.reset();
        third.reset();
        QVERIFY(!FrugalMemory::newPages(std::size_t{1} << 62)); // more than there are addresses
    }
};

QTEST_GUILESS_MAIN(TestFrugalMemory)
#include "tst_frugal_memory.moc"
