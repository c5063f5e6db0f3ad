#include "core/backends/backends.h"
#include "core/compare/lowered_layer.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/interpret/interpreter.h"
#include "core/mixed/convert_model.h"
#include "core/quantize/quantize.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace halftone;
using graph::NodeId;
using policy::Policy;
using tensor::DType;

namespace {

using Values = std::vector<float>;

tensor::Array array(const std::string &name, const tensor::Shape &shape, const Values &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor::Array made;
    made.name = name;
    made.shape = shape;
    made.values = tensor::Tensor::owning(DType::F32, shape, std::move(bytes));
    return made;
}

/// Builds networks with parameters, the same ones in every run.
class Network
{
public:
    graph::Entry conv(const std::string &name, const graph::Entry &x, int in, int out)
    {
        const auto entry
            = m_builder.op("Convolution", name, {x, parameter(name + "_weight", {out, in, 3, 3}, 0.3)},
                           {{"kernel", "(3, 3)"},
                            {"pad", "(1, 1)"},
                            {"num_filter", std::to_string(out)},
                            {"no_bias", "True"}});
        return entry;
    }
    graph::Entry norm(const std::string &name, const graph::Entry &x, int channels)
    {
        return m_builder.op("BatchNorm", name,
                            {x, parameter(name + "_gamma", {channels}, 0.2, 1),
                             parameter(name + "_beta", {channels}, 0.2),
                             parameter(name + "_moving_mean", {channels}, 0.1, 0, "aux:"),
                             parameter(name + "_moving_var", {channels}, 0.1, 1, "aux:")},
                            {{"fix_gamma", "False"}});
    }
    graph::Entry relu(const std::string &name, const graph::Entry &x)
    {
        return m_builder.op("Activation", name, {x}, {{"act_type", "relu"}});
    }
    graph::Entry full(const std::string &name, const graph::Entry &x, int in, int out)
    {
        return m_builder.op(
            "FullyConnected", name,
            {x, parameter(name + "_weight", {out, in}, 0.3), parameter(name + "_bias", {out}, 0.3)},
            {{"num_hidden", std::to_string(out)}});
    }
    test::GraphBuilder &builder() { return m_builder; }
    graph::Model model(std::vector<graph::Entry> heads)
    {
        return {m_builder.withHeads(std::move(heads)), m_arrays, true};
    }

private:
    graph::Entry parameter(const std::string &name, const tensor::Shape &shape, double spread,
                           double middle = 0, const std::string &kind = "arg:")
    {
        std::uniform_real_distribution<double> values(middle - spread, middle + spread);
        Values drawn(shape.elementCount().value());
        for (float &value : drawn)
            value = static_cast<float>(values(m_engine));
        m_arrays.push_back(array(kind + name, shape, drawn));
        return m_builder.variable(name);
    }

    test::GraphBuilder m_builder;
    std::vector<tensor::Array> m_arrays;
    std::mt19937 m_engine{7};
};

/// conv0 bn0 relu0, conv1 bn1, add, relu1, pool, fc, softmax.
graph::Model residual()
{
    Network n;
    const auto data = n.builder().variable("data");
    const auto first = n.relu("relu0", n.norm("bn0", n.conv("conv0", data, 3, 8), 8));
    const auto second = n.norm("bn1", n.conv("conv1", first, 8, 8), 8);
    const auto sum = n.relu("relu1", n.builder().op("elemwise_add", "add", {second, first}));
    const auto pool = n.builder().op("Pooling", "pool", {sum},
                                     {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
    const auto fc = n.full("fc", n.builder().op("Flatten", "flat", {pool}), 8 * 4 * 4, 5);
    return n.model({n.builder().op("softmax", "prob", {fc})});
}

Policy bf16(std::optional<std::vector<std::string>> int8Ops = {})
{
    Policy policy;
    policy.target = DType::BF16;
    policy.int8Ops = std::move(int8Ops);
    return policy;
}

Result<std::vector<std::string>> namesToFind(const graph::Model &model, const Policy &policy)
{
    HALFTONE_TRY(mixed::Decided decided, mixed::decide(model, policy));
    return mixed::rangesToFind(model, decided);
}

mixed::ConvertedModel convert(const graph::Model &model, const Policy &policy,
                              const quantize::QuantizedRanges *ranges = nullptr)
{
    auto converted = mixed::convertModel(model, policy, false, {}, nullptr, ranges);
    if (!converted.ok())
        qFatal("%s", converted.error().message().c_str());
    return std::move(converted).value();
}

NodeId idOf(const graph::Graph &graph, const std::string &name)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).name == name)
            return id;
    }
    qFatal("no node %s", name.c_str());
    return 0;
}

tensor::Tensor example()
{
    const tensor::Shape shape{2, 3, 8, 8};
    std::mt19937 engine(3);
    std::uniform_real_distribution<float> values(-1, 1);
    Values drawn(shape.elementCount().value());
    for (float &value : drawn)
        value = values(engine);
    return array("", shape, drawn).values;
}

std::vector<tensor::Tensor> run(const graph::Model &model, const std::string &backend = "reference",
                                std::map<std::string, tensor::Tensor> *values = nullptr)
{
    auto chain = backends::backendChain(backend, 2);
    if (!chain.ok())
        qFatal("%s", chain.error().message().c_str());
    auto interpreter = interpret::Interpreter::create(model, chain.value());
    if (!interpreter.ok())
        qFatal("%s", interpreter.error().message().c_str());
    interpret::RunOptions options;
    if (values)
        options.tap = [&](const interpret::NodeValue &value) -> Result<void> {
            values->insert_or_assign(model.graph.node(value.node).name + "_output", value.outputs[0]);
            return {};
        };
    auto heads = interpreter.value().run({{"data", example()}}, options);
    if (!heads.ok())
        qFatal("%s", heads.error().message().c_str());
    return std::move(heads).value();
}

/// Of every tensor, from the example.
quantize::QuantizedRanges measured(const graph::Model &model)
{
    std::map<std::string, tensor::Tensor> values;
    run(model, "reference", &values);
    values.insert_or_assign("data", example());
    quantize::QuantizedRanges ranges;
    for (const auto &[name, value] : values) {
        const Values reals = value.values<float>();
        const auto [low, high] = std::ranges::minmax_element(reals);
        ranges[name] = {*low, *high};
    }
    return ranges;
}

double largestDifference(const tensor::Tensor &a, const tensor::Tensor &b)
{
    const Values x = a.values<float>();
    const Values y = b.values<float>();
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        most = std::max(most, double{std::abs(x[i] - y[i])});
    return most;
}

std::vector<std::string> opsOf(const graph::Graph &graph)
{
    std::vector<std::string> ops;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            ops.push_back(graph.node(id).op);
    }
    return ops;
}

std::string noteOn(const mixed::ConvertedModel &converted, NodeId node)
{
    for (const rewrite::NodeNote &note : converted.conversion.notes) {
        if (note.node == node)
            return note.text;
    }
    return {};
}

} // namespace

class TestMixedInt8 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anEmptyListChangesNothing()
    {
        const graph::Model model = residual();
        for (const policy::Mode mode : {policy::Mode::Typed, policy::Mode::NodeForNode}) {
            Policy plain = bf16();
            plain.mode = mode;
            Policy empty = bf16(std::vector<std::string>{});
            empty.mode = mode;
            const auto a = convert(model, plain);
            const auto b = convert(model, empty);
            QCOMPARE(test::linesOf(b.conversion.graph), test::linesOf(a.conversion.graph));
            QVERIFY(b.conversion.int8Group.empty());
            QCOMPARE(b.conversion.castCounts().all(), a.conversion.castCounts().all());
        }
    }

    void convolutionsTakeWhatFollowsThemIntoInt8()
    {
        const graph::Model model = residual();
        const auto ranges = measured(model);
        const auto converted = convert(model, bf16({{"Convolution"}}), &ranges);
        const auto precision
            = [&](const char *name) { return converted.conversion.precisionOf(idOf(model.graph, name)); };
        for (const char *name : {"conv0", "bn0", "relu0", "conv1", "bn1", "add", "relu1"})
            QCOMPARE(precision(name), DType::I8);
        QCOMPARE(precision("fc"), DType::BF16);
        QCOMPARE(precision("prob"), DType::F32);
        const auto ops = opsOf(converted.conversion.graph);
        QCOMPARE(std::ranges::count(ops, "_sg_mkldnn_conv"), 2);
        QCOMPARE(std::ranges::count(ops, "_contrib_quantize_v2"), 1); // the data, for both readers of codes
        QCOMPARE(std::ranges::count(ops, "_contrib_dequantize"), 1);
        const rewrite::CastCounts counts = converted.conversion.castCounts();
        QCOMPARE(counts.quantizes, std::size_t{1});
        QCOMPARE(counts.dequantizes, std::size_t{1});
        QCOMPARE(std::size_t(std::ranges::count(ops, "amp_cast")), counts.casts);
        // The values of a chain are those of its last node, and only that one has a place in the new graph.
        const auto &log = converted.conversion;
        const NodeId last = idOf(model.graph, "relu1");
        QCOMPARE(log.int8Group[idOf(model.graph, "conv1")], last);
        QCOMPARE(log.fromSource[idOf(model.graph, "conv1")], rewrite::kNoNode);
        QCOMPARE(log.graph.node(log.fromSource[last]).op, std::string("_sg_mkldnn_conv"));
        QCOMPARE(converted.assignment.requested(idOf(model.graph, "conv0")), policy::Request::Int8);
        QCOMPARE(converted.assignment.entry(idOf(model.graph, "conv0")),
                 std::string("int8_ops: \"Convolution\" (policy)"));
    }

    void everyEdgeThatChangesIsInTheLog()
    {
        const graph::Model model = residual();
        const auto ranges = measured(model);
        const auto converted = convert(model, bf16({{"Convolution"}}), &ranges);
        const auto find = [&](rewrite::CastKind kind) {
            for (const rewrite::InsertedCast &cast : converted.conversion.casts) {
                if (cast.kind == kind)
                    return cast;
            }
            qFatal("no such cast");
            return rewrite::InsertedCast{};
        };
        const auto quantize = find(rewrite::CastKind::Quantize);
        QCOMPARE(quantize.tensor, (graph::Entry{idOf(model.graph, "data"), 0, 0}));
        QCOMPARE(quantize.readers, (std::vector<rewrite::Reader>{{idOf(model.graph, "conv0"), 0}}));
        const auto dequantize = find(rewrite::CastKind::Dequantize);
        QCOMPARE(dequantize.tensor.node, idOf(model.graph, "relu1"));
        QCOMPARE(dequantize.readers, (std::vector<rewrite::Reader>{{idOf(model.graph, "pool"), 0}}));
        QCOMPARE(dequantize.type, DType::F32);
        for (const rewrite::InsertedCast &cast : converted.conversion.casts) {
            QVERIFY(cast.tensor.node < model.graph.nodeCount());
            for (const rewrite::Reader &reader : cast.readers)
                QVERIFY(reader.node == rewrite::kNoNode || reader.node < model.graph.nodeCount());
        }
    }

    void wholeInt8GraphsAreWhatQuantizationAloneGives()
    {
        const graph::Model model = residual();
        const auto ranges = measured(model);
        quantize::QuantizeOptions options;
        options.isFull = true;
        options.perChannel = true;
        const auto alone = quantize::quantize(model, options, ranges);
        QVERIFY(alone.ok());
        const auto converted
            = convert(model, bf16({{"Convolution", "FullyConnected", "Pooling", "Flatten"}}), &ranges);
        QCOMPARE(test::linesOf(converted.conversion.graph), test::linesOf(alone.value().model.graph));
        QCOMPARE(converted.model.parameters.size(), alone.value().model.parameters.size());
    }

    void whatOnlyPassesCodesOnFollowsThem()
    {
        const graph::Model model = residual();
        const auto ranges = measured(model);
        Policy policy = bf16({{"Convolution", "FullyConnected"}});
        const auto converted = convert(model, policy, &ranges);
        QCOMPARE(converted.conversion.precisionOf(idOf(model.graph, "flat")), DType::I8);
        QCOMPARE(converted.conversion.precisionOf(idOf(model.graph, "pool")), DType::I8);
        policy.nodeOverrides["flat"] = DType::F32;
        const auto held = convert(model, policy, &ranges);
        QCOMPARE(held.conversion.precisionOf(idOf(model.graph, "flat")), DType::F32);
        QVERIFY(held.conversion.precisionOf(idOf(model.graph, "pool")) != DType::I8);
    }

    void namesWinOverTheList_data()
    {
        QTest::addColumn<bool>("byOverride");
        QTest::newRow("excluded") << false;
        QTest::newRow("override") << true;
    }

    void namesWinOverTheList()
    {
        QFETCH(bool, byOverride);
        const graph::Model model = residual();
        const auto ranges = measured(model);
        Policy policy = bf16({{"Convolution"}});
        if (byOverride)
            policy.nodeOverrides = {{"conv1", DType::F32}, {"relu0", DType::F32}};
        else
            policy.excludedNames = {"conv1", "relu0"};
        const auto converted = convert(model, policy, &ranges);
        QCOMPARE(converted.conversion.precisionOf(idOf(model.graph, "conv1")), DType::F32);
        // The chain ends before what is held apart.
        QCOMPARE(converted.conversion.precisionOf(idOf(model.graph, "bn0")), DType::I8);
        QCOMPARE(converted.conversion.precisionOf(idOf(model.graph, "relu0")), DType::F32);
        QVERIFY(converted.conversion.precisionOf(idOf(model.graph, "add")) != DType::I8);
    }

    void oneNodeCanBeAskedFor()
    {
        const graph::Model model = residual();
        const auto ranges = measured(model);
        Policy policy = bf16();
        policy.nodeOverrides = {{"conv1", DType::I8}};
        const auto converted = convert(model, policy, &ranges);
        const auto precision
            = [&](const char *name) { return converted.conversion.precisionOf(idOf(model.graph, name)); };
        QCOMPARE(precision("conv0"), DType::BF16);
        QCOMPARE(precision("conv1"), DType::I8);
        QCOMPARE(precision("bn1"), DType::I8);
        QVERIFY(precision("add") != DType::I8); // its other half is real
        QCOMPARE(policy::nameOf(converted.assignment.rule(idOf(model.graph, "conv1"))),
                 std::string_view("override"));
    }

    void whatCannotBeQuantizedSaysWhyAndKeepsItsList()
    {
        Network n;
        const auto data = n.builder().variable("data");
        const auto conv = n.conv("conv", data, 3, 4);
        const auto tanh = n.builder().op("Activation", "tanh", {conv}, {{"act_type", "tanh"}});
        const graph::Model model = n.model({n.relu("relu", tanh)});
        const auto ranges = measured(model);
        const auto converted = convert(model, bf16({{"Activation"}}), &ranges);
        const NodeId node = idOf(model.graph, "tanh");
        QVERIFY(converted.conversion.precisionOf(node) != DType::I8);
        QCOMPARE(noteOn(converted, node),
                 "int8 requested, but it stays "
                     + std::string(tensor::nameOf(converted.conversion.precisionOf(node)))
                     + ": ReLU is the only activation with an int8 form");
        QCOMPARE(converted.assignment.requested(node), policy::Request::Int8);
        QCOMPARE(converted.conversion.precisionOf(idOf(model.graph, "relu")), DType::I8);
    }

    void aModelWithoutParametersIsConvertedAsItsListsSay()
    {
        graph::Model model = residual();
        model.parameters.clear();
        model.hasParameters = false;
        const auto converted = convert(model, bf16({{"Convolution"}}));
        QCOMPARE(test::linesOf(converted.conversion.graph),
                 test::linesOf(convert(model, bf16()).conversion.graph));
        QVERIFY(noteOn(converted, idOf(model.graph, "conv0")).ends_with("the parameters are not loaded"));
    }

    /// Without ranges a requantize of three inputs stands for a layer of three inputs, but is not that layer: it reads what
    /// is quantized for it, in a range that each batch has anew.
    void anInt8LayerAloneReadsRealsOnce()
    {
        Network n;
        const auto first = n.full("fc0", n.builder().variable("data"), 4, 6);
        const graph::Model model = n.model({n.full("fc1", first, 6, 2)});
        const auto converted = convert(model, bf16({{"FullyConnected"}}));
        const compare::ComparedModels pair
            = compare::convertedPair(model, converted.model, converted.conversion);
        const std::vector<DType> inputs(3, DType::F32);
        const std::vector<DType> outputs(1, DType::F32);
        for (const char *name : {"fc0", "fc1"}) {
            const NodeId id = idOf(model.graph, name);
            QVERIFY(converted.conversion.isInt8(id));
            const auto form = compare::loweredForm(pair, id, inputs, outputs);
            QVERIFY(form && form->int8);
            QCOMPARE(form->int8->reads, std::vector<graph::Entry>{model.graph.inputs(id)[0]});
        }
    }

    void parametersOfAnotherTypeStayReal()
    {
        Network n;
        const auto conv = n.conv("conv", n.builder().variable("data"), 3, 4);
        graph::Model model = n.model({conv});
        tensor::Array &weight = model.parameters[0];
        weight.values = tensor::Tensor::owning(DType::F16, weight.shape,
                                               std::vector<std::byte>(weight.values.elementCount() * 2));
        Policy policy = bf16({{"Convolution"}});
        policy.inputDtypes = {{"data", DType::F16}};
        const auto converted = convert(model, policy);
        const NodeId node = idOf(model.graph, "conv");
        QVERIFY(converted.conversion.precisionOf(node) != DType::I8);
        QVERIFY(noteOn(converted, node).ends_with("its parameter conv_weight is float16"));
    }

    void valuesAreNearThoseOfFloat32_data()
    {
        QTest::addColumn<int>("mode");
        QTest::addColumn<bool>("calibrated");
        QTest::newRow("typed") << static_cast<int>(policy::Mode::Typed) << true;
        QTest::newRow("mxnet") << static_cast<int>(policy::Mode::NodeForNode) << true;
        QTest::newRow("typed, ranges at run time") << static_cast<int>(policy::Mode::Typed) << false;
    }

    /// Eight bits keep about 40 dB; the softmax of five classes then moves by less than 0.03.
    void valuesAreNearThoseOfFloat32()
    {
        QFETCH(int, mode);
        QFETCH(bool, calibrated);
        const graph::Model model = residual();
        const auto ranges = measured(model);
        for (const auto &ops :
             {std::vector<std::string>{"Convolution"}, std::vector<std::string>{"FullyConnected"},
              std::vector<std::string>{"Convolution", "FullyConnected"}}) {
            Policy policy = bf16(ops);
            policy.mode = static_cast<policy::Mode>(mode);
            const auto converted = convert(model, policy, calibrated ? &ranges : nullptr);
            for (const char *backend : {"reference", "cpu"}) {
                if (!backends::backendChain(backend, 2).ok())
                    continue;
                const double most
                    = largestDifference(run(converted.model, backend)[0], run(model, "reference")[0]);
                QVERIFY2(most < 0.03 && most > 0, qPrintable(QString::number(most)));
            }
        }
    }

    void castsAndCodesNeverCancel()
    {
        const graph::Model model = residual();
        const auto ranges = measured(model);
        for (const auto &ops :
             {std::vector<std::string>{"Convolution"}, std::vector<std::string>{"FullyConnected"},
              std::vector<std::string>{"Convolution", "FullyConnected"}}) {
            const auto converted = convert(model, bf16(ops), &ranges);
            const graph::Graph &graph = converted.conversion.graph;
            for (NodeId id = 0; id < graph.nodeCount(); ++id) {
                const std::string &op = graph.node(id).op;
                const std::string before
                    = graph.inputs(id).empty() ? "" : graph.node(graph.inputs(id)[0].node).op;
                QVERIFY(!(op == "_contrib_quantize_v2" && before == "_contrib_dequantize"));
                QVERIFY(!(op == "amp_cast" && before == "amp_cast"));
            }
        }
    }

    /// Pairs need a newer opset, in which Upsample is called Resize: no sign that something could not be quantized.
    void whatANewerVersionRenamesIsNotTriedForEver()
    {
        graph::Graph graph(dialect::onnx::onnxDialect(7));
        const auto add = [&graph](const char *op, const char *name, graph::Attributes attributes,
                                  const std::vector<graph::Entry> &inputs) {
            graph::NodeDef def{op, name, std::move(attributes), {}, op == dialect::onnx::kVariableOp};
            if (!def.variable)
                def.outputs.emplace_back(name);
            return graph::Entry{graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
        };
        const auto x = add("Input", "x", {{"type", "float32"}, {"shape", "[1,1,2,2]"}}, {});
        const auto weight = add("Input", "K", {{"type", "float32"}, {"shape", "[1,1,1,1]"}}, {});
        const auto conv = add("Conv", "c", {{"kernel_shape", "[1,1]"}}, {x, weight});
        graph.setHeads(
            {add("Upsample", "u", {{"mode", "nearest"}, {"scales", "[1.0,1.0,2.0,2.0]"}}, {conv})});
        const graph::Model model{std::move(graph), {array("K", {1, 1, 1, 1}, {2})}, true};
        const quantize::QuantizedRanges ranges{{"x", {-1, 1}}, {"c", {-2, 2}}};
        Policy policy;
        policy.target = DType::F16;
        policy.int8Ops = {"Conv"};
        const std::vector<std::string> ops = opsOf(convert(model, policy, &ranges).conversion.graph);
        QVERIFY(std::ranges::find(ops, "QuantizeLinear") != ops.end());
        QVERIFY(std::ranges::find(ops, "Resize") != ops.end());
    }

    void rangesToFindAreThoseThatThePassAsksFor()
    {
        const graph::Model model = residual();
        const auto names = namesToFind(model, bf16({{"Convolution"}}));
        QVERIFY(names.ok());
        QCOMPARE(names.value(), (std::vector<std::string>{"data", "relu0_output", "relu1_output"}));
        QVERIFY(namesToFind(model, bf16()).value().empty());
    }
};

QTEST_GUILESS_MAIN(TestMixedInt8)
#include "tst_mixed_int8.moc"
