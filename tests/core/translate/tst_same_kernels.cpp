#include "core/backends/backends.h"
#include "core/dialect/dialect.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/translate/to_onnx.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

using Names = std::set<std::string>;

/// One model in both formats, and what both are fed.
struct Pair
{
    graph::Model mxnet;
    graph::Model onnx;
    interpret::Feed feed;
};

/// Operators of which a node is computed by the reference backend, or why the model does not run.
Result<Names> referenceOperators(const graph::Model &model, const interpret::Feed &feed)
{
    HALFTONE_TRY(const auto chain, backends::backendChain("cpu", 1));
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(model, chain));
    const std::vector<std::string> wanted = interpreter.inputs();
    interpret::Feed own = feed;
    std::erase_if(own, [&](const auto &array) { return std::ranges::count(wanted, array.first) == 0; });
    Names names;
    interpret::RunOptions options;
    options.tap = [&](const interpret::NodeValue &value) -> Result<void> {
        if (value.kernel == "reference" && !model.graph.inputs(value.node).empty())
            names.insert(model.graph.node(value.node).op);
        return {};
    };
    HALFTONE_CHECK(interpreter.run(own, options));
    return names;
}

std::string joinedNames(const Names &names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Nothing where one format has no such model.
std::optional<Pair> pairOf(graph::Model mxnet, interpret::Feed feed)
{
    translate::InputFacts facts;
    for (const auto &[name, values] : feed) {
        facts.shapes.emplace(name, values.shape());
        facts.types.emplace(name, values.dtype());
    }
    auto onnx = translate::toOnnx(mxnet, facts);
    if (!onnx.ok())
        return std::nullopt;
    return Pair{std::move(mxnet), std::move(onnx).value(), std::move(feed)};
}

/// A recorded case of an operator of MXNet.
std::optional<Pair> recordedPair(const std::string &folder)
{
    auto loaded = io::loadModel(folder + "/model-symbol.json", {{}, true});
    if (!loaded.ok())
        return std::nullopt;
    interpret::Feed feed;
    for (const io::NamedTensor &array : io::readNpz(folder + "/inputs.npz").value())
        feed.emplace(array.name, array.tensor);
    return pairOf(std::move(loaded).value().model, std::move(feed));
}

/// An operator without a recorded case.
struct Case
{
    std::string op;
    std::vector<Shape> inputs;
    graph::Attributes attributes{};
};

std::vector<Case> furtherCases()
{
    return {
        {"add_n", {{2, 3, 4, 4}, {2, 3, 4, 4}, {2, 3, 4, 4}}, {{"num_args", "3"}}},
        {"_maximum", {{2, 3, 4, 4}, {2, 3, 4, 4}}},
        {"_minimum", {{2, 3, 4, 4}, {2, 3, 4, 4}}},
        {"broadcast_minimum", {{2, 3, 4, 4}, {2, 1, 1, 4}}},
        {"broadcast_to", {{2, 1, 4}}, {{"shape", "(2, 3, 4)"}}},
        {"expand_dims", {{2, 3, 4}}, {{"axis", "1"}}},
        {"gather_nd", {{2, 3, 4}, {2, 5}}},
        {"slice_axis", {{2, 3, 4}}, {{"axis", "1"}, {"begin", "1"}, {"end", "3"}}},
        {"L2Normalization", {{2, 3, 4, 4}}, {{"mode", "spatial"}}},
        {"LayerNorm", {{2, 3, 8}, {8}, {8}}},
        {"softmax", {{2, 3, 8}}},
        {"FullyConnected", {{2, 8}, {4, 8}, {4}}, {{"num_hidden", "4"}}},
        {"relu", {{2, 3, 4, 4}}},
        {"sigmoid", {{2, 3, 4, 4}}},
        {"tanh", {{2, 3, 4, 4}}},
        {"exp", {{2, 3, 4, 4}}},
        {"sqrt", {{2, 3, 4, 4}}},
        {"Concat", {{2, 3, 4, 4}, {2, 3, 4, 4}}, {{"num_args", "2"}}},
        {"col2im", {{2, 12, 9}}, {{"kernel", "(2, 2)"}, {"output_size", "(4, 4)"}}},
        {"BilinearSampler", {{2, 3, 4, 4}, {2, 2, 5, 3}}},
    };
}

std::optional<Pair> builtPair(const Case &one)
{
    test::GraphBuilder g;
    interpret::Feed feed;
    std::vector<graph::Entry> inputs;
    for (const Shape &shape : one.inputs) {
        const std::string name = "x" + std::to_string(inputs.size());
        inputs.push_back(g.variable(name));
        std::vector<float> values(static_cast<std::size_t>(shape.elementCount().value()));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i % 2);
        const auto bytes = std::as_bytes(std::span(values));
        feed.emplace(name, Tensor::owning(DType::F32, shape, {bytes.begin(), bytes.end()}));
    }
    return pairOf(g.model({g.op(one.op, "y", inputs, one.attributes)}), std::move(feed));
}

/// What one format computes by the reference backend, and the other one, in the same model, does not. Why that is so.
const std::map<std::string, const char *> kReasons{
    {"MXNet: BatchNorm", "along the last axis: ONNX has no such axis and transposes first"},
    {"MXNet: Pooling", "sums of windows: ONNX multiplies averages"},
    {"MXNet: SoftmaxOutput",
     "a plan computes it as the softmax that ONNX has; node by node its label counts"},
    {"MXNet: _contrib_AdaptiveAvgPooling2D", "windows may differ in size: ONNX has those that do not alone"},
    {"MXNet: _contrib_quadratic", "ONNX has it as products and sums, each rounded"},
    {"MXNet: expm1, log1p", "exact near 0: ONNX has neither and subtracts or adds 1"},
    {"MXNet: log_softmax, softmax", "with a temperature: ONNX divides by it first, and may overflow"},
    {"MXNet: softmax", "with a temperature, or NaN that MXNet counts as infinite"},
    {"MXNet: stack", "a copy, as fast as ONNX's Concat behind Unsqueeze"},
    {"ONNX: Erf",
     "Gelu of an opset that has no such operator: its parts one by one, which a plan puts together"},
    {"ONNX: Identity", "a copy of a number"},
};

} // namespace

/// What is computed fast in one format is computed fast in the other: every recorded operator of MXNet, and some more, run as they are and
/// translated into ONNX.
class TestSameKernels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsFastInOneFormatIsFastInTheOther();
};

void TestSameKernels::whatIsFastInOneFormatIsFastInTheOther()
{
    std::map<std::string, Names>
        found; // cases by the operators that only one format leaves to the reference backend
    std::size_t pairs = 0;
    const auto compare = [&](const std::string &name, const std::optional<Pair> &pair) {
        if (!pair)
            return;
        const auto mxnet = referenceOperators(pair->mxnet, pair->feed);
        const auto onnx = referenceOperators(pair->onnx, pair->feed);
        if (!mxnet.ok() || !onnx.ok()) // its values are refused: other tests tell why
            return;
        ++pairs;
        if (mxnet.value().empty() != onnx.value().empty())
            found[(mxnet.value().empty() ? "ONNX: " : "MXNet: ")
                  + joinedNames(mxnet.value().empty() ? onnx.value() : mxnet.value())]
                .insert(name);
    };
    for (const std::string &name : test::foldersIn(HALFTONE_TEST_DATA "/ops"))
        compare(name, recordedPair(HALFTONE_TEST_DATA "/ops/" + name));
    for (const Case &one : furtherCases())
        compare(one.op, builtPair(one));
    QVERIFY2(pairs >= 120, qPrintable(QString::number(pairs)));
    QStringList unexplained;
    for (const auto &[what, cases] : found)
        if (!kReasons.contains(what))
            unexplained.append(QString::fromStdString(what + " (" + joinedNames(cases) + ")"));
    QVERIFY2(unexplained.isEmpty(), qPrintable(unexplained.join(QStringLiteral("\n"))));
    for (const auto &[what, reason] : kReasons)
        QVERIFY2(found.contains(what), what.c_str());
}

QTEST_GUILESS_MAIN(TestSameKernels)
#include "tst_same_kernels.moc"
