#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/session/derive.h"

#include <QTest>

#include <algorithm>
#include <cstring>

using namespace halftone;
using graph::Entry;
using tensor::DType;

namespace {

constexpr int kOpset = 17; ///< in which products take bfloat16, and Cos does not

/// A product, and a Cos beside it.
class Network
{
public:
    enum class Reads
    {
        Positions, ///< which stay float32
        Product, ///< what is bfloat16
        Input ///< what comes and goes in float32
    };

    /// op: takes bfloat16 since opset 22
    explicit Network(Reads reads, const char *op = "Cos")
        : m_graph(dialect::onnx::onnxDialect(kOpset))
    {
        const Entry x = add("Input", "x", {{"type", "float32"}, {"shape", "[3,4]"}}, {});
        const Entry ids = add("Input", "ids", {{"type", "int64"}, {"shape", "[3,4]"}}, {});
        const Entry w = add("Input", "w", {{"type", "float32"}, {"shape", "[4,4]"}}, {});
        const Entry position = add("Cast", "position", {{"to", "1"}}, {ids});
        const Entry input = add("Sigmoid", "input", {}, {x}); // no time, as what is fed may be
        const Entry product = add("MatMul", "product", {}, {input, w});
        const Entry wave = add(op, "wave", {},
                               {reads == Reads::Positions     ? position
                                    : reads == Reads::Product ? product
                                                              : input});
        const Entry last = reads == Reads::Product ? add("MatMul", "last", {}, {wave, w})
                                                   : add("MatMul", "last", {}, {product, w});
        m_graph.setHeads({wave, last, position});
    }

    graph::Model model() const
    {
        std::vector<float> values(16, 0.5F);
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        tensor::Array w;
        w.name = "w";
        w.shape = {4, 4};
        w.values = tensor::Tensor::owning(DType::F32, w.shape, std::move(bytes));
        return {m_graph, {w}, true};
    }

private:
    Entry add(const char *op, const char *name, graph::Attributes attributes,
              const std::vector<Entry> &inputs)
    {
        graph::NodeDef def{op, name, std::move(attributes), {}, op == dialect::onnx::kVariableOp};
        if (!def.variable)
            def.outputs.emplace_back(name);
        return Entry{m_graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
    }

    graph::Graph m_graph;
};

session::Derived derived(const graph::Model &model, const policy::Policy &policy, int opset = 0)
{
    const std::string path = "model.onnx";
    session::DeriveRequest request{model, path, policy};
    request.opset = opset;
    auto made = session::derive(request);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

int opsetOf(const session::Derived &made)
{
    return dialect::of(made.converted->conversion.graph).versionNumber();
}

policy::Policy toBfloat16()
{
    policy::Policy policy;
    policy.target = DType::BF16;
    return policy;
}

} // namespace

/// The opset is raised for what computes in bfloat16, and not for what stays float32 although lists would let it.
class TestRaisedForBfloat16 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatStaysFloat32RaisesNothing();
    void whatComputesInItDoes();
    void whatANodeIsNamedForRaisesToo();
    void whatIsAskedForIsGiven();
};

void TestRaisedForBfloat16::whatStaysFloat32RaisesNothing()
{
    using Reads = Network::Reads;
    for (const Reads reads : {Reads::Positions, Reads::Input}) {
        const session::Derived made = derived(Network(reads).model(), toBfloat16());
        QCOMPARE(opsetOf(made), kOpset);
        QVERIFY(made.converted->whyRaised.empty());
        const auto &warnings = made.converted->warnings;
        QVERIFY(std::ranges::find(warnings, "opset_raised", &policy::Warning::code) == warnings.end());
    }
    policy::Policy policy = toBfloat16();
    policy.excludedNames = {"wave"};
    QCOMPARE(opsetOf(derived(Network(Reads::Product).model(), policy)), kOpset);
}

void TestRaisedForBfloat16::whatComputesInItDoes()
{
    const session::Derived made = derived(Network(Network::Reads::Product).model(), toBfloat16());
    QCOMPARE(opsetOf(made), 22);
    QCOMPARE(made.converted->whyRaised, std::string("bfloat16 in Cos"));
}

void TestRaisedForBfloat16::whatANodeIsNamedForRaisesToo()
{
    const graph::Model model
        = Network(Network::Reads::Input, "Acos").model(); // which the built-in lists keep in float32
    policy::Policy policy = toBfloat16();
    QCOMPARE(opsetOf(derived(model, policy)), kOpset);
    policy.nodeOverrides["wave"] = DType::BF16;
    const session::Derived made = derived(model, policy);
    QCOMPARE(opsetOf(made), 22);
    QCOMPARE(made.converted->whyRaised, std::string("bfloat16 in Acos"));
    policy.target = DType::F16; // which needs no newer opset
    policy.nodeOverrides["wave"] = DType::F16;
    QCOMPARE(opsetOf(derived(model, policy)), kOpset);
}

void TestRaisedForBfloat16::whatIsAskedForIsGiven()
{
    for (const int opset : {19, 22}) {
        const session::Derived made
            = derived(Network(Network::Reads::Positions).model(), toBfloat16(), opset);
        QCOMPARE(opsetOf(made), opset);
        QVERIFY(made.converted->whyRaised.empty());
    }
}

QTEST_GUILESS_MAIN(TestRaisedForBfloat16)
#include "tst_raised_for_bfloat16.moc"
