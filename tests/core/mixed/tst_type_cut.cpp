#include "core/mixed/type_cut.h"
#include "tests/support/cpu_clock.h"

#include <QTest>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using namespace halftone;
using mixed::TypeCut;

namespace {

struct Tensor
{
    TypeCut::Term producer;
    std::vector<TypeCut::Term> readers;
};

/// Nodes are the terms 2, 3, …; terms 0 and 1 are 16 bit and float32.
struct Problem
{
    std::vector<bool> isHalf;
    std::vector<Tensor> tensors;
    std::vector<std::pair<TypeCut::Term, TypeCut::Term>> required;

    bool typeOf(TypeCut::Term term, std::uint32_t choice) const
    {
        return term == TypeCut::kHalf || (term != TypeCut::kFloat32 && (choice >> (term - 2) & 1U) != 0);
    }

    /// Casts, or nothing for what is not allowed.
    std::optional<int> cost(std::uint32_t choice) const
    {
        int casts = 0;
        for (const auto &[node, other] : required)
            if (typeOf(node, choice) && !typeOf(other, choice))
                return std::nullopt;
        for (const Tensor &tensor : tensors)
            casts += std::ranges::any_of(tensor.readers, [&](auto reader) {
                return typeOf(reader, choice) != typeOf(tensor.producer, choice);
            });
        return casts;
    }

    std::uint32_t now() const
    {
        std::uint32_t choice = 0;
        for (std::size_t k = 0; k < isHalf.size(); ++k)
            choice |= (isHalf[k] ? 1U : 0U) << k;
        return choice;
    }

    std::uint32_t solved() const
    {
        TypeCut cut;
        std::vector<TypeCut::Term> terms{TypeCut::kHalf, TypeCut::kFloat32};
        for (const bool half : isHalf)
            terms.push_back(cut.addNode(half));
        for (const Tensor &tensor : tensors) {
            std::vector<TypeCut::Term> readers;
            for (const auto reader : tensor.readers)
                readers.push_back(terms[reader]);
            cut.addTensor(terms[tensor.producer], readers);
        }
        for (const auto &[node, other] : required)
            cut.require(terms[node], terms[other]);
        const std::vector<bool> types = cut.solve();
        std::uint32_t choice = 0;
        for (std::size_t k = 0; k < types.size(); ++k)
            choice |= (types[k] ? 1U : 0U) << k;
        return choice;
    }
};

} // namespace

class TestTypeCut : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Every choice is tried, up to 18 free operators.
    void noChoiceIsCheaper_data()
    {
        QTest::addColumn<int>("rounds");
        QTest::addColumn<int>("fewest");
        QTest::addColumn<int>("most");
        QTest::newRow("up to 8") << 2000 << 1 << 8;
        QTest::newRow("up to 14") << 60 << 9 << 14;
        QTest::newRow("up to 18") << 6 << 15 << 18;
    }
    void noChoiceIsCheaper()
    {
        QFETCH(int, rounds);
        QFETCH(int, fewest);
        QFETCH(int, most);
        std::mt19937 random(7);
        const auto below
            = [&random](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
        for (int round = 0; round < rounds; ++round) {
            Problem problem;
            const auto nodes
                = static_cast<std::uint32_t>(fewest) + below(static_cast<std::uint32_t>(most - fewest) + 1);
            for (std::uint32_t k = 0; k < nodes; ++k)
                problem.isHalf.push_back(below(2) == 0);
            for (std::uint32_t k = 0; k < 2 + nodes; ++k) {
                Tensor tensor{below(nodes + 2), {}};
                for (std::uint32_t r = 0; r < 1 + below(3); ++r)
                    tensor.readers.push_back(below(nodes + 2));
                problem.tensors.push_back(std::move(tensor));
            }
            for (std::uint32_t k = 0; k < below(3); ++k)
                problem.required.emplace_back(2 + below(nodes), 2 + below(nodes));
            int best = std::numeric_limits<int>::max();
            for (std::uint32_t choice = 0; choice < 1U << nodes; ++choice)
                best = std::min(best, problem.cost(choice).value_or(best));
            const std::uint32_t choice = problem.solved();
            const std::optional<int> found = problem.cost(choice);
            QVERIFY(found.has_value());
            QCOMPARE(*found, best);
            if (problem.cost(problem.now()) == best)
                QCOMPARE(choice, problem.now());
        }
    }

    void longChainsNeedNoStack()
    {
        TypeCut cut;
        TypeCut::Term last = TypeCut::kHalf;
        for (int k = 0; k < 200'000; ++k) {
            const TypeCut::Term node = cut.addNode(false);
            cut.addTensor(last, std::vector{node});
            last = node;
        }
        cut.addTensor(last, std::vector{TypeCut::kFloat32});
        const std::vector<bool> types = cut.solve();
        QCOMPARE(std::ranges::count(types, true), 0); // as they were: one cast, wherever it stands
    }

    /// Nodes of a chain that all gain a little time by 16 bit, as they do where times count: what thousands of them gain pays for one cast at
    /// an end. Path by path that took 7 s for 20,000 nodes, and sixteen times as long for four times the nodes.
    void timeGrowsWithTheNodes()
    {
        const auto millisecondsFor = [](int nodes) {
            TypeCut cut;
            std::vector<TypeCut::Term> terms;
            for (int k = 0; k < nodes; ++k)
                terms.push_back(cut.addNode(false));
            for (const TypeCut::Term term : terms)
                cut.addCosts(term, 0, 10);
            const auto join = [&cut](TypeCut::Term from, TypeCut::Term to) {
                cut.addTensor(from, std::vector{to}, 90'112, 90'112);
            };
            join(TypeCut::kFloat32, terms.front());
            for (std::size_t k = 1; k < terms.size(); ++k)
                join(terms[k - 1], terms[k]);
            join(terms.back(), TypeCut::kFloat32);
            const test::CpuClock clock;
            const std::vector<bool> types = cut.solve();
            // 20,000 times 10 is more than two casts.
            return std::ranges::count(types, true) == nodes ? clock.elapsed() : -1.0;
        };
        const double small = millisecondsFor(20'000);
        const double large = millisecondsFor(80'000);
        QVERIFY(small >= 0 && large >= 0);
        QVERIFY2(large < test::instrumented(1000), qPrintable(QString::number(large)));
    }
};

QTEST_GUILESS_MAIN(TestTypeCut)
#include "tst_type_cut.moc"
