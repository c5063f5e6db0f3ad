#include "core/base/share_work.h"
#include "core/kernels/plan_cache.h"

#include <QTest>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

using namespace halftone;
using kernels::PlanCache;

/// What plans share, asked for by several threads.
class PlanCacheTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aValueIsMadeByOneOfTheThreadsThatWantIt();
    void oneValueMayBeMadeOfOthers();
    void whatTheLastPlansDidNotUseGoes();
    void whatFailedIsTriedAgain();
};

void PlanCacheTest::aValueIsMadeByOneOfTheThreadsThatWantIt()
{
    PlanCache cache;
    std::atomic<int> made = 0;
    std::array<std::shared_ptr<const int>, 8> got;
    shareWork(8, [&](unsigned thread) {
        auto value = cache.get<int>("answer", {}, [&]() -> Result<std::shared_ptr<const int>> {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            return std::make_shared<const int>(++made);
        });
        got.at(thread) = value.ok() ? value.value() : nullptr;
    });
    QCOMPARE(made.load(), 1);
    for (const auto &value : got)
        QCOMPARE(value, got[0]);
    QCOMPARE(*got[0], 1);
}

void PlanCacheTest::oneValueMayBeMadeOfOthers()
{
    PlanCache cache;
    const auto inner = [] { return Result<std::shared_ptr<const int>>(std::make_shared<const int>(20)); };
    std::array<int, 4> got{};
    shareWork(4, [&](unsigned thread) {
        const auto value = cache.get<int>("outer", {}, [&]() -> Result<std::shared_ptr<const int>> {
            HALFTONE_TRY(const std::shared_ptr<const int> half, cache.get<int>("inner", {}, inner));
            return std::make_shared<const int>(2 * *half + 2);
        });
        got.at(thread) = value.ok() ? *value.value() : 0;
    });
    for (const int value : got)
        QCOMPARE(value, 42);
    QCOMPARE(cache.size(), std::size_t(2));
}

void PlanCacheTest::whatTheLastPlansDidNotUseGoes()
{
    PlanCache cache;
    int made = 0;
    const auto make = [&] { return Result<std::shared_ptr<const int>>(std::make_shared<const int>(++made)); };
    const tensor::Tensor weights = tensor::Tensor::owning(tensor::DType::U8, {1}, {std::byte{1}});
    const auto ask = [&](const char *what) { return *cache.get<int>(what, {weights}, make).value(); };
    const auto measured = [&] { return *cache.get<int>("measured", {}, make).value(); };
    cache.beginPlan();
    QCOMPARE(ask("kept"), 1);
    QCOMPARE(ask("gone"), 2);
    QCOMPARE(measured(), 3);
    for (int plan = 0; plan < 8; ++plan) {
        cache.beginPlan();
        QCOMPARE(ask("kept"), 1);
    }
    QCOMPARE(cache.size(), std::size_t(2));
    QCOMPARE(ask("gone"), 4);
    QCOMPARE(measured(), 3); // what holds no memory stays: to measure it again might give another answer
}

void PlanCacheTest::whatFailedIsTriedAgain()
{
    PlanCache cache;
    const auto refused = cache.get<int>(
        "answer", {}, []() -> Result<std::shared_ptr<const int>> { return unsupported("plan", "a test"); });
    QVERIFY(!refused.ok());
    const auto made = cache.get<int>(
        "answer", {}, []() -> Result<std::shared_ptr<const int>> { return std::make_shared<const int>(42); });
    QVERIFY(made.ok());
    QCOMPARE(*made.value(), 42);
}

QTEST_APPLESS_MAIN(PlanCacheTest)
#include "tst_plan_cache.moc"
