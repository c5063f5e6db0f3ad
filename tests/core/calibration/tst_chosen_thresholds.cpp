#include "core/calibration/chosen_thresholds.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace halftone;
using policy::ThresholdChoice;
using policy::ThresholdMethod;

namespace {

calibration::CalibratedTensor tensorNamed(const char *name)
{
    std::mt19937 engine(3);
    std::normal_distribution<float> draw;
    std::vector<float> values(5000);
    for (float &value : values)
        value = draw(engine);
    calibration::Collector collector;
    collector.add(values);
    calibration::CalibratedTensor tensor;
    tensor.name = name;
    tensor.statistics = collector.statistics();
    tensor.threshold = calibration::chooseThreshold(tensor.statistics, {});
    return tensor;
}

} // namespace

class TstChosenThresholds : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theTensorsOwnChoiceComesBeforeThePolicysMethod()
    {
        const auto tensor = tensorNamed("a_output");
        policy::Policy policy;
        QCOMPARE(calibration::choiceFor(policy, tensor).method, ThresholdMethod::Mse);
        auto weighed = tensor;
        weighed.atOutputs = ThresholdMethod::MinMax;
        QCOMPARE(calibration::choiceFor(policy, weighed).method, ThresholdMethod::MinMax);
        policy.thresholdMethod = ThresholdMethod::Entropy;
        QCOMPARE(calibration::choiceFor(policy, tensor).method, ThresholdMethod::Entropy);
        QCOMPARE(calibration::choiceFor(policy, weighed).method, ThresholdMethod::Entropy);
        policy.thresholds["a_output"] = {ThresholdMethod::Percentile, std::nullopt};
        QCOMPARE(calibration::choiceFor(policy, tensor).method, ThresholdMethod::Percentile);
        QCOMPARE(calibration::choiceFor(policy, tensorNamed("b_output")).method, ThresholdMethod::Entropy);
    }

    void parametersAreScaledByTheirLargestMagnitude()
    {
        auto tensor = tensorNamed("w");
        tensor.isParameter = true;
        policy::Policy policy;
        policy.thresholdMethod = ThresholdMethod::Entropy;
        policy.thresholds["w"] = {ThresholdMethod::Mse, 0.5};
        QVERIFY(calibration::choiceFor(policy, tensor)
                == (ThresholdChoice{ThresholdMethod::MinMax, std::nullopt}));
    }

    void aThresholdByHandIsTakenAsItIs()
    {
        const auto tensor = tensorNamed("a_output");
        const auto threshold = calibration::thresholdBy({ThresholdMethod::Mse, 1.25}, tensor);
        QCOMPARE(threshold.value, 1.25);
        QCOMPARE(threshold.sqnrDb,
                 calibration::sqnrFromHistogram(tensor.statistics, 1.25, calibration::CodeRange::Symmetric));
        QVERIFY(!threshold.divergence);
        const auto range = calibration::calibratedRange(tensor.statistics, threshold);
        QCOMPARE(range.min, -1.25F);
        QCOMPARE(range.max, 1.25F);
    }

    void whatIsChosenAsBeforeIsTakenOver()
    {
        const std::vector<calibration::CalibratedTensor> tensors{tensorNamed("a_output"),
                                                                 tensorNamed("b_output")};
        policy::Policy policy;
        auto before = *calibration::chosenThresholds(tensors, policy);
        QCOMPARE(before.size(), std::size_t{2});
        before[0].clipped = before[1].clipped = 42; // to be told apart from what is computed
        policy.thresholds["b_output"] = {ThresholdMethod::MinMax, std::nullopt};
        const auto after = calibration::chosenThresholds(tensors, policy, before);
        QCOMPARE((*after)[0].clipped, 42.0);
        QCOMPARE((*after)[1].clipped, 0.0);
        QCOMPARE((*after)[1].threshold.value, tensors[1].statistics.absMax);
    }

    void whatCanBeReachedIsThatOfTheBestMethod()
    {
        std::vector<calibration::CalibratedTensor> tensors{tensorNamed("a_output"), tensorNamed("b_output"),
                                                           tensorNamed("w")};
        tensors[1].atOutputs = ThresholdMethod::MinMax;
        tensors[2].isParameter = true;
        policy::Policy policy;
        policy.thresholds["a_output"] = {ThresholdMethod::Mse, 0.01};
        const auto chosen = calibration::chosenThresholds(tensors, policy);
        QCOMPARE((*chosen)[0].reachableDb,
                 calibration::thresholdBy({ThresholdMethod::Mse, std::nullopt}, tensors[0]).sqnrDb);
        QVERIFY((*chosen)[0].reachableDb > (*chosen)[0].threshold.sqnrDb);
        QCOMPARE((*chosen)[1].reachableDb, (*chosen)[1].threshold.sqnrDbMinMax);
        QVERIFY(!(*chosen)[2].reachableDb);
    }

    void aStoppedChoiceIsNone()
    {
        const std::vector<calibration::CalibratedTensor> tensors{tensorNamed("a_output")};
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(!calibration::chosenThresholds(tensors, {}, {}, stop.get_token()));
    }
};

QTEST_GUILESS_MAIN(TstChosenThresholds)
#include "tst_chosen_thresholds.moc"
