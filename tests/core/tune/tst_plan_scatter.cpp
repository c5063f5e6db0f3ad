#include "core/latency/latency.h"
#include "core/tune/plan_scatter.h"

#include <QTest>

#include <array>
#include <cmath>
#include <random>
#include <vector>

using namespace halftone;
using tune::PlanScatter;

class TestPlanScatter : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Printed tables: Fisher and Yates, "Statistical Tables", table III.
    void quantilesAreThoseOfTables()
    {
        const std::vector<std::pair<std::size_t, double>> table{
            {1, 12.706}, {2, 4.303}, {5, 2.571}, {10, 2.228}, {11, 2.201}, {20, 2.086}, {60, 2.000}};
        for (const auto &[freedom, quantile] : table)
            QVERIFY2(std::abs(tune::studentQuantile(freedom) - quantile) < 1e-3,
                     qPrintable(QString::number(freedom)));
    }

    void onePlanTellsNothing()
    {
        PlanScatter scatter;
        QVERIFY(!scatter.factorFor(1));
        scatter.add(std::array{0.5});
        QVERIFY(!scatter.factorFor(1));
    }

    void equalPlansAreAsFarApartAsTheirPlacement()
    {
        PlanScatter scatter;
        scatter.add(std::array{0.5, 0.5, 0.5});
        QCOMPARE(scatter.factorFor(3).value_or(0), 1 + latency::kPlacement);
    }

    /// Two networks, each with two plans a tenth (of e) apart: s = 0.1 / √2, two degrees of freedom.
    void networksTellItTogether()
    {
        PlanScatter scatter;
        scatter.add(std::array{1.0, std::exp(0.1)});
        scatter.add(std::array{5.0, 5.0 * std::exp(-0.1)});
        const double expected = std::exp(4.303 * 0.1 / std::sqrt(2.0) * std::sqrt(1.5));
        QVERIFY(std::abs(scatter.factorFor(2).value_or(0) - expected) < 1e-9);
    }

    /// As often as it says: 400 searches of six networks, three plans each, every plan drawn around its network's time.
    void anotherPlanLiesInTheInterval()
    {
        std::mt19937_64 random(3);
        std::normal_distribution<double> drawn(0, 0.03);
        int inside = 0;
        int all = 0;
        for (int search = 0; search < 400; ++search) {
            PlanScatter scatter;
            std::vector<double> means;
            for (int network = 0; network < 6; ++network) {
                std::array<double, 3> medians{};
                double mean = 0;
                for (double &median : medians) {
                    median = (1 + network) * std::exp(drawn(random));
                    mean += median / 3;
                }
                scatter.add(medians);
                means.push_back(mean);
            }
            const double factor = scatter.factorFor(3).value_or(0);
            for (int network = 0; network < 6; ++network) {
                const double another = (1 + network) * std::exp(drawn(random));
                const double mean = means[static_cast<std::size_t>(network)];
                inside += mean / factor <= another && another <= mean * factor ? 1 : 0;
                ++all;
            }
        }
        const double share = inside / static_cast<double>(all);
        QVERIFY2(share > 0.93 && share < 0.97, qPrintable(QString::number(share)));
    }
};

QTEST_GUILESS_MAIN(TestPlanScatter)
#include "tst_plan_scatter.moc"
