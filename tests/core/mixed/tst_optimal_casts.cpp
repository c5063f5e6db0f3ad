#include "core/infer/node_types.h"
#include "core/mixed/cut_casts.h"
#include "tests/support/typed/convert.h"
#include "tests/support/typed/random_graph.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <optional>

using namespace halftone;
using mixed::CastProblem;
using Term = CastProblem::Term;

namespace {

/// Who is 16 bit: bit k is choice k.
using Choice = std::uint32_t;

bool isHalf(Term term, Choice choice)
{
    return term == 0 || (term != 1 && (choice >> (term - CastProblem::kFirst) & 1U) != 0);
}

/// By definition: a tensor costs once when somebody reads it in another type than it has; one that may be stored in either type, when its
/// readers differ. Nothing for what is not allowed.
std::optional<std::int64_t> costOf(const CastProblem &problem, Choice choice)
{
    for (const auto &[node, other] : problem.required) {
        if (isHalf(node, choice) && !isHalf(other, choice))
            return std::nullopt;
    }
    std::int64_t cost = 0;
    for (const CastProblem::Tensor &tensor : problem.tensors) {
        const auto readers = problem.readersOf(tensor);
        const bool isStored = problem.isVariable(tensor.producer);
        const bool first = isHalf(isStored ? readers.front() : tensor.producer, choice);
        if (std::ranges::any_of(readers, [&](Term reader) { return isHalf(reader, choice) != first; }))
            cost += tensor.cost;
    }
    return cost;
}

Choice choiceOf(const std::vector<bool> &half)
{
    Choice choice = 0;
    for (std::size_t k = 0; k < half.size(); ++k)
        choice |= (half[k] ? 1U : 0U) << k;
    return choice;
}

std::int64_t leastCost(const CastProblem &problem)
{
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (Choice choice = 0; choice < Choice{1} << problem.choices.size(); ++choice)
        least = std::min(least, costOf(problem, choice).value_or(least));
    return least;
}

/// Sizes that no two tensors share, so that bytes decide.
void giveSizes(CastProblem &problem)
{
    std::int64_t bytes = 1;
    for (CastProblem::Tensor &tensor : problem.tensors) {
        tensor.bytes = bytes = bytes * 48'271 % 2'147'483'647; // Park and Miller's generator
        tensor.cost = mixed::kCastBytes + tensor.bytes;
    }
}

/// Casts that the written graph and its bodies have of the tensors that the problem speaks of.
class CastsOfProblem
{
public:
    CastsOfProblem(const CastProblem &problem, tensor::DType target)
        : m_problem(problem)
        , m_target(target)
    {
    }

    std::int64_t count(const graph::Graph &source, const rewrite::Conversion &conversion)
    {
        const std::uint32_t level = m_levels++; // as the problem numbers graphs
        std::vector<std::uint32_t> first; // as the problem numbers outputs
        std::uint32_t outputs = 0;
        const infer::NodeTypes rules(source, 0);
        for (graph::NodeId id = 0; id < source.nodeCount(); ++id) {
            first.push_back(outputs);
            outputs += rules.outputCount(id);
        }
        std::int64_t casts = std::ranges::count_if(conversion.casts, [&](const auto &cast) {
            const std::uint32_t output = first[cast.tensor.node] + cast.tensor.output;
            return (cast.type == tensor::DType::F32 || cast.type == m_target)
                && std::ranges::any_of(m_problem.tensors, [&](const auto &tensor) {
                       return tensor.level == level && tensor.output == output;
                   });
        });
        for (const rewrite::ConvertedBody &body : conversion.bodies)
            casts += count(*source.node(body.node).subgraphs[body.body], body.conversion);
        return casts;
    }

private:
    const CastProblem &m_problem;
    tensor::DType m_target;
    std::uint32_t m_levels = 0;
};

/// Where casts count, whatever loops they lie in.
CastProblem counted(CastProblem problem)
{
    for (CastProblem::Tensor &tensor : problem.tensors)
        tensor.cost = 1;
    return problem;
}

} // namespace

/// Mode typed against all that it could have chosen. tests/bench/optimal_casts.py does the same for networks of any size, by a linear
/// program.
class TestOptimalCasts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void noChoiceNeedsFewerCasts();
    void noChoiceMovesFewerBytes();
    void theLogTellsWhatTheOtherChoiceCosts();

private:
    /// Calls check(case, problem) for random graphs that have so many choices.
    template <class Check>
    void forCases(std::size_t fewest, std::size_t most, int wanted, Check check);
};

template <class Check>
void TestOptimalCasts::forCases(std::size_t fewest, std::size_t most, int wanted, Check check)
{
    int found = 0;
    for (std::uint64_t seed = 1; seed < 3000 && found < wanted; ++seed) {
        const test::TypedCase given = test::randomCase(seed);
        const auto problem = mixed::castChoices(given.model, given.policy);
        if (!problem.ok() || problem.value().choices.size() < fewest || problem.value().choices.size() > most)
            continue;
        ++found;
        check(given, problem.value());
        if (QTest::currentTestFailed()) {
            qWarning("seed %llu", static_cast<unsigned long long>(seed));
            return;
        }
    }
    QCOMPARE(found, wanted);
}

/// The graph that is written has as many casts as the best choice needs.
void TestOptimalCasts::noChoiceNeedsFewerCasts()
{
    const auto check = [](const test::TypedCase &given, const CastProblem &problem) {
        const Choice choice = choiceOf(mixed::solved(problem));
        QCOMPARE(costOf(problem, choice).value_or(-1), leastCost(problem));
        const auto converted = test::convert(given.model, given.policy);
        QCOMPARE(CastsOfProblem(problem, given.policy.target).count(given.model.graph, converted.conversion),
                 leastCost(counted(problem)));
    };
    forCases(1, 9, 150, check);
    forCases(10, 14, 10, check);
    forCases(15, 18, 1, check);
}

void TestOptimalCasts::noChoiceMovesFewerBytes()
{
    const auto check = [](const test::TypedCase &, CastProblem problem) {
        giveSizes(problem);
        QCOMPARE(costOf(problem, choiceOf(mixed::solved(problem))).value_or(-1), leastCost(problem));
    };
    forCases(1, 9, 150, check);
    forCases(10, 14, 10, check);
}

/// Each by its own: the cost with the one operator turned round, all else as it is.
void TestOptimalCasts::theLogTellsWhatTheOtherChoiceCosts()
{
    forCases(2, 30, 300, [](const test::TypedCase &given, CastProblem problem) {
        giveSizes(problem);
        const std::vector<bool> half = mixed::solved(problem);
        const Choice choice = choiceOf(half);
        const auto prices = mixed::pricesOf(problem, half, given.policy.target);
        QCOMPARE(prices.size(), problem.choices.size());
        const std::int64_t now = costOf(problem, choice).value_or(-1);
        for (std::size_t k = 0; k < prices.size(); ++k) {
            QCOMPARE(prices[k].node, problem.choices[k].node);
            QVERIFY(prices[k].type == (half[k] ? given.policy.target : tensor::DType::F32));
            const auto other = costOf(problem, choice ^ Choice{1} << k);
            QCOMPARE(prices[k].losesBits, !other.has_value());
            if (other) {
                QCOMPARE(prices[k].casts * mixed::kCastBytes + prices[k].bytes, *other - now);
                QVERIFY(*other >= now);
            }
        }
    });
}

QTEST_APPLESS_MAIN(TestOptimalCasts)
#include "tst_optimal_casts.moc"
