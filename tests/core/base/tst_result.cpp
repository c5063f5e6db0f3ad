// A value or an error: what copies, moves and assignments leave, and that each is destroyed once.
#include "core/base/result.h"

#include <QTest>

#include <memory>
#include <vector>

using namespace halftone;

class TestResult : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void holdsOneOfBoth()
    {
        const Result<int> value = 3;
        QVERIFY(value.ok());
        QCOMPARE(value.value(), 3);
        const Result<int> error = badInput("here", "found");
        QVERIFY(!error.ok());
        QCOMPARE(error.error().message(), std::string("here: found"));
    }

    void isAssignedAcross()
    {
        const auto owner = std::make_shared<int>(1);
        Result<std::shared_ptr<int>> result = owner;
        Result<std::shared_ptr<int>> copy = result;
        QCOMPARE(owner.use_count(), 3L);
        copy = Error(badInput("here", "found")); // the value is destroyed
        QCOMPARE(owner.use_count(), 2L);
        QVERIFY(!copy.ok());
        copy = result;
        QCOMPARE(owner.use_count(), 3L);
        const Result<std::shared_ptr<int>> &same = copy;
        copy = same;
        QCOMPARE(*copy.value(), 1);
        copy = Result<std::shared_ptr<int>>(badCall("there", "other"));
        result = copy;
        QCOMPARE(owner.use_count(), 1L);
        QCOMPARE(result.error().where, std::string("there"));
    }

    void movesWhatCannotBeCopied()
    {
        std::vector<Result<std::unique_ptr<int>>> results;
        results.emplace_back(std::make_unique<int>(1));
        results.emplace_back(cancelled());
        results.emplace_back(std::make_unique<int>(2));
        QCOMPARE(*results[0].value(), 1);
        QVERIFY(results[1].error().code == Errc::Cancelled);
        const std::unique_ptr<int> taken = std::move(results[2]).value();
        QCOMPARE(*taken, 2);
        static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
        static_assert(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
    }
};

QTEST_GUILESS_MAIN(TestResult)
#include "tst_result.moc"
