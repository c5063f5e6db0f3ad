#include "core/tune/surrogate.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace halftone;
using tune::Label;
using tune::Labels;
using tune::Surrogate;

namespace {

/// What a network takes and loses.
struct Figures
{
    double microseconds = 0;
    double error = 0;
    double objective(double lambda) const { return microseconds + lambda * error; }
};

/// A chain with skips, some groups fixed, some narrower labels slower than float32.
Surrogate randomSurrogate(std::mt19937 &random, std::size_t groups, bool hasInt8)
{
    const auto draw
        = [&random](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    Surrogate surrogate;
    for (std::size_t k = 0; k < groups; ++k) {
        const double wide = draw(5, 60);
        const double error = std::pow(10, draw(-7, -3));
        const bool isFixed = random() % 8 == 0;
        surrogate.groups.push_back({{wide, wide * draw(0.4, 1.1), wide * draw(0.2, 1.1)},
                                    {0, error, error * draw(5, 200)},
                                    {true, !isFixed, hasInt8 && !isFixed}});
    }
    for (std::size_t k = 0; k + 1 < groups; ++k) {
        tune::Link link{k, {k + 1}, {draw(0, 12), draw(0, 12), draw(0, 12)}};
        for (std::size_t reader = k + 2; reader < std::min(k + 4, groups); ++reader)
            if (random() % 3 == 0)
                link.readers.push_back(reader);
        surrogate.links.push_back(link);
    }
    return surrogate;
}

/// Time and error by their definition: each label that is read and not produced costs a conversion: one price for each direction, and one for codes.
Figures figuresOf(const Surrogate &surrogate, const Labels &labels)
{
    Figures figures;
    for (std::size_t k = 0; k < labels.size(); ++k) {
        figures.microseconds += surrogate.groups[k].microseconds[static_cast<std::size_t>(labels[k])];
        figures.error += surrogate.groups[k].error[static_cast<std::size_t>(labels[k])];
    }
    for (const tune::Link &link : surrogate.links)
        for (const Label label : tune::kLabels)
            if (label != labels[link.producer]
                && std::ranges::any_of(link.readers, [&](std::size_t r) { return labels[r] == label; }))
                figures.microseconds += label == Label::Int8 || labels[link.producer] == Label::Int8
                    ? link.prices.castMicroseconds + link.prices.codesMicroseconds
                    : label == Label::Float32 ? link.prices.widenMicroseconds
                                              : link.prices.castMicroseconds;
    return figures;
}

std::vector<Labels> allLabels(const Surrogate &surrogate)
{
    std::vector<Labels> all{{}};
    for (const tune::GroupCosts &group : surrogate.groups) {
        std::vector<Labels> longer;
        for (const Labels &labels : all) {
            for (const Label label : tune::kLabels) {
                if (!group.allows(label))
                    continue;
                longer.push_back(labels);
                longer.back().push_back(label);
            }
        }
        all = std::move(longer);
    }
    return all;
}

std::vector<Figures> allFigures(const Surrogate &surrogate)
{
    std::vector<Figures> all;
    for (const Labels &labels : allLabels(surrogate))
        all.push_back(figuresOf(surrogate, labels));
    return all;
}

double leastOf(const std::vector<Figures> &all, double lambda)
{
    double least = std::numeric_limits<double>::infinity();
    for (const Figures &figures : all)
        least = std::min(least, figures.objective(lambda));
    return least;
}

/// The lower convex hull by Andrew's monotone chain, from the least error on, as far as time falls.
std::vector<Figures> hullOf(std::vector<Figures> all)
{
    std::ranges::sort(all, [](const Figures &a, const Figures &b) {
        return std::pair(a.error, a.microseconds) < std::pair(b.error, b.microseconds);
    });
    std::vector<Figures> hull;
    for (const Figures &next : all) {
        if (!hull.empty() && next.microseconds >= hull.back().microseconds)
            continue;
        while (hull.size() > 1) {
            const Figures &a = hull[hull.size() - 2];
            const Figures &b = hull.back();
            if ((b.error - a.error) * (next.microseconds - a.microseconds)
                > (next.error - a.error) * (b.microseconds - a.microseconds))
                break;
            hull.pop_back();
        }
        hull.push_back(next);
    }
    return hull;
}

constexpr std::array kLambdas{0.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9};

} // namespace

class TestSurrogate : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sumsAreThoseOfTheDefinition();
    void twoLabelsAreSolvedExactly();
    void theHullIsTheWholeLowerHull();
    void threeLabelsComeCloseToTheBest();
    void theBoundIsOneAndTheGapIsToldByIt();
    void fixedGroupsKeepTheirLabel();
    void nothingToGainLeavesOnePoint();
};

void TestSurrogate::sumsAreThoseOfTheDefinition()
{
    std::mt19937 random(1);
    const Surrogate surrogate = randomSurrogate(random, 6, true);
    for (const Labels &labels : allLabels(surrogate)) {
        const Figures figures = figuresOf(surrogate, labels);
        QVERIFY(std::abs(surrogate.microseconds(labels) - figures.microseconds) < 1e-9);
        QVERIFY(std::abs(surrogate.error(labels) - figures.error) < 1e-15);
    }
}

void TestSurrogate::twoLabelsAreSolvedExactly()
{
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        const Surrogate surrogate = randomSurrogate(random, 9, false);
        const std::vector<Figures> all = allFigures(surrogate);
        for (const double lambda : kLambdas) {
            const double found = figuresOf(surrogate, surrogate.cheapest(lambda)).objective(lambda);
            const double least = leastOf(all, lambda);
            QVERIFY2(found <= least * (1 + 1e-9),
                     qPrintable(QString("seed %1, lambda %2: %3, best %4")
                                    .arg(seed)
                                    .arg(lambda)
                                    .arg(found, 0, 'g', 12)
                                    .arg(least, 0, 'g', 12)));
        }
    }
}

void TestSurrogate::theHullIsTheWholeLowerHull()
{
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        const Surrogate surrogate = randomSurrogate(random, 9, false);
        const std::vector<Figures> expected = hullOf(allFigures(surrogate));
        std::vector<Figures> found;
        for (const Labels &labels : surrogate.hull())
            found.push_back(figuresOf(surrogate, labels));
        QVERIFY2(found.size() == expected.size(),
                 qPrintable(
                     QString("seed %1: %2 corners of %3").arg(seed).arg(found.size()).arg(expected.size())));
        for (std::size_t k = 0; k < found.size(); ++k) {
            QVERIFY(std::abs(found[k].microseconds - expected[k].microseconds) < 1e-6);
            QVERIFY(std::abs(found[k].error - expected[k].error) <= 1e-9 * expected[k].error);
        }
    }
}

/// Expansion moves are within twice the best of the conversions' part; here they have to be far closer.
void TestSurrogate::threeLabelsComeCloseToTheBest()
{
    double sum = 0;
    std::size_t count = 0;
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        const Surrogate surrogate = randomSurrogate(random, 7, true);
        const std::vector<Figures> all = allFigures(surrogate);
        for (const double lambda : kLambdas) {
            const double found = figuresOf(surrogate, surrogate.cheapest(lambda)).objective(lambda);
            const double above = found / leastOf(all, lambda) - 1;
            QVERIFY2(above < 0.05, qPrintable(QString("seed %1: %2 above the best").arg(seed).arg(above)));
            sum += above;
            ++count;
        }
    }
    QVERIFY2(sum / static_cast<double>(count) < 0.005,
             qPrintable(QString::number(sum / static_cast<double>(count))));
}

/// Never above what some labels have, and near to it.
void TestSurrogate::theBoundIsOneAndTheGapIsToldByIt()
{
    double widest = 0;
    double sum = 0;
    std::size_t count = 0;
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        const Surrogate surrogate = randomSurrogate(random, 7, true);
        const std::vector<Figures> all = allFigures(surrogate);
        for (const double lambda : kLambdas) {
            const double least = leastOf(all, lambda);
            const double bound
                = surrogate.lowerBound(lambda, surrogate.objective(surrogate.cheapest(lambda), lambda));
            QVERIFY2(bound <= least * (1 + 1e-9),
                     qPrintable(QString("seed %1: %2 above %3").arg(seed).arg(bound).arg(least)));
            widest = std::max(widest, 1 - bound / least);
            sum += 1 - bound / least;
            ++count;
        }
        const Surrogate::Hull hull = surrogate.hullWithGap();
        QVERIFY(hull.gap >= 0 && hull.gap < 0.2);
        QCOMPARE(hull.corners, surrogate.hull());
    }
    qInfo("bound at most %.4f, on average %.4f below the least sum", widest,
          sum / static_cast<double>(count));
    QVERIFY2(sum / static_cast<double>(count) < 0.01,
             qPrintable(QString::number(sum / static_cast<double>(count))));
    std::mt19937 random(1);
    QCOMPARE(randomSurrogate(random, 9, false).hullWithGap().gap, 0.0); // a cut is exact
}

void TestSurrogate::fixedGroupsKeepTheirLabel()
{
    Surrogate surrogate;
    surrogate.groups = {{{10, 1, 0}, {0, 1e-6, 0}, {true, true, false}},
                        {{10, 1, 0}, {0, 0, 0}, {true, false, false}},
                        {{10, 30, 0}, {0, 0, 0}, {false, true, false}}};
    surrogate.links = {{0, {1}, {0.5}}, {1, {2}, {0.5}}};
    QCOMPARE(surrogate.cheapest(0), (Labels{Label::Target, Label::Float32, Label::Target}));
    QCOMPARE(surrogate.widest(), (Labels{Label::Float32, Label::Float32, Label::Target}));
}

void TestSurrogate::nothingToGainLeavesOnePoint()
{
    Surrogate surrogate;
    surrogate.groups
        = {{{10, 9, 0}, {0, 1e-6, 0}, {true, true, false}}, {{10, 10, 0}, {0, 0, 0}, {true, false, false}}};
    surrogate.links = {{0, {1}, {2, 2}}}; // the conversion costs more than is gained
    QCOMPARE(surrogate.hull(), std::vector<Labels>{surrogate.widest()});
}

QTEST_GUILESS_MAIN(TestSurrogate)
#include "tst_surrogate.moc"
