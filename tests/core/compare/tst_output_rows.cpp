#include "core/compare/output_rows.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

using namespace halftone;
using tensor::Tensor;

namespace {

constexpr std::size_t kClasses = 3;

Tensor stepScores(tensor::Shape shape, const std::vector<float> &values)
{
    return test::OnnxBuilder::floats("x", std::move(shape), values).values;
}

graph::Graph stepNetwork()
{
    test::OnnxBuilder g(17);
    const auto x = g.input("x", "float32", "[2,2,3]");
    return g.withHeads({g.op("Identity", "logits", {}, {x})});
}

/// Σ p·ln(p/q) by definition (core/quantize/RULES.md, Q-agreement).
double divergence(std::span<const float> reference, std::span<const float> other)
{
    const auto shares = [](std::span<const float> row) {
        std::vector<double> p;
        double sum = 0;
        for (const float value : row)
            sum += std::exp(static_cast<double>(value));
        for (const float value : row)
            p.push_back(std::exp(static_cast<double>(value)) / sum);
        return p;
    };
    const std::vector<double> p = shares(reference);
    const std::vector<double> q = shares(other);
    double sum = 0;
    for (std::size_t k = 0; k < p.size(); ++k)
        sum += p[k] * std::log(p[k] / q[k]);
    return sum;
}

const std::vector<float> kReference{1, 2, 0, 0.5F, -1, 3, 2, 2.5F, 1, -2, 0, 1};
const std::vector<float> kOther{1.5F, 1, 0, 0.25F, -1, 3, 2, 2.75F, 1, -2, 2, 1};

/// Of the rows that count.
compare::Agreement wanted(const std::vector<std::size_t> &rows)
{
    compare::Agreement agreement;
    for (const std::size_t row : rows) {
        const auto r = std::span(kReference).subspan(row * kClasses, kClasses);
        const auto x = std::span(kOther).subspan(row * kClasses, kClasses);
        agreement.divergence += divergence(r, x) / static_cast<double>(rows.size());
        const auto place
            = [](std::span<const float> all) { return std::ranges::max_element(all) - all.begin(); };
        agreement.top1 += (place(r) == place(x) ? 1.0 : 0.0) / static_cast<double>(rows.size());
    }
    agreement.examples = rows.size();
    return agreement;
}

void compareWith(const compare::Agreement &wanted, const interpret::Feed &feed)
{
    compare::OutputRows rows(stepNetwork());
    rows.add({{stepScores({2, 2, 3}, kReference)}, {stepScores({2, 2, 3}, kOther)}}, feed);
    const auto found = rows.outputs()[0].agreement;
    QVERIFY(found);
    QCOMPARE(found->examples, wanted.examples);
    QVERIFY(std::abs(found->divergence - wanted.divergence) < 1e-12);
    QVERIFY(std::abs(found->top1 - wanted.top1) < 1e-12);
}

} // namespace

/// Rows of scores are all leading axes of an output.
class TestOutputRows : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachStepOfEachExampleIsARow() { compareWith(wanted({0, 1, 2, 3}), {}); }

    void maskedStepsDoNotCount()
    {
        compareWith(wanted({0, 2, 3}), {{"attention_mask", stepScores({2, 2}, {1, 0, 1, 1})}});
    }

    void aMaskBeginsWithTheStepsOfACache()
    {
        compareWith(wanted({0, 1, 3}), {{"attention_mask", stepScores({2, 4}, {0, 0, 1, 1, 1, 1, 0, 1})}});
    }

    void aMaskOfAnotherShapeSaysNothing()
    {
        compareWith(wanted({0, 1, 2, 3}), {{"attention_mask", stepScores({2, 1}, {0, 0})}});
    }

    /// Quantizers give products another name and keep that of the value.
    void renamedNodesArePairedByTheirOutput()
    {
        const auto model = [](const char *name, const char *output) {
            test::OnnxBuilder g(17);
            const auto x = g.input("x", "float32", "[2,3]");
            graph::NodeDef def{"MatMul", name, {}, {}, false};
            def.outputs = {output};
            def.slots = {0, 1};
            graph::Graph graph = g.withHeads({});
            const std::array<graph::Entry, 2> factors{x, x};
            const graph::NodeId product
                = graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), factors);
            graph.setHeads({{product, 0, 0}});
            return graph::Model{std::move(graph), {}, true};
        };
        const auto paired = compare::pairByName(model("a", "value"), model("a_Q4", "value"));
        QVERIFY(paired.ok());
        QVERIFY(compare::unmatchedNodes(paired.value()).reference.empty());
        QVERIFY(compare::unmatchedNodes(paired.value()).other.empty());
        const auto apart = compare::pairByName(model("a", "value"), model("a_Q4", "other"));
        QCOMPARE(compare::unmatchedNodes(apart.value()).reference, std::vector<std::string>{"a"});
    }
};

QTEST_APPLESS_MAIN(TestOutputRows)
#include "tst_output_rows.moc"
