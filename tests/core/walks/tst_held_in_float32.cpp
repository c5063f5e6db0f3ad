#include "core/backends/backends.h"
#include "core/interpret/interpreter.h"
#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "core/tensor/elements.h"
#include "core/walks/quantize.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

graph::Model load(const std::string &name)
{
    auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/" + name + ".onnx");
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded.value().model);
}

/// A range for every value that there is.
quantize::QuantizedRanges anyRanges(const graph::Graph &graph)
{
    quantize::QuantizedRanges ranges;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const std::string &output : graph.node(id).outputs)
            ranges[output] = {-1, 1};
    return ranges;
}

quantize::QuantizedModel quantized(const graph::Model &model, const quantize::QuantizeOptions &options)
{
    auto made = quantize::quantize(model, options, anyRanges(model.graph));
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

quantize::QuantizeOptions held(const graph::Model &model, const quantize::QuantizeOptions &options)
{
    auto made = walks::withPositionsHeld(model, options);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

bool has(const std::vector<std::string> &names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

std::string whySkipped(const quantize::QuantizedModel &made, std::string_view name)
{
    const auto found = std::ranges::find(made.skipped, name, &quantize::SkippedNode::name);
    return found == made.skipped.end() ? std::string() : found->why;
}

template <class T>
Tensor tensorOf(DType type, Shape shape, const std::vector<T> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

} // namespace

/// What the rules keep out of 16 bit and codes, as it is computed: positions (M-position), and bounds behind casts (M-bounds).
class TestHeldInFloat32 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void positionsDoNotBecomeCodes();
    void otherReasonsStay();
    void whatIsAskedForInInt8IsHeld();
    void whoAsksByNameGetsCodes();
    void nothingDividesByZeroBehindCasts_data();
    void nothingDividesByZeroBehindCasts();
};

void TestHeldInFloat32::initTestCase()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/positions.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
}

void TestHeldInFloat32::positionsDoNotBecomeCodes()
{
    const graph::Model model = load("positions");
    quantize::QuantizeOptions options;
    options.isFull = true;
    // Codes would take all of these.
    const quantize::QuantizedModel before = quantized(model, options);
    for (const char *name : {"held_angles", "held_transpose", "held_join", "free_product", "free_sum"})
        QVERIFY2(has(before.quantized, name), name);
    const quantize::QuantizedModel made = quantized(model, held(model, options));
    for (const std::string &name : made.quantized)
        QVERIFY2(!name.starts_with("held"), name.c_str());
    QVERIFY(has(made.quantized, "free_query") && has(made.quantized, "free_layer"));
    const auto decided = mixed::decide(model, policy::Policy()); // in the words of a conversion
    QVERIFY2(decided.ok(), decided.ok() ? "" : decided.error().message().c_str());
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id)
        if (model.graph.node(id).name == "held_angles")
            QCOMPARE(whySkipped(made, "held_angles"), decided.value().assignment.entry(id));
    QVERIFY(whySkipped(made, "held_angles").starts_with("positions: exact for "));
    // Features beside ids do not get the codes of these.
    QVERIFY(whySkipped(made, "free_features").starts_with("positions: exact for "));
    // 8 bits of a cosine do not tell neighbouring positions apart.
    for (const char *turned : {"free_product", "free_other_product", "free_sum"})
        QVERIFY2(whySkipped(made, turned).starts_with("positions: exact for "), turned);
}

void TestHeldInFloat32::otherReasonsStay()
{
    const graph::Model model = load("positions");
    quantize::QuantizeOptions options;
    options.refusals.assign(model.graph.nodeCount(), "the chip has none");
    for (const std::string &why : held(model, options).refusals)
        QCOMPARE(why, std::string("the chip has none"));
}

void TestHeldInFloat32::whatIsAskedForInInt8IsHeld()
{
    const graph::Model model = load("positions");
    policy::Policy policy; // float16, in which sines and cosines are exact enough
    policy.int8Ops = {"MatMul", "Mul", "Add"};
    const auto ranges = anyRanges(model.graph);
    const auto made = mixed::convertModel(model, policy, false, {}, nullptr, &ranges);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    const rewrite::Conversion &conversion = made.value().conversion;
    std::set<std::string> told;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        if (name.starts_with("held") || name == "free_product" || name == "free_other_product")
            QVERIFY2(!conversion.isInt8(id), name.c_str());
        if (name == "free_query")
            QVERIFY(conversion.isInt8(id));
    }
    for (const rewrite::NodeNote &note : conversion.notes)
        if (note.text.find("positions: exact for ") != std::string::npos)
            told.insert(model.graph.node(note.node).name);
    QVERIFY(told.contains("free_product") && told.contains("free_other_product"));
}

void TestHeldInFloat32::whoAsksByNameGetsCodes()
{
    const graph::Model model = load("positions");
    policy::Policy policy;
    policy.nodeOverrides = {{"held_angles", DType::I8}};
    const auto ranges = anyRanges(model.graph);
    const auto made = mixed::convertModel(model, policy, false, {}, nullptr, &ranges);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id)
        if (model.graph.node(id).name == "held_angles")
            QVERIFY(made.value().conversion.isInt8(id));
    const auto &warnings = made.value().warnings;
    QVERIFY(std::ranges::find(warnings, "positions_lowered", &policy::Warning::code) != warnings.end());
}

void TestHeldInFloat32::nothingDividesByZeroBehindCasts_data()
{
    QTest::addColumn<bool>("castsParams");
    QTest::addColumn<bool>("takesBranch");
    QTest::newRow("parameters stay") << false << false;
    QTest::newRow("parameters stay, in the branch") << false << true;
    QTest::newRow("shared with float32") << true << false;
    QTest::newRow("shared with float32, in the branch") << true << true;
}

/// A row of zeros over its norm is zeros, one that is not has length 1.
void TestHeldInFloat32::nothingDividesByZeroBehindCasts()
{
    QFETCH(const bool, castsParams);
    QFETCH(const bool, takesBranch);
    policy::Policy policy;
    policy.mode = policy::Mode::All;
    policy.castParams = castsParams;
    policy.excludedNames = {"/exact/"};
    const auto made = mixed::convertModel(load("bounds_shared"), policy, false);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    interpret::Feed feed;
    feed["x"] = tensorOf<float>(DType::F32, {3, 4}, {0, 0, 0, 0, 0, 3, 0, 4, 1, 0, 0, 0});
    feed["flag"] = tensorOf<std::uint8_t>(DType::Bool, Shape(std::vector<std::int64_t>()),
                                          {takesBranch ? std::uint8_t{1} : std::uint8_t{0}});
    const std::vector<double> expected{0, 0, 0, 0, 0, 3. / 25, 0, 4. / 25, 1, 0, 0, 0}; // over the norm twice
    for (const char *name : {"reference", "cpu"}) {
        const auto backends = backends::backendChain(name, 1);
        QVERIFY2(backends.ok(), backends.ok() ? "" : backends.error().message().c_str());
        auto interpreter = interpret::Interpreter::create(made.value().model, backends.value());
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        const auto heads = interpreter.value().run(feed);
        QVERIFY2(heads.ok(), heads.ok() ? "" : heads.error().message().c_str());
        std::vector<double> y(expected.size());
        for (const std::size_t head : {std::size_t{0}, std::size_t{2}}) {
            if (head == 2 && !takesBranch)
                continue;
            const Tensor &value = heads.value()[head];
            tensor::widen(value.dtype(), value.bytes().data(), y.size(), y.data());
            for (std::size_t k = 0; k < y.size(); ++k)
                QVERIFY2(std::abs(y[k] - expected[k]) < 2e-3,
                         qPrintable(QStringLiteral("%1: %2 is %3").arg(name).arg(k).arg(y[k])));
        }
    }
}

QTEST_GUILESS_MAIN(TestHeldInFloat32)
#include "tst_held_in_float32.moc"
