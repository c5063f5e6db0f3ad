#include "core/report/as_asked.h"
#include "core/report/figures_object.h"

#include <QTest>

using namespace halftone;
using kernels::StepKind;
using tensor::DType;

namespace {

latency::LayerLatency layer(std::vector<std::string> nodes, DType asked, DType ranIn, double microseconds,
                            StepKind kind = StepKind::Compute)
{
    latency::LayerLatency one;
    one.step.nodes = std::move(nodes);
    one.step.asked = asked;
    one.step.dtype = ranIn;
    one.step.kind = kind;
    one.medianUs = microseconds;
    return one;
}

} // namespace

/// What is said of the types that a runtime ran a model in.
class AsAskedTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void operatorsAreCountedByNode()
    {
        latency::Latency latency;
        latency.runtime = {"ONNX Runtime", "1.22.0", "CPUExecutionProvider"};
        latency.layers = {layer({"a", "b"}, DType::F16, DType::F32, 60),
                          layer({"c"}, DType::F16, DType::F16, 20), layer({"d"}, DType::F32, DType::F32, 10),
                          layer({}, DType::Unknown, DType::F32, 5, StepKind::Runtime),
                          layer({"x"}, DType::Unknown, DType::F32, 5, StepKind::Cast)};
        const report::AsAsked share = report::asAsked(latency);
        QCOMPARE(share.operators, std::size_t{2});
        QCOMPARE(share.all, std::size_t{4});
        QCOMPARE(share.operatorsShare, 0.5);
        QCOMPARE(share.timeShare, 30.0 / 90);
        QCOMPARE(report::asAskedTexts(latency),
                 std::vector<std::string>{"ONNX Runtime ran 1 of 3 float16 operators in float16"});
        QCOMPARE(report::addedText(latency),
                 std::string("casts and reorders that ONNX Runtime added take 10.0 % of the time"));
    }

    /// Those that a conversion inserts, alone or as part of a group.
    void castsAreNoOperators()
    {
        latency::Latency latency;
        latency.runtime = {"ONNX Runtime", "1.22.0", "CPUExecutionProvider"};
        latency.layers = {layer({"a_cast"}, DType::F32, DType::F32, 5, StepKind::Cast),
                          layer({"a", "b_cast"}, DType::F16, DType::F32, 60)};
        for (latency::LayerLatency &one : latency.layers)
            one.step.casts = 1;
        QCOMPARE(report::asAsked(latency).all, std::size_t{1});
        QCOMPARE(report::asAskedTexts(latency),
                 std::vector<std::string>{"ONNX Runtime ran 0 of 1 float16 operators in float16"});
        QVERIFY(report::addedText(latency).empty()); // the model's own
    }

    void codesAreWhatPairsAskFor()
    {
        latency::Latency latency;
        latency.runtime = {"OpenVINO", "2026.4.1", "CPU"};
        latency.layers
            = {layer({"conv"}, DType::F32, DType::I8, 10), layer({"add"}, DType::I8, DType::U8, 10)};
        QCOMPARE(report::asAsked(latency).operators, std::size_t{2});
        QCOMPARE(report::asAskedTexts(latency),
                 std::vector<std::string>{"OpenVINO ran all 2 operators in the types of the model"});
        latency.layers.push_back(layer({"sum"}, DType::I8, DType::F32, 10));
        QCOMPARE(report::asAsked(latency).operators, std::size_t{2});
    }

    void aPlanOfThisProgramSaysNothing()
    {
        latency::Latency latency;
        latency.layers = {layer({"a"}, DType::Unknown, DType::BF16, 1)};
        QCOMPARE(report::asAsked(latency).operatorsShare, 1.0);
        QVERIFY(report::asAskedLine(latency).empty());
        const auto json = report::latencyObject(latency);
        QCOMPARE(json.at("layers").at(0).at("asked").get<std::string>(), std::string("bfloat16"));
        QVERIFY(!json.contains("runtime"));
        QVERIFY(json.at("peak_bytes").is_null());
    }

    void theReportNamesTheRuntime()
    {
        latency::Latency latency;
        latency.runtime = {"ONNX Runtime", "1.22.0", "CPUExecutionProvider"};
        latency.layers = {layer({"a"}, DType::F16, DType::F32, 1),
                          layer({}, DType::Unknown, DType::F32, 1, StepKind::Runtime)};
        const auto json = report::latencyObject(latency);
        QCOMPARE(json.at("runtime").at("version").get<std::string>(), std::string("1.22.0"));
        QCOMPARE(json.at("as_asked").at("operators").get<int>(), 0);
        QCOMPARE(json.at("layers").at(0).at("asked").get<std::string>(), std::string("float16"));
        QCOMPARE(json.at("layers").at(0).at("dtype").get<std::string>(), std::string("float32"));
        QVERIFY(json.at("layers").at(1).at("asked").is_null());
    }
};

QTEST_GUILESS_MAIN(AsAskedTest)
#include "tst_as_asked.moc"
