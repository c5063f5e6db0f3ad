#include "core/dialect/dialect.h"
#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "core/mixed/node_arithmetic.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"
#include "tests/support/typed/convert.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace halftone;
using graph::NodeId;
using tensor::DType;
using test::convert;

namespace {

const std::string kCases = std::string(HALFTONE_TEST_DATA) + "/tvm";

policy::Policy tvm(DType target, std::optional<DType> accumulate = {})
{
    policy::Policy policy;
    policy.mode = policy::Mode::Tvm;
    policy.target = target;
    policy.accumulate = accumulate;
    policy.castParams = false;
    policy.keepIoTypes = false;
    return policy;
}

/// In an opset in which its operators take that type.
graph::Model load(const std::string &path, DType target = DType::F16)
{
    auto loaded = io::loadModel(path, {});
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    graph::Model model = std::move(loaded).value().model;
    const auto raised = dialect::of(model.graph).raised(model.graph, target, 0);
    if (raised.value())
        model.graph = raised.value()->graph;
    return model;
}

/// No tensor is cast twice to one type, and none to the type that it has.
bool areCastsSingle(const rewrite::Conversion &conversion)
{
    std::set<std::tuple<NodeId, std::uint32_t, DType>> seen;
    return std::ranges::all_of(conversion.casts, [&](const rewrite::InsertedCast &cast) {
        const graph::Entry &read = conversion.graph.inputs(cast.cast).front();
        return conversion.types.of(read) != cast.type
            && seen.emplace(cast.tensor.node, cast.tensor.output, cast.type).second;
    });
}

NodeId named(const graph::Graph &graph, const std::string &name)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).name == name)
            return id;
    }
    qFatal("no node %s", name.c_str());
}

} // namespace

class TestTvm : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (!io::loadModel(kCases + "/conv_relu/model.onnx", {}).ok())
            QSKIP("this build was made without ONNX");
    }
    void computesAsRelay_data();
    void computesAsRelay();
    void lowersEverything_data() { computesAsRelay_data(); }
    void lowersEverything();
    void readsMxnetByItsStructs();
    void hasNoPairOfCastsBehindAnAccumulator();
    void warnsOfWhatIsNotRegistered();
    void leavesWhatAPersonDecided();
    void convertsTwiceToTheSame();
};

void TestTvm::computesAsRelay_data()
{
    QTest::addColumn<QString>("folder");
    for (const std::string &name : test::foldersIn(kCases))
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

/// Relay's pass over the same graph, by an independent model of it (tests/data/tvm): types of all nodes, accumulators of those that are always
/// lowered, and no more casts, but for a pass that is misled by integers.
void TestTvm::computesAsRelay()
{
    QFETCH(const QString, folder);
    const std::string path = kCases + '/' + folder.toStdString();
    const auto goldens = test::readJson(path + "/golden.json");
    for (const auto &[name, golden] : goldens.items()) {
        const auto target = tensor::dtypeNamed(golden["target"].get<std::string>()).value();
        const graph::Model model = load(path + "/model.onnx", target);
        const auto converted
            = convert(model, tvm(target, tensor::dtypeNamed(golden["accumulate"].get<std::string>())));
        QVERIFY(areCastsSingle(converted.conversion));
        if (golden["integer_quirk"])
            continue;
        QVERIFY2(converted.conversion.castCounts().casts <= golden["casts"].get<std::size_t>(), name.c_str());
        const auto arithmetic = mixed::arithmeticOf(model.graph, converted);
        for (const auto &node : golden["nodes"]) {
            const mixed::NodeArithmetic &one = arithmetic[named(model.graph, node["name"])];
            QCOMPARE(std::string(tensor::nameOf(one.compute)), node["computes"].get<std::string>());
            if (node["category"] == "always")
                QCOMPARE(std::string(tensor::nameOf(one.accumulate)), node["accumulates"].get<std::string>());
        }
    }
}

void TestTvm::lowersEverything()
{
    QFETCH(const QString, folder);
    const graph::Model model = load(kCases + '/' + folder.toStdString() + "/model.onnx");
    policy::Policy policy;
    policy.mode = policy::Mode::All;
    const auto converted = convert(model, policy);
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (!model.graph.isVariable(id))
            QVERIFY2(converted.conversion.precisionOf(id) != DType::F32, model.graph.node(id).name.c_str());
    }
}

/// The same rules for MXNet's operators: softmax stays, what hangs between products is lowered.
void TestTvm::readsMxnetByItsStructs()
{
    test::GraphBuilder g;
    const graph::Attributes dense{{"num_hidden", "4"}, {"no_bias", "True"}};
    const auto one = g.op("FullyConnected", "one", {g.variable("x"), g.variable("w1")}, dense);
    const auto relu = g.op("Activation", "relu", {one}, {{"act_type", "relu"}});
    const auto soft = g.op("softmax", "soft", {relu});
    const auto sum = g.op("elemwise_add", "sum", {relu, soft});
    const auto two = g.op("FullyConnected", "two", {sum, g.variable("w2")}, dense);
    const graph::Model model = g.model({two});
    const auto converted = convert(model, tvm(DType::F16));
    const auto type
        = [&](const char *name) { return converted.conversion.precisionOf(named(model.graph, name)); };
    QVERIFY(type("one") == DType::F16);
    QVERIFY(type("relu") == DType::F16);
    QVERIFY(type("soft") == DType::F32);
    QVERIFY(type("sum") == DType::F32); // one of its inputs is float32
    QVERIFY(type("two") == DType::F16);
}

void TestTvm::hasNoPairOfCastsBehindAnAccumulator()
{
    test::GraphBuilder g;
    const auto product = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")},
                              {{"num_hidden", "4"}, {"no_bias", "True"}});
    const graph::Model model = g.model({g.op("softmax", "soft", {product})});
    const auto wide = convert(model, tvm(DType::F16));
    QCOMPARE(wide.conversion.castCounts().casts, std::size_t{2}); // x and w
    QCOMPARE(wide.conversion.castCounts().ofAccumulators, std::size_t{1});
    const auto fc = mixed::arithmeticOf(model.graph, wide, named(model.graph, "fc"));
    QVERIFY(fc.compute == DType::F16 && fc.accumulate == DType::F32 && fc.output == DType::F32);

    const auto narrow = convert(model, tvm(DType::F16, DType::F16));
    QCOMPARE(narrow.conversion.castCounts().casts, std::size_t{3});
    QCOMPARE(narrow.conversion.castCounts().ofAccumulators, std::size_t{0});
    QVERIFY(mixed::arithmeticOf(model.graph, narrow, named(model.graph, "fc")).output == DType::F16);
}

void TestTvm::warnsOfWhatIsNotRegistered()
{
    const graph::Model model = load(kCases + "/unknown_operator_is_follow/model.onnx");
    const auto converted = convert(model, tvm(DType::F16));
    const auto at = std::ranges::find(converted.warnings, "missing_operator_class", &policy::Warning::code);
    QVERIFY(at != converted.warnings.end());
    QVERIFY(at->entry.find("Mish") != std::string::npos);
    QCOMPARE(at->nodes, std::vector<std::string>{"mish1"});
    QVERIFY(!mixed::convertModel(model, tvm(DType::F16), true).ok());
}

void TestTvm::leavesWhatAPersonDecided()
{
    const graph::Model model = load(kCases + "/softmax_head/model.onnx");
    policy::Policy policy = tvm(DType::F16);
    policy.moves = {{"Softmax", policy::Policy::Move::To::Target},
                    {"Gemm", policy::Policy::Move::To::Fp32},
                    {"MatMul", policy::Policy::Move::To::Fp32}};
    const auto converted = convert(model, policy);
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &op = model.graph.node(id).op;
        if (op == "Softmax")
            QVERIFY(converted.conversion.precisionOf(id) == DType::F16);
        else if (op == "Gemm" || op == "MatMul")
            QVERIFY(converted.conversion.precisionOf(id) == DType::F32);
    }
}

void TestTvm::convertsTwiceToTheSame()
{
    const graph::Model model = load(kCases + "/squeeze_excite/model.onnx");
    const auto once = convert(model, tvm(DType::F16));
    const auto twice = convert(once.model, tvm(DType::F16));
    QCOMPARE(twice.conversion.castCounts().all(), once.conversion.castCounts().all());
    QCOMPARE(test::linesOf(twice.model.graph), test::linesOf(once.model.graph));
}

QTEST_APPLESS_MAIN(TestTvm)
#include "tst_tvm.moc"
