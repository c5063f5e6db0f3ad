#include "core/io/arrays/npz.h"
#include "core/walks/calibrate.h"
#include "core/walks/int8_ranges.h"
#include "tests/support/build_graph.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <random>

using namespace halftone;
using calibration::ThresholdMethod;
using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::size_t kShown = 16;
constexpr std::size_t kFeatures = 4096;
constexpr std::size_t kOutputs = 8;
constexpr float kLargest = 2; ///< of the first feature of the first example; all else is below 1

Tensor featureTensor(tensor::Shape shape, const std::vector<float> &values)
{
    return Tensor::owning(DType::F32, std::move(shape),
                          {reinterpret_cast<const std::byte *>(values.data()),
                           reinterpret_cast<const std::byte *>(values.data() + values.size())});
}

/// A fully connected layer that reads the first feature alone, or all but that.
graph::Model oneLayer(bool readsFirst)
{
    test::GraphBuilder g;
    const graph::Entry weights = g.variable("w");
    graph::Model model = g.model({g.op("FullyConnected", "fc", {g.variable("data"), weights},
                                       {{"num_hidden", std::to_string(kOutputs)}, {"no_bias", "True"}})});
    std::mt19937 engine(3);
    std::vector<float> values(kOutputs * kFeatures);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const bool isFirst = k % kFeatures == 0;
        values[k] = isFirst == readsFirst ? (engine() % 2 == 0 ? 1.0F : -1.0F) : 0.0F;
    }
    model.hasParameters = true;
    model.parameters.push_back({"arg:w",
                                tensor::Storage::Dense,
                                tensor::Shape{kOutputs, kFeatures},
                                featureTensor({kOutputs, kFeatures}, values),
                                {}});
    return model;
}

} // namespace

/// Least squares clip one value of 65,536: whether that is wise depends on what reads it.
class TstLayerChoice : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    walks::CalibrateOptions options(unsigned threads)
    {
        std::mt19937 engine(5);
        std::vector<float> values(kShown * kFeatures);
        for (float &value : values)
            value = static_cast<float>(engine()) * 0x1p-31F - 1;
        values[0] = kLargest;
        walks::CalibrateOptions options;
        options.examples.inputs = m_folder.filePath("data.npz").toStdString();
        const io::NamedTensor arrays[] = {{"data", featureTensor({kShown, kFeatures}, values)}};
        if (!io::writeNpz(arrays, options.examples.inputs).ok())
            qFatal("cannot write the data");
        options.backend = "reference";
        options.threads = threads;
        options.threshold.method = ThresholdMethod::Mse;
        options.weighsOutputs = true;
        return options;
    }

private Q_SLOTS:
    void theLayerThatReadsATensorDecides_data()
    {
        QTest::addColumn<bool>("readsFirst");
        QTest::newRow("what is clipped is read") << true;
        QTest::newRow("what is clipped is not read") << false;
    }
    void theLayerThatReadsATensorDecides()
    {
        QFETCH(bool, readsFirst);
        const ThresholdMethod best = readsFirst ? ThresholdMethod::MinMax : ThresholdMethod::Mse;
        for (const unsigned threads : {1U, 3U}) {
            const auto calibrated = walks::calibrateModel(oneLayer(readsFirst), {}, options(threads), {});
            QVERIFY2(calibrated.ok(), calibrated.ok() ? "" : calibrated.error().message().c_str());
            const auto &tensors = calibrated.value().tensors;
            const auto data = std::ranges::find(tensors, "data", &calibration::CalibratedTensor::name);
            QVERIFY(data != tensors.end());
            QVERIFY(data->atOutputs == best);
            QCOMPARE(data->threshold.method, best);
            if (readsFirst)
                QCOMPARE(data->threshold.value, double{kLargest});
            else
                QVERIFY(data->threshold.value < 0.9 * double{kLargest});
            for (const calibration::CalibratedTensor &tensor : tensors)
                QVERIFY(tensor.name == "data" || !tensor.atOutputs); // no layer reads them
        }
    }

    void whoAsksForAMethodGetsIt()
    {
        walks::CalibrateOptions asked = options(1);
        asked.weighsOutputs = false;
        const auto calibrated = walks::calibrateModel(oneLayer(true), {}, asked, {});
        QVERIFY(calibrated.ok());
        for (const calibration::CalibratedTensor &tensor : calibrated.value().tensors)
            QVERIFY(!tensor.atOutputs);
    }

    /// From statistics that were weighed, and from examples, a conversion has the same ranges.
    void conversionsTakeWhatIsBest()
    {
        walks::CalibrateOptions weighed = options(1);
        weighed.threshold.codes = calibration::CodeType::Auto;
        auto calibrated = walks::calibrateModel(oneLayer(true), {}, weighed, {});
        QVERIFY(calibrated.ok());
        walks::RangeCache cache(
            std::make_shared<const walks::CalibrateOutcome>(std::move(calibrated).value()));
        policy::Policy policy;
        const auto best = cache.ranges({"data"}, policy);
        QVERIFY(best.ok());
        QCOMPARE(best.value().at("data").high, kLargest);
        policy.thresholdMethod = ThresholdMethod::Mse;
        const auto asked = cache.ranges({"data"}, policy);
        QVERIFY(asked.ok());
        QVERIFY(asked.value().at("data").high < 0.9F * kLargest);
    }
};

QTEST_GUILESS_MAIN(TstLayerChoice)
#include "tst_layer_choice.moc"
