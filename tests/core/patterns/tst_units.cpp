#include "core/dialect/registry.h"
#include "core/patterns/unit.h"
#include "tests/support/build_graph.h"
#include "tests/support/cpu_clock.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

using namespace halftone;
using graph::Entry;
using patterns::Unit;
using patterns::UnitKind;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

template <class T>
Tensor tensorOf(DType type, Shape shape, const std::vector<T> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

/// Graphs in ONNX, node by node, the way exporters write them.
class Onnx
{
public:
    explicit Onnx(const dialect::Dialect &dialect)
        : m_graph(dialect)
        , m_dialect(dialect)
    {
    }

    Entry data(const std::string &name = "x") { return {m_graph.add(m_dialect.makeVariable(name), {})}; }

    /// An initialiser.
    Entry weight(Shape shape, float value = 1)
    {
        const std::string name = "weight" + std::to_string(m_graph.nodeCount());
        tensor::Array array;
        array.name = name;
        array.shape = shape;
        array.values = tensorOf(DType::F32, shape,
                                std::vector<float>(static_cast<std::size_t>(*shape.elementCount()), value));
        m_parameters.push_back(std::move(array));
        return data(name);
    }

    Entry number(double value)
    {
        return m_asNodes ? constant(tensorOf(DType::F32, Shape(std::vector<std::int64_t>{}),
                                             std::vector<float>{static_cast<float>(value)}))
                         : weight(Shape(std::vector<std::int64_t>{}), static_cast<float>(value));
    }
    Entry integers(const std::vector<std::int64_t> &values)
    {
        return constant(tensorOf(DType::I64, Shape{static_cast<std::int64_t>(values.size())}, values));
    }

    Entry op(const std::string &op, std::vector<Entry> inputs, graph::Attributes attributes = {})
    {
        const auto def = std::make_shared<graph::NodeDef>();
        def->op = op;
        def->name = op + std::to_string(m_graph.nodeCount());
        def->attributes = std::move(attributes);
        def->outputs = {def->name};
        return {m_graph.add(def, inputs)};
    }

    void useInitialisers() { m_asNodes = false; }

    graph::Model model(std::vector<Entry> heads)
    {
        m_graph.setHeads(std::move(heads));
        return {m_graph, m_parameters, true};
    }

private:
    Entry constant(Tensor value)
    {
        const auto def = std::make_shared<graph::NodeDef>();
        def->op = "Constant";
        def->name = "Constant" + std::to_string(m_graph.nodeCount());
        def->outputs = {def->name};
        def->tensors.emplace_back("value", std::move(value));
        def->attributes.set("value", "tensor");
        return {m_graph.add(def, {})};
    }

    graph::Graph m_graph;
    const dialect::Dialect &m_dialect;
    std::vector<tensor::Array> m_parameters;
    bool m_asNodes = true;
};

const dialect::Dialect *onnx()
{
    return dialect::dialectNamed("onnx");
}

/// What of a norm is written how.
struct NormForm
{
    std::string square = "Pow"; ///< or Mul
    std::string root = "Sqrt"; ///< Sqrt and Div, Reciprocal, Power (of 1/2), Inverse (power of -1/2)
    bool axesAsInput = false;
    bool secondDifference = false;
    bool casts = false;
    bool epsilonFirst = false;
    bool initialisers = false;
    bool affine = true;
    bool centred = true;
    double epsilon = 1e-5;
    std::string secondAxes = "[-1]";
};

Entry mean(Onnx &g, Entry x, const NormForm &form, const std::string &axes)
{
    if (form.axesAsInput)
        return g.op("ReduceMean", {x, g.integers({axes == "[-1]" ? -1 : 1})});
    return g.op("ReduceMean", {x}, {{"axes", axes}});
}

Entry norm(Onnx &g, Entry x, const NormForm &form)
{
    Entry base = x;
    Entry again = x;
    if (form.centred) {
        const Entry average = mean(g, x, form, "[-1]");
        base = g.op("Sub", {x, average});
        again = form.secondDifference ? g.op("Sub", {x, average}) : base;
    }
    if (form.casts)
        base = g.op("Cast", {base}, {{"to", "1"}});
    const Entry square = form.square == "Pow" ? g.op("Pow", {base, g.number(2)}) : g.op("Mul", {base, base});
    const Entry variance = mean(g, square, form, form.secondAxes);
    const Entry epsilon = g.number(form.epsilon);
    const Entry guarded
        = g.op("Add", form.epsilonFirst ? std::vector{epsilon, variance} : std::vector{variance, epsilon});
    Entry root = form.root == "Power" ? g.op("Pow", {guarded, g.number(0.5)})
        : form.root == "Inverse"      ? g.op("Pow", {guarded, g.number(-0.5)})
                                      : g.op("Sqrt", {guarded});
    if (form.casts)
        root = g.op("Cast", {root}, {{"to", "1"}});
    Entry normal;
    if (form.root == "Reciprocal")
        normal = g.op("Mul", {again, g.op("Reciprocal", {root})});
    else if (form.root == "Quotient")
        normal = g.op("Mul", {again, g.op("Div", {g.number(1), root})});
    else
        normal = g.op(form.root == "Inverse" ? "Mul" : "Div", {again, root});
    if (!form.affine)
        return normal;
    const Entry scaled = g.op("Mul", {g.weight({8}), normal});
    return form.centred ? g.op("Add", {scaled, g.weight({8})}) : scaled;
}

std::vector<Unit> unitsOf(const graph::Model &model)
{
    return patterns::findUnits(patterns::networkOf(model));
}

QStringList kindsOf(const std::vector<Unit> &units)
{
    QStringList kinds;
    for (const Unit &unit : units)
        kinds << QString::fromUtf8(patterns::titleOf(unit.kind).data());
    return kinds;
}

/// Every operator of the graph that is no Constant, but the casts at the end.
std::size_t operatorsOf(const graph::Model &model)
{
    std::size_t count = 0;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id)
        count += model.graph.isVariable(id) || model.graph.node(id).op == "Constant" ? 0 : 1;
    return count;
}

using Write = std::function<Entry(Onnx &, Entry)>;

} // namespace

Q_DECLARE_METATYPE(NormForm)
Q_DECLARE_METATYPE(Write)

class TestUnits : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (onnx() == nullptr)
            QSKIP("this build was made without ONNX");
    }

    void residualBlocksEndWithTheirSum()
    {
        const auto *dialect = onnx();
        if (dialect == nullptr)
            QSKIP("this build has no ONNX");
        Onnx g(*dialect);
        const Entry x = g.data();
        const Entry mask = g.op("Abs", {g.data("mask")});
        const auto product = [&g](Entry of) { return g.op("MatMul", {of, g.weight(Shape{4, 4})}); };
        Entry branch = g.op("Relu", {product(x)});
        const Entry first = g.op("Add", {g.op("Mul", {product(branch), mask}), x});
        const Entry second = g.op("Add", {first, product(first)});
        const Entry apart = g.op("Add", {product(second), product(mask)}); // two sources
        const Entry plain = g.op("Add", {apart, g.op("Relu", {apart})}); // nothing multiplies
        const graph::Model model = g.model({plain});
        const auto units = patterns::findResiduals(patterns::networkOf(model));
        QCOMPARE(units.size(), std::size_t{2});
        QCOMPARE(units[0].nodes.size(), std::size_t{5});
        QVERIFY(units[0].isClosed);
        QCOMPARE(units[0].nodes.back(), first.node);
        QCOMPARE(units[1].nodes.back(), second.node);
    }

    /// What a branch reads beside its source may be as long as it likes.
    void residualBlocksDoNotCountWhatStandsBefore()
    {
        const auto *dialect = onnx();
        if (dialect == nullptr)
            QSKIP("this build has no ONNX");
        Onnx g(*dialect);
        Entry mask = g.data("mask");
        for (int k = 0; k < 300; ++k)
            mask = g.op("Abs", {mask});
        const Entry x = g.op("Relu", {g.data()});
        const Entry branch = g.op("Mul", {g.op("MatMul", {x, g.weight(Shape{4, 4})}), mask});
        const graph::Model model = g.model({g.op("Add", {branch, x})});
        const auto units = patterns::findResiduals(patterns::networkOf(model));
        QCOMPARE(units.size(), std::size_t{1});
        QCOMPARE(units[0].nodes.size(), std::size_t{3});
    }

    void normsAreFoundInEveryForm_data()
    {
        QTest::addColumn<NormForm>("form");
        QTest::newRow("as PyTorch exports it") << NormForm{};
        QTest::newRow("square as a product") << NormForm{.square = "Mul"};
        QTest::newRow("reciprocal") << NormForm{.root = "Reciprocal"};
        QTest::newRow("quotient of 1") << NormForm{.root = "Quotient"};
        QTest::newRow("power of a half") << NormForm{.root = "Power"};
        QTest::newRow("power of minus a half") << NormForm{.root = "Inverse"};
        QTest::newRow("axes as an input") << NormForm{.axesAsInput = true};
        QTest::newRow("difference twice") << NormForm{.secondDifference = true};
        QTest::newRow("casts within") << NormForm{.casts = true};
        QTest::newRow("epsilon first") << NormForm{.epsilonFirst = true};
        QTest::newRow("numbers as initialisers") << NormForm{.initialisers = true};
        QTest::newRow("no gamma, no beta") << NormForm{.affine = false};
        QTest::newRow("root mean square") << NormForm{.centred = false};
        QTest::newRow("root mean square by a power")
            << NormForm{.square = "Mul", .root = "Inverse", .centred = false};
        QTest::newRow("root mean square, casts")
            << NormForm{.root = "Quotient", .casts = true, .centred = false};
    }

    void normsAreFoundInEveryForm()
    {
        QFETCH(NormForm, form);
        Onnx g(*onnx());
        if (form.initialisers)
            g.useInitialisers();
        const Entry x = g.data();
        const Entry y = norm(g, x, form);
        const graph::Model model = g.model({y});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units), QStringList{form.centred ? "LayerNorm" : "RMSNorm"});
        const std::size_t outside = form.casts && !form.centred ? 1 : 0; // the cast of x itself
        QCOMPARE(units[0].nodes.size(), operatorsOf(model) - outside);
        QVERIFY(units[0].isClosed);
        if (!form.affine || (form.casts && !form.centred)) { // x and a cast of it are read
            QVERIFY(!units[0].whole);
            return;
        }
        const auto *whole = units[0].whole->getIf<ops::LayerNormalization>();
        QVERIFY(whole != nullptr);
        QCOMPARE(whole->axis, std::int64_t{-1});
        QCOMPARE(whole->centred, form.centred);
        QCOMPARE(whole->hasBeta, form.centred);
        QVERIFY(std::abs(whole->epsilon - 1e-5) < 1e-9);
        QCOMPARE(units[0].inputs.front(), patterns::ValueIndex{0});
    }

    /// The way a batch normalisation is written, as TensorFlow has it.
    void scaleAndShiftAreALayerNorm()
    {
        Onnx g(*onnx());
        const Entry x = g.data();
        const Entry average = g.op("ReduceMean", {x}, {{"axes", "[-1]"}});
        const Entry difference = g.op("Sub", {x, average});
        const Entry variance
            = g.op("ReduceMean", {g.op("Mul", {difference, difference})}, {{"axes", "[-1]"}});
        const Entry root = g.op("Reciprocal", {g.op("Sqrt", {g.op("Add", {variance, g.number(1e-6)})})});
        const Entry scale = g.op("Mul", {root, g.weight({8})});
        const Entry shift = g.op("Sub", {g.weight({8}), g.op("Mul", {average, scale})});
        const graph::Model model = g.model({g.op("Add", {g.op("Mul", {x, scale}), shift})});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units), QStringList{"LayerNorm"});
        QCOMPARE(units[0].nodes.size(), operatorsOf(model));
        QVERIFY(units[0].whole);
        QCOMPARE(units[0].inputs.size(), std::size_t{3});
    }

    void activationsAreFoundInEveryForm_data()
    {
        QTest::addColumn<Write>("write");
        QTest::addColumn<QString>("title");
        const auto row = [](const char *name, const char *title, Write write) {
            QTest::newRow(name) << write << QString(title);
        };
        const auto erf = [](Onnx &g, Entry x) {
            return g.op("Erf", {g.op("Div", {x, g.number(1.41421356)})});
        };
        row("erf, half last", "GELU", [erf](Onnx &g, Entry x) {
            return g.op("Mul", {g.op("Mul", {x, g.op("Add", {erf(g, x), g.number(1)})}), g.number(0.5)});
        });
        row("erf, half of x", "GELU", [erf](Onnx &g, Entry x) {
            return g.op("Mul", {g.op("Mul", {x, g.number(0.5)}), g.op("Add", {g.number(1), erf(g, x)})});
        });
        row("erf, half before x", "GELU", [erf](Onnx &g, Entry x) {
            return g.op("Mul", {x, g.op("Mul", {g.op("Add", {erf(g, x), g.number(1)}), g.number(0.5)})});
        });
        row("erf of a product, rounded to 16 bits", "GELU", [](Onnx &g, Entry x) {
            const Entry inner = g.op("Erf", {g.op("Mul", {x, g.number(0.70703125)})});
            return g.op("Mul", {g.op("Mul", {x, g.op("Add", {inner, g.number(1)})}), g.number(0.5)});
        });
        row("tanh of a power", "GELU (tanh)", [](Onnx &g, Entry x) {
            const Entry cube = g.op("Mul", {g.op("Pow", {x, g.number(3)}), g.number(0.044715)});
            const Entry inner = g.op("Mul", {g.op("Add", {x, cube}), g.number(0.7978845608)});
            const Entry one = g.op("Add", {g.op("Tanh", {inner}), g.number(1)});
            return g.op("Mul", {g.op("Mul", {x, g.number(0.5)}), one});
        });
        row("tanh of products", "GELU (tanh)", [](Onnx &g, Entry x) {
            const Entry square = g.op("Mul", {x, x});
            const Entry sum = g.op("Add", {g.op("Mul", {square, g.number(0.044715)}), g.number(1)});
            const Entry inner = g.op("Mul", {g.op("Mul", {x, g.number(0.7978845608)}), sum});
            const Entry one = g.op("Add", {g.op("Tanh", {inner}), g.number(1)});
            return g.op("Mul", {g.op("Mul", {one, x}), g.number(0.5)});
        });
        row("sigmoid", "SiLU", [](Onnx &g, Entry x) { return g.op("Mul", {x, g.op("Sigmoid", {x})}); });
        row("sigmoid of a multiple", "SiLU", [](Onnx &g, Entry x) {
            return g.op("Mul", {g.op("Sigmoid", {g.op("Mul", {x, g.number(1.702)})}), x});
        });
        row("hard sigmoid", "HardSwish", [](Onnx &g, Entry x) {
            return g.op("Mul", {x, g.op("HardSigmoid", {x}, {{"alpha", "0.16666667"}, {"beta", "0.5"}})});
        });
        row("clip to 6, divided", "HardSwish", [](Onnx &g, Entry x) {
            const Entry clip = g.op("Clip", {g.op("Add", {x, g.number(3)}), g.number(0), g.number(6)});
            return g.op("Div", {g.op("Mul", {x, clip}), g.number(6)});
        });
        row("clip to 6, divided before", "HardSwish", [](Onnx &g, Entry x) {
            const Entry clip = g.op("Clip", {g.op("Add", {x, g.number(3)}), g.number(0), g.number(6)});
            return g.op("Mul", {x, g.op("Div", {clip, g.number(6)})});
        });
        row("mish", "Mish", [](Onnx &g, Entry x) {
            return g.op("Mul", {x, g.op("Tanh", {g.op("Softplus", {x})})});
        });
        row("softmax", "Softmax", [](Onnx &g, Entry x) {
            const Entry powers = g.op("Exp", {g.op("Sub", {x, g.op("ReduceMax", {x}, {{"axes", "[-1]"}})})});
            return g.op("Div", {powers, g.op("ReduceSum", {powers, g.integers({-1})})});
        });
    }

    void activationsAreFoundInEveryForm()
    {
        QFETCH(Write, write);
        QFETCH(QString, title);
        Onnx g(*onnx());
        // x is itself computed by operators that the form has, too, and what follows is no part of it.
        const Entry x = g.op("Add", {g.op("Mul", {g.data(), g.weight({8})}), g.weight({8})});
        const Entry y = write(g, x);
        const graph::Model model = g.model({g.op("Mul", {y, g.number(3)})});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units), QStringList{title});
        QCOMPARE(units[0].nodes.size(), operatorsOf(model) - 3);
        QVERIFY(units[0].isClosed && units[0].whole);
        QCOMPARE(units[0].inputs.size(), std::size_t{1});
    }

    void rotaryEmbeddingsAreFoundInEveryForm_data()
    {
        QTest::addColumn<Write>("write");
        QTest::addColumn<bool>("isOne");
        const auto row
            = [](const char *name, bool isOne, Write write) { QTest::newRow(name) << write << isOne; };
        const auto cut = [](Onnx &g, Entry x, std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
            return g.op("Slice",
                        {x, g.integers({begin}), g.integers({end}), g.integers({-1}), g.integers({step})});
        };
        const auto angles = [](Onnx &g) {
            return std::pair(g.op("Cos", {g.data("angles")}), g.op("Sin", {g.data("angles2")}));
        };
        const auto sum = [angles](Onnx &g, Entry x, Entry turned) {
            const auto [cosine, sine] = angles(g);
            return g.op("Add", {g.op("Mul", {x, cosine}), g.op("Mul", {turned, sine})});
        };
        row("halves", true, [=](Onnx &g, Entry x) {
            const Entry first = cut(g, x, 0, 4);
            return sum(g, x, g.op("Concat", {g.op("Neg", {cut(g, x, 4, 8)}), first}, {{"axis", "-1"}}));
        });
        row("sine first, casts between", true, [=](Onnx &g, Entry x) {
            const auto [cosine, sine] = angles(g);
            const Entry turned
                = g.op("Concat", {g.op("Neg", {cut(g, x, 4, 8)}), cut(g, x, 0, 4)}, {{"axis", "-1"}});
            const Entry wide = g.op("Cast", {turned}, {{"to", "1"}});
            return g.op("Add", {g.op("Mul", {sine, wide}), g.op("Mul", {cosine, x})});
        });
        row("neighbours", true, [=](Onnx &g, Entry x) {
            const auto column = [&g](Entry of) { return g.op("Unsqueeze", {of, g.integers({-1})}); };
            const Entry joined
                = g.op("Concat", {column(g.op("Neg", {cut(g, x, 1, 8, 2)})), column(cut(g, x, 0, 8, 2))},
                       {{"axis", "-1"}});
            return sum(g, x, g.op("Reshape", {joined, g.integers({0, 0, 8})}));
        });
        const auto parts = [=](Onnx &g, Entry x, bool isRotation) {
            const auto [cosine, sine] = angles(g);
            const Entry a = cut(g, x, 0, 4);
            const Entry b = cut(g, x, 4, 8);
            const Entry left = g.op("Sub", {g.op("Mul", {a, cosine}), g.op("Mul", {b, sine})});
            const Entry right = g.op(
                "Add",
                {g.op("Mul", {a, isRotation ? sine : cosine}), g.op("Mul", {b, isRotation ? cosine : sine})});
            return g.op("Concat", {left, right}, {{"axis", "-1"}});
        };
        row("part by part", true, [=](Onnx &g, Entry x) { return parts(g, x, true); });
        row("not turned", false, [=](Onnx &g, Entry x) { return parts(g, x, false); });
        row("parts in their places", false, [=](Onnx &g, Entry x) {
            return sum(g, x,
                       g.op("Concat", {g.op("Neg", {cut(g, x, 0, 4)}), cut(g, x, 4, 8)}, {{"axis", "-1"}}));
        });
        row("parts of another value", false, [=](Onnx &g, Entry x) {
            const Entry other = g.data("other");
            return sum(
                g, x,
                g.op("Concat", {g.op("Neg", {cut(g, other, 4, 8)}), cut(g, other, 0, 4)}, {{"axis", "-1"}}));
        });
        row("without the sign", false, [=](Onnx &g, Entry x) {
            return sum(g, x, g.op("Concat", {cut(g, x, 4, 8), cut(g, x, 0, 4)}, {{"axis", "-1"}}));
        });
    }

    void rotaryEmbeddingsAreFoundInEveryForm()
    {
        QFETCH(const Write, write);
        QFETCH(const bool, isOne);
        Onnx g(*onnx());
        const Entry x = g.op("Identity", {g.data()});
        const graph::Model model = g.model({g.op("Identity", {write(g, x)})});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units), isOne ? QStringList{"Rotary embedding"} : QStringList());
        if (!isOne)
            return;
        QVERIFY(units[0].isClosed);
        QCOMPARE(units[0].nodes.size(), operatorsOf(model) - 4); // without both Identities, Cos and Sin
        QCOMPARE(units[0].inputs.size(), std::size_t{3});
    }

    /// The products that make queries and keys belong to the attention that turns them.
    void attentionReachesBehindRotaryEmbeddings()
    {
        Onnx g(*onnx());
        const Entry x = g.data();
        const auto product = [&g](Entry of) { return g.op("MatMul", {of, g.weight(Shape{8, 8})}); };
        const Entry cosine = g.op("Cos", {g.data("angles")});
        const Entry sine = g.op("Sin", {g.data("angles2")});
        const auto turned = [&](Entry of) {
            const auto cut = [&](std::int64_t begin, std::int64_t end) {
                return g.op("Slice",
                            {of, g.integers({begin}), g.integers({end}), g.integers({-1}), g.integers({1})});
            };
            const Entry other = g.op("Concat", {g.op("Neg", {cut(4, 8)}), cut(0, 4)}, {{"axis", "-1"}});
            return g.op("Add", {g.op("Mul", {of, cosine}), g.op("Mul", {other, sine})});
        };
        const Entry keys = g.op("Transpose", {turned(product(x))}, {{"perm", "[0,2,1]"}});
        const Entry scores = g.op("MatMul", {turned(product(x)), keys});
        const Entry mixed = g.op("MatMul", {g.op("Softmax", {scores}, {{"axis", "-1"}}), product(x)});
        const graph::Model model = g.model({mixed});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units), (QStringList{"Rotary embedding", "Rotary embedding", "Attention"}));
        QCOMPARE(units[2].nodes.size(), operatorsOf(model) - 2); // without Cos and Sin
    }

    void nearMissesAreNothing_data()
    {
        QTest::addColumn<Write>("write");
        const auto row = [](const char *name, Write write) { QTest::newRow(name) << write; };
        row("too much to be an epsilon", [](Onnx &g, Entry x) { return norm(g, x, {.epsilon = 1}); });
        row("no square", [](Onnx &g, Entry x) {
            const Entry mean = g.op("ReduceMean", {g.op("Pow", {x, g.number(3)})}, {{"axes", "[-1]"}});
            return g.op("Div", {x, g.op("Sqrt", {g.op("Add", {mean, g.number(1e-5)})})});
        });
        row("something else is divided", [](Onnx &g, Entry x) {
            const Entry mean = g.op("ReduceMean", {g.op("Pow", {x, g.number(2)})}, {{"axes", "[-1]"}});
            return g.op("Div", {g.data("other"), g.op("Sqrt", {g.op("Add", {mean, g.number(1e-5)})})});
        });
        row("erf of x itself", [](Onnx &g, Entry x) {
            return g.op("Mul",
                        {g.op("Mul", {x, g.op("Add", {g.op("Erf", {x}), g.number(1)})}), g.number(0.5)});
        });
        row("a quarter", [](Onnx &g, Entry x) {
            const Entry erf = g.op("Erf", {g.op("Div", {x, g.number(1.41421356)})});
            return g.op("Mul", {g.op("Mul", {x, g.op("Add", {erf, g.number(1)})}), g.number(0.25)});
        });
        row("times something else", [](Onnx &g, Entry x) {
            const Entry erf = g.op("Erf", {g.op("Div", {x, g.number(1.41421356)})});
            return g.op("Mul",
                        {g.op("Mul", {g.data("other"), g.op("Add", {erf, g.number(1)})}), g.number(0.5)});
        });
        row("a gate", [](Onnx &g, Entry x) { return g.op("Mul", {g.data("other"), g.op("Sigmoid", {x})}); });
        row("another cube", [](Onnx &g, Entry x) {
            const Entry cube = g.op("Mul", {g.op("Pow", {x, g.number(3)}), g.number(0.05)});
            const Entry inner = g.op("Mul", {g.op("Add", {x, cube}), g.number(0.7978845608)});
            const Entry one = g.op("Add", {g.op("Tanh", {inner}), g.number(1)});
            return g.op("Mul", {g.op("Mul", {x, g.number(0.5)}), one});
        });
        row("clip to 5", [](Onnx &g, Entry x) {
            const Entry clip = g.op("Clip", {g.op("Add", {x, g.number(3)}), g.number(0), g.number(5)});
            return g.op("Div", {g.op("Mul", {x, clip}), g.number(6)});
        });
        row("divided by another's sum", [](Onnx &g, Entry x) {
            const Entry sum = g.op("ReduceSum", {g.op("Exp", {g.data("other")}), g.integers({-1})});
            return g.op("Div", {g.op("Exp", {x}), sum});
        });
        row("a part of the sum", [](Onnx &g, Entry x) {
            const Entry powers = g.op("Exp", {x});
            return g.op("Div", {g.op("ReduceSum", {powers, g.integers({-1})}), powers});
        });
    }

    /// What is left of x is divided by its root mean square, no more; along which axis, nobody knows before shapes are.
    void varianceAlongAnotherAxisIsNoLayerNorm()
    {
        Onnx g(*onnx());
        const auto units = unitsOf(g.model({norm(g, g.data(), {.secondAxes = "[1]"})}));
        QCOMPARE(kindsOf(units), QStringList{"RMSNorm"});
        QVERIFY(!units[0].whole);
    }

    void nearMissesAreNothing()
    {
        QFETCH(Write, write);
        Onnx g(*onnx());
        const Entry x = g.data();
        const Entry y = write(g, x);
        const graph::Model model = g.model({y});
        QCOMPARE(kindsOf(unitsOf(model)), QStringList{});
    }

    /// Such a unit is shown, but nothing can be put in its place.
    void whatIsReadWithinKeepsItOpen()
    {
        for (const bool asOutput : {false, true}) {
            Onnx g(*onnx());
            const Entry x = g.data();
            const Entry erf = g.op("Erf", {g.op("Div", {x, g.number(1.41421356)})});
            const Entry y = g.op("Mul", {g.op("Mul", {x, g.op("Add", {erf, g.number(1)})}), g.number(0.5)});
            std::vector<Entry> heads{y, asOutput ? erf : g.op("Neg", {erf})};
            const auto units = unitsOf(g.model(heads));
            QCOMPARE(kindsOf(units), QStringList{"GELU"});
            QVERIFY(!units[0].isClosed);
            QVERIFY(!units[0].whole);
        }
    }

    void attentionIsFoundInEveryForm_data()
    {
        QTest::addColumn<QString>("scale");
        QTest::addColumn<QString>("mask");
        QTest::addColumn<bool>("isSoftmaxWritten");
        for (const char *scale : {"scores", "query", "both", "after the mask"})
            for (const char *mask : {"none", "sum", "where"})
                QTest::addRow("scale of %s, mask %s", scale, mask)
                    << QString(scale) << QString(mask) << false;
        QTest::newRow("softmax written out") << QString("scores") << QString("sum") << true;
    }

    void attentionIsFoundInEveryForm()
    {
        QFETCH(QString, scale);
        QFETCH(QString, mask);
        QFETCH(bool, isSoftmaxWritten);
        Onnx g(*onnx());
        const Entry x = g.data();
        const Entry masking = g.data("mask");
        const auto side = [&](const char *axes) {
            const Entry product = g.op("Add", {g.op("MatMul", {x, g.weight({8, 8})}), g.weight({8})});
            return g.op("Transpose", {g.op("Reshape", {product, g.integers({0, 0, 2, 4})})},
                        {{"perm", axes}});
        };
        Entry query = side("[0, 2, 1, 3]");
        Entry key = side("[0, 2, 3, 1]");
        const Entry value = side("[0, 2, 1, 3]");
        if (scale == "query" || scale == "both")
            query = g.op("Mul", {query, g.number(0.5)});
        if (scale == "both")
            key = g.op("Mul", {key, g.number(0.5)});
        Entry scores = g.op("MatMul", {query, key});
        if (scale == "scores")
            scores = g.op("Div", {scores, g.number(2)});
        if (mask == "sum")
            scores = g.op("Add", {masking, scores});
        if (mask == "where")
            scores = g.op("Where", {masking, scores, g.number(-10000)});
        if (scale == "after the mask")
            scores = g.op("Mul", {scores, g.number(0.5)});
        Entry weights;
        if (isSoftmaxWritten) {
            const Entry powers
                = g.op("Exp", {g.op("Sub", {scores, g.op("ReduceMax", {scores}, {{"axes", "[-1]"}})})});
            weights = g.op("Div", {powers, g.op("ReduceSum", {powers, g.integers({-1})})});
        } else {
            weights = g.op("Softmax", {scores}, {{"axis", "-1"}});
        }
        const Entry context
            = g.op("Transpose", {g.op("MatMul", {weights, value})}, {{"perm", "[0, 2, 1, 3]"}});
        const Entry joined = g.op("Reshape", {context, g.integers({0, 0, 8})});
        const graph::Model model = g.model({g.op("Add", {joined, x})});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units),
                 isSoftmaxWritten ? (QStringList{"Softmax", "Attention"}) : QStringList{"Attention"});
        QCOMPARE(units.back().nodes.size(), operatorsOf(model) - 1);
        QVERIFY(units.back().isClosed);
    }

    /// The gate's activation times another product of the same input, and a product behind.
    void aGateMakesAnMlpGated_data()
    {
        QTest::addColumn<bool>("isSame");
        QTest::newRow("one input") << true;
        QTest::newRow("two inputs") << false;
    }

    void aGateMakesAnMlpGated()
    {
        QFETCH(const bool, isSame);
        Onnx g(*onnx());
        const Entry x = g.data();
        const auto product = [&g](Entry of) { return g.op("MatMul", {of, g.weight(Shape{8, 8})}); };
        const Entry gate = product(x);
        const Entry active = g.op("Mul", {gate, g.op("Sigmoid", {gate})});
        const Entry gated = g.op("Mul", {active, product(isSame ? x : g.data("other"))});
        const graph::Model model = g.model({product(gated)});
        const auto units = unitsOf(model);
        QCOMPARE(kindsOf(units), isSame ? (QStringList{"SiLU", "Gated MLP"}) : QStringList{"SiLU"});
        if (isSame)
            QCOMPARE(units[1].nodes.size(), operatorsOf(model));
    }

    void operatorsThatAreUnitsCountAsSuch()
    {
        Onnx g(*onnx());
        const Entry x = g.data();
        const auto product = [&g](Entry of) { return g.op("MatMul", {of, g.weight(Shape{8, 8})}); };
        const Entry normal = g.op("RMSNormalization", {x, g.weight({8})});
        const auto turned = [&](Entry of) {
            return g.op("RotaryEmbedding", {of, g.weight({4, 2}), g.weight({4, 2})}, {{"num_heads", "2"}});
        };
        const Entry mixed
            = g.op("Attention", {turned(product(normal)), turned(product(normal)), product(normal)},
                   {{"q_num_heads", "2"}, {"kv_num_heads", "2"}});
        const auto units = unitsOf(g.model({product(mixed)}));
        QCOMPARE(kindsOf(units),
                 (QStringList{"RMSNorm", "Rotary embedding", "Rotary embedding", "Attention"}));
        QCOMPARE(units[3].nodes.size(), std::size_t{6}); // with three products and two turns
    }

    void aClassifierIsNoAttention()
    {
        Onnx g(*onnx());
        const Entry scores = g.op("MatMul", {g.data(), g.weight({8, 8})});
        const Entry weights = g.op("Softmax", {scores}, {{"axis", "-1"}});
        QCOMPARE(kindsOf(unitsOf(g.model({g.op("MatMul", {weights, g.weight({8, 8})})}))), QStringList{});
    }

    void anMlpHoldsItsActivation()
    {
        Onnx g(*onnx());
        const Entry x = g.op("Add", {g.op("MatMul", {g.data(), g.weight({8, 32})}), g.weight({32})});
        const Entry y = g.op("Mul", {x, g.op("Sigmoid", {x})});
        const Entry z = g.op("Add", {g.op("MatMul", {y, g.weight({32, 8})}), g.weight({8})});
        const auto units = unitsOf(g.model({z}));
        QCOMPARE(kindsOf(units), (QStringList{"SiLU", "MLP"}));
        QVERIFY(std::ranges::includes(units[1].nodes, units[0].nodes));
    }

    /// The same by MXNet's operators: recognisers know no format.
    void mxnetsOperatorsAreTheSame()
    {
        test::GraphBuilder g;
        const Entry x = g.variable("x");
        const Entry mean = g.op("mean", "mean", {x}, {{"axis", "-1"}, {"keepdims", "True"}});
        const Entry difference = g.op("broadcast_sub", "difference", {x, mean});
        const Entry square = g.op("square", "square", {difference});
        const Entry variance = g.op("mean", "variance", {square}, {{"axis", "-1"}, {"keepdims", "True"}});
        const Entry guarded = g.op("_plus_scalar", "guarded", {variance}, {{"scalar", "1e-5"}});
        const Entry normal = g.op("broadcast_mul", "normal", {difference, g.op("rsqrt", "root", {guarded})});
        const Entry scaled = g.op("broadcast_mul", "scaled", {normal, g.variable("gamma")});
        const Entry whole = g.op("broadcast_add", "shifted", {scaled, g.variable("beta")});
        const Entry half = g.op("_mul_scalar", "half", {whole}, {{"scalar", "0.5"}});
        const Entry inner = g.op("_div_scalar", "inner", {whole}, {{"scalar", "1.41421356"}});
        const Entry one = g.op("_plus_scalar", "one", {g.op("erf", "erf", {inner})}, {{"scalar", "1"}});
        const graph::Model model = g.model({g.op("elemwise_mul", "gelu", {half, one})});
        QCOMPARE(kindsOf(unitsOf(model)), (QStringList{"LayerNorm", "GELU"}));
    }

    void tenThousandNodesTakeMilliseconds()
    {
        Onnx g(*onnx());
        Entry x = g.data();
        for (int k = 0; k < 700; ++k) {
            x = norm(g, x, {});
            x = g.op("Mul", {x, g.op("Sigmoid", {x})});
        }
        const graph::Model model = g.model({x});
        QVERIFY(model.graph.nodeCount() > 10'000);
        const patterns::Network network = patterns::networkOf(model);
        const halftone::test::CpuClock timer;
        const auto units = patterns::findUnits(network);
        QVERIFY2(timer.elapsed() < halftone::test::instrumented(500),
                 std::to_string(timer.elapsed()).c_str()); // without optimisation
        QCOMPARE(units.size(), std::size_t{1400});
        std::set<patterns::NodeIndex> seen;
        for (const Unit &unit : units)
            for (const patterns::NodeIndex node : unit.nodes)
                QVERIFY(seen.insert(node).second);
    }

    /// One value with very many readers costs no more than others.
    void manyReadersAreNoTrouble()
    {
        Onnx g(*onnx());
        const Entry x = g.data();
        std::vector<Entry> heads;
        for (int k = 0; k < 5000; ++k)
            heads.push_back(g.op("Mul", {x, g.op("Sigmoid", {x})}));
        const patterns::Network network = patterns::networkOf(g.model(heads));
        const halftone::test::CpuClock timer;
        QCOMPARE(patterns::findUnits(network).size(), std::size_t{5000});
        QVERIFY2(timer.elapsed() < halftone::test::instrumented(1000),
                 std::to_string(timer.elapsed()).c_str());
    }
};

QTEST_GUILESS_MAIN(TestUnits)
#include "tst_units.moc"
