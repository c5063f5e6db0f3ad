#include "core/hardware/catalogue.h"
#include "core/infer/infer_shapes.h"
#include "core/mixed/chip_warnings.h"
#include "core/mixed/convert_model.h"
#include "core/mixed/node_arithmetic.h"
#include "tests/support/build_graph.h"
#include "tests/support/typed/convert.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using test::convert;

namespace {

/// convolution - BatchNorm - relu - convolution - softmax
graph::Model network()
{
    test::GraphBuilder g;
    const graph::Attributes conv{
        {"num_filter", "8"}, {"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"no_bias", "True"}};
    auto x = g.op("Convolution", "one", {g.variable("data"), g.variable("w1")}, conv);
    x = g.op("BatchNorm", "norm",
             {x, g.variable("gamma"), g.variable("beta"), g.variable("mean"), g.variable("var")});
    x = g.op("Activation", "relu", {x}, {{"act_type", "relu"}});
    x = g.op("Convolution", "two", {x, g.variable("w2")}, conv);
    return g.model({g.op("softmax", "soft", {x})});
}

policy::Policy policyFor(const std::string &chip, DType target)
{
    policy::Policy policy;
    policy.target = target;
    policy.hardware = chip;
    return policy;
}

/// By name: "16" or "32".
std::string widths(const graph::Model &model, const mixed::ConvertedModel &converted)
{
    std::string text;
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (!model.graph.isVariable(id))
            text += model.graph.node(id).name
                + (tensor::isHalf(converted.conversion.precisionOf(id)) ? ":16 " : ":32 ");
    }
    return text;
}

bool warns(const mixed::ConvertedModel &converted, std::string_view code)
{
    return std::ranges::find(converted.warnings, code, &policy::Warning::code) != converted.warnings.end();
}

infer::ShapeMap shapesOf(const graph::Graph &graph, const Shape &data)
{
    auto shapes = infer::inferShapes(graph, {{"data", data}});
    if (!shapes.ok())
        qFatal("%s", shapes.error().message().c_str());
    return std::move(shapes).value();
}

} // namespace

class TestHardware : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesAwayWhatTheChipCannot_data();
    void takesAwayWhatTheChipCannot();
    void namesTheUnit();
    void neverForces();
    void leavesWhatAPersonDecided();
    void tellsAccumulators();
    void warnsOfCastsThatEatTheGain();
    void refusesAnUnknownChip();
};

void TestHardware::takesAwayWhatTheChipCannot_data()
{
    QTest::addColumn<QString>("chip");
    QTest::addColumn<bool>("bfloat16");
    QTest::addColumn<QString>("widths");
    QTest::addColumn<QStringList>("codes");
    const QString none = "one:32 norm:32 relu:32 two:32 soft:32 ";
    const QString products = "one:16 norm:32 relu:32 two:16 soft:32 ";
    const QString all = "one:16 norm:16 relu:16 two:16 soft:32 ";
    QTest::newRow("conv16") << "conv16" << false << products << QStringList();
    QTest::newRow("avx2") << "avx2" << false << none << QStringList{"no_fast_path"};
    QTest::newRow("int8") << "int8-npu" << false << none << QStringList{"no_fast_path"};
    QTest::newRow("cooper lake") << "avx512-bf16-vnni" << true << all << QStringList();
    QTest::newRow("cooper lake, float16")
        << "avx512-bf16-vnni" << false << none << QStringList{"no_fast_path"};
    QTest::newRow("neoverse n1") << "armv8.2-fp16" << false << all << QStringList{"narrow_accumulator"};
    QTest::newRow("a100") << "sm_80" << false << all << QStringList();
}

void TestHardware::takesAwayWhatTheChipCannot()
{
    QFETCH(const QString, chip);
    QFETCH(const bool, bfloat16);
    QFETCH(const QString, widths);
    QFETCH(const QStringList, codes);
    const graph::Model model = network();
    const auto converted = convert(model, policyFor(chip.toStdString(), bfloat16 ? DType::BF16 : DType::F16));
    QCOMPARE(QString::fromStdString(::widths(model, converted)), widths);
    for (const char *code : {"no_fast_path", "narrow_accumulator"})
        QCOMPARE(warns(converted, code), codes.contains(QString(code)));
    QCOMPARE(converted.chip->name, chip.toStdString());
}

void TestHardware::namesTheUnit()
{
    const graph::Model model = network();
    const auto converted = convert(model, policyFor("conv16", DType::F16));
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (model.graph.node(id).name == "relu") {
            QCOMPARE(converted.assignment.rule(id), policy::Rule::Hardware);
            QCOMPARE(converted.assignment.entry(id),
                     std::string("hardware: conv16 has no float16 elementwise unit"));
        }
    }
}

/// Softmax is float32 by the lists, though an A100 has units for it.
void TestHardware::neverForces()
{
    const graph::Model model = network();
    const auto without = convert(model, policyFor({}, DType::F16));
    const auto with = convert(model, policyFor("sm_80", DType::F16));
    QCOMPARE(widths(model, with), widths(model, without));
}

void TestHardware::leavesWhatAPersonDecided()
{
    const graph::Model model = network();
    policy::Policy policy = policyFor("conv16", DType::F16);
    policy.moves = {{"softmax", policy::Policy::Move::To::Target}};
    policy.nodeOverrides = {{"relu", DType::F16}, {"one", DType::F32}};
    QCOMPARE(widths(model, convert(model, policy)), std::string("one:32 norm:32 relu:16 two:16 soft:16 "));
}

void TestHardware::tellsAccumulators()
{
    const graph::Model model = network();
    const auto of = [&](const policy::Policy &policy, const char *name) {
        const auto all = mixed::arithmeticOf(model.graph, convert(model, policy));
        for (NodeId id = 0; id < all.size(); ++id) {
            if (model.graph.node(id).name == name)
                return all[id].accumulate;
        }
        return DType::Unknown;
    };
    QVERIFY(of(policyFor("armv8.2-fp16", DType::F16), "one") == DType::F16);
    QVERIFY(of(policyFor("armv8.2-fp16", DType::F16), "soft") == DType::F32);
    QVERIFY(of(policyFor("sm_80", DType::F16), "one") == DType::F32);
    QVERIFY(of(policyFor({}, DType::F16), "one") == DType::F32);
    QVERIFY(of(policyFor({}, DType::F16), "relu") == DType::F16);
    policy::Policy asked = policyFor({}, DType::F16);
    asked.accumulate = DType::F16;
    QVERIFY(of(asked, "one") == DType::F16);
}

/// A convolution of one channel by a kernel of 1 moves more than it computes: its casts, six bytes an element on either side, cost more than
/// the two bytes that are saved there. A wide one is worth them.
void TestHardware::warnsOfCastsThatEatTheGain()
{
    const auto gain = [](const char *filters, const char *kernel, const Shape &data) {
        test::GraphBuilder g;
        auto x = g.op("softmax", "before", {g.variable("data")});
        x = g.op("Convolution", "conv", {x, g.variable("w")},
                 {{"num_filter", filters}, {"kernel", kernel}, {"no_bias", "True"}});
        const graph::Model model = g.model({g.op("softmax", "behind", {x})});
        const auto shapes = shapesOf(model.graph, data);
        return warns(convert(model, policyFor("conv16", DType::F16), &shapes), "casts_eat_gain");
    };
    QVERIFY(gain("1", "(1, 1)", Shape{1, 1, 64, 64}));
    QVERIFY(!gain("256", "(3, 3)", Shape{1, 256, 32, 32}));

    // By hand: the product reads and writes 4,096 elements and one weight, in float32 32,772 bytes, in float16 half of them; its 8,192
    // operations take 2,048 bytes' time at 4 a byte, and an eighth of it. Two casts of 4,096 elements stand alone, the weight's does not count.
    test::GraphBuilder g;
    const auto x = g.op("Convolution", "conv", {g.variable("data"), g.variable("w")},
                        {{"num_filter", "1"}, {"kernel", "(1, 1)"}, {"no_bias", "True"}});
    graph::Model model = g.model({x});
    model.parameters = {test::floatArray("arg:w", {1})};
    model.hasParameters = true;
    const auto shapes = shapesOf(model.graph, Shape{1, 1, 64, 64});
    const auto converted = convert(model, policyFor("conv16", DType::F16), &shapes);
    const mixed::ChipGain gained = mixed::gainOn(*converted.chip, model.graph, converted, shapes);
    QCOMPARE(gained.before, 32'772.0);
    QCOMPARE(gained.after, 16'386.0);
    QCOMPARE(gained.casts, 2 * 6 * 4'096.0);
}

void TestHardware::refusesAnUnknownChip()
{
    const auto converted = mixed::convertModel(network(), policyFor("sm_81", DType::F16), false);
    QVERIFY(!converted.ok());
    QCOMPARE(converted.error().code, Errc::BadCall);
    QCOMPARE(converted.error().field, Field::Hardware);
}

QTEST_APPLESS_MAIN(TestHardware)
#include "tst_hardware.moc"
