#include "core/calibration/entropy.h"
#include "core/calibration/threshold_study.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace halftone;
using calibration::ThresholdMethod;
using calibration::ThresholdStudy;

namespace {

std::vector<float> randomNormal(std::size_t count, bool isPositive)
{
    std::mt19937 engine(5);
    std::normal_distribution<float> draw;
    std::vector<float> values(count);
    for (float &value : values)
        value = isPositive ? std::abs(draw(engine)) : draw(engine);
    return values;
}

std::shared_ptr<const calibration::CalibratedTensor> tensorOf(const std::vector<float> &values)
{
    calibration::Collector collector;
    collector.add(values);
    auto tensor = std::make_shared<calibration::CalibratedTensor>();
    tensor->name = "x_output";
    tensor->statistics = collector.statistics();
    calibration::ThresholdOptions options;
    options.codes = calibration::CodeType::Auto;
    tensor->threshold = calibration::chooseThreshold(tensor->statistics, options);
    return tensor;
}

} // namespace

class TstThresholdStudy : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyMethodHasTheThresholdThatItAloneChooses_data()
    {
        QTest::addColumn<bool>("isPositive");
        QTest::newRow("both signs") << false;
        QTest::newRow("from zero on") << true;
    }

    void everyMethodHasTheThresholdThatItAloneChooses()
    {
        QFETCH(const bool, isPositive);
        const auto tensor = tensorOf(randomNormal(20000, isPositive));
        const auto study = ThresholdStudy::of(tensor);
        QCOMPARE(study->marks().size(), std::size_t{7});
        const std::vector<double> percentiles{99, 99.9, 99.99, 99.999};
        for (std::size_t k = 0; k < 7; ++k) {
            const calibration::ThresholdMark &mark = study->marks()[k];
            calibration::ThresholdOptions options;
            options.codes = calibration::CodeType::Auto;
            options.method = k == 0 ? ThresholdMethod::MinMax
                : k == 1            ? ThresholdMethod::Entropy
                : k == 6            ? ThresholdMethod::Mse
                                    : ThresholdMethod::Percentile;
            if (options.method == ThresholdMethod::Percentile)
                options.percentile = percentiles[k - 2];
            const auto alone = calibration::chooseThreshold(tensor->statistics, options);
            QCOMPARE(mark.options.method, options.method);
            QCOMPARE(mark.threshold.value, alone.value);
            QCOMPARE(mark.threshold.sqnrDb, alone.sqnrDb);
            QCOMPARE(mark.threshold.divergence, alone.divergence);
        }
    }

    void theFiguresOfAMethodsThresholdAreTheMethodsOwn()
    {
        const auto study = ThresholdStudy::of(tensorOf(randomNormal(20000, false)));
        for (const calibration::ThresholdMark &mark : study->marks()) {
            const calibration::ThresholdFigures figures = study->at(mark.threshold.value);
            QCOMPARE(figures.sqnrDb, mark.threshold.sqnrDb);
            QCOMPARE(figures.clipped, mark.clipped);
            if (mark.options.method == ThresholdMethod::Entropy)
                QCOMPARE(study->snapped(mark.threshold.value), mark.threshold.value);
        }
    }

    void figuresAreThoseOfTheDefinition()
    {
        const std::vector<float> values = randomNormal(50000, false);
        const auto study = ThresholdStudy::of(tensorOf(values));
        for (const double threshold : {0.5, 1.5, 2.5, 3.5}) {
            double signal = 0;
            double noise = 0;
            double clipped = 0;
            for (const float value : values) {
                const double x = value;
                const double code = std::clamp(std::nearbyint(x / threshold * 127), -127.0, 127.0);
                signal += x * x;
                noise += std::pow(code * threshold / 127 - x, 2);
                clipped += std::abs(x) > threshold ? 1 : 0;
            }
            const calibration::ThresholdFigures figures = study->at(threshold);
            // A bin is 1/4000 of the range; values are taken to lie evenly in it.
            QVERIFY(std::abs(figures.clipped - clipped / 50000) < 1e-3);
            QVERIFY(std::abs(*figures.sqnrDb - 10 * std::log10(signal / noise)) < 0.1);
        }
        QCOMPARE(study->at(1e9).clipped, 0.0);
    }

    void theDivergenceIsThatOfItsDefinition_data() { everyMethodHasTheThresholdThatItAloneChooses_data(); }
    /// In slices so thin that none lies in two bins or in two codes but for a few.
    void theDivergenceIsThatOfItsDefinition()
    {
        QFETCH(const bool, isPositive);
        const auto tensor = tensorOf(randomNormal(20000, isPositive));
        const auto study = ThresholdStudy::of(tensor);
        const calibration::FoldedHistogram folded(tensor->statistics);
        const int levels = isPositive ? 255 : 127;
        constexpr std::size_t kSlices = 4'000'000;
        const double end = folded.upper(folded.size() - 1);
        const double thickness = end / static_cast<double>(kSlices);
        for (const double threshold : {0.7, 2.0, 3.3}) {
            std::vector<double> inCode(static_cast<std::size_t>(levels) + 1);
            std::vector<double> slices(inCode.size());
            const auto see = [&](auto &&use) {
                std::size_t bin = 0;
                for (std::size_t k = 0; k < kSlices; ++k) {
                    const double x = (static_cast<double>(k) + 0.5) * thickness;
                    while (x > folded.upper(bin))
                        ++bin;
                    const double count
                        = folded.count(bin) * thickness / (folded.upper(bin) - folded.lower(bin));
                    const double code = std::nearbyint(x / threshold * levels);
                    use(static_cast<std::size_t>(std::min(code, double(levels))), count);
                }
            };
            see([&](std::size_t code, double count) {
                inCode[code] += count;
                slices[code] += 1;
            });
            double divergence = 0;
            see([&](std::size_t code, double count) {
                if (count > 0)
                    divergence += count / 20000 * std::log(count * slices[code] / inCode[code]);
            });
            QVERIFY(std::abs(study->at(threshold).divergence - divergence) < 1e-4 + 2e-3 * divergence);
        }
    }

    /// Half of a ReLU's values are zero: the entropy search's groups jump over that edge as candidates grow.
    void aPersonCanSteerByTheDivergenceOfARelu()
    {
        std::vector<float> values = randomNormal(60000, false);
        for (float &value : values)
            value = std::max(value, 0.0F);
        const auto study = ThresholdStudy::of(tensorOf(values));
        const auto jumps = [](const std::vector<calibration::CurvePoint> &curve) {
            double most = 1;
            for (std::size_t k = curve.size() / 2; k + 1 < curve.size(); ++k)
                most = std::max(most,
                                std::max(curve[k].value, curve[k + 1].value)
                                    / std::min(curve[k].value, curve[k + 1].value));
            return most;
        };
        QVERIFY(jumps(study->searched()) > 10);
        QVERIFY(jumps(study->divergence()) < 1.1);
        // Bin by bin, as the grip moves.
        const double largest = study->tensor().statistics.absMax;
        for (double threshold = largest / 4; threshold < largest; threshold += study->binWidth()) {
            const double here = study->at(study->snapped(threshold)).divergence;
            const double next = study->at(study->snapped(threshold + study->binWidth())).divergence;
            QVERIFY(std::abs(next - here) < 0.05 * here);
        }
        // What clips much is worse, and so is what has but a few codes.
        const auto least = std::ranges::min_element(study->divergence(), {}, &calibration::CurvePoint::value);
        QVERIFY(least->threshold > largest / 2);
        QVERIFY(study->at(largest / 4).divergence > 4 * least->value);
        QVERIFY(study->at(largest * 64).divergence > 2 * least->value);
    }

    void theCurvesAreShortAndKeepTheirMinimum()
    {
        const auto tensor = tensorOf(randomNormal(20000, false));
        const auto study = ThresholdStudy::of(tensor);
        const auto whole
            = calibration::divergenceCurve(tensor->statistics.histogram, calibration::kSignedLevels);
        QVERIFY(whole.divergences.size() > 3000);
        QVERIFY(study->searched().size() <= ThresholdStudy::kMostPoints);
        QVERIFY(study->searched().size() > 300);
        const auto least = std::ranges::min_element(study->searched(), {}, &calibration::CurvePoint::value);
        QCOMPARE(least->value, *std::ranges::min_element(whole.divergences));
        QVERIFY(std::ranges::is_sorted(study->searched(), {}, &calibration::CurvePoint::threshold));
        QCOMPARE(study->divergence().size(), ThresholdStudy::kMostPoints);
        for (const calibration::CurvePoint &point : study->divergence())
            QCOMPARE(point.value, study->at(point.threshold).divergence);
        // mse has chosen the highest point of the other curve.
        const auto most = std::ranges::max_element(study->sqnr(), {}, &calibration::CurvePoint::value);
        QCOMPARE(most->threshold, study->marks().back().threshold.value);
        QCOMPARE(study->sqnr().size(), std::size_t{256});
    }

    void aThresholdIsSnappedToTheNearestBinAndNeverBeyondTheValues()
    {
        const auto tensor = tensorOf(randomNormal(20000, false));
        const auto study = ThresholdStudy::of(tensor);
        const double width = study->binWidth();
        for (double wanted = width; wanted < tensor->statistics.absMax; wanted *= 1.37) {
            const double snapped = study->snapped(wanted);
            QVERIFY(std::abs(snapped - wanted) <= width / 2 * 1.001);
            QCOMPARE(study->snapped(snapped), snapped);
        }
        QCOMPARE(study->snapped(1e30), tensor->statistics.absMax);
    }

    void whatCannotBeScaledIsNotStudied()
    {
        QVERIFY(!ThresholdStudy::of(tensorOf(std::vector<float>(100, 0.0F))));
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(!ThresholdStudy::of(tensorOf(randomNormal(1000, false)), stop.get_token()));
    }

    void aFewValuesAreNoReasonToFail()
    {
        const auto study = ThresholdStudy::of(tensorOf({1.0F, -2.0F, 0.25F}));
        QVERIFY(study);
        QCOMPARE(study->marks()[1].threshold.method, ThresholdMethod::MinMax);
        QVERIFY(!study->marks()[1].threshold.note.empty());
        QVERIFY(study->at(1).clipped > 0.3);
    }

    void figuresAreQuickEnoughForADrag()
    {
        const auto study = ThresholdStudy::of(tensorOf(randomNormal(200000, false)));
        QElapsedTimer clock;
        clock.start();
        constexpr int kSteps = 50;
        for (int k = 1; k <= kSteps; ++k)
            study->at(k * 4.0 / kSteps);
        const double each = static_cast<double>(clock.nsecsElapsed()) / 1e6 / kSteps;
        qInfo("figures of one threshold: %.3f ms", each);
        QVERIFY(each < 16);
    }
};

QTEST_GUILESS_MAIN(TstThresholdStudy)
#include "tst_threshold_study.moc"
