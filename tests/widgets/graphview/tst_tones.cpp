#include "widgets/common/precision_palette.h"
#include "widgets/graphview/title_place.h"

#include <QTest>

#include <array>
#include <cmath>
#include <vector>

using namespace halftone;

namespace {

using Lab = std::array<double, 3>;

double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

/// CIE L*a*b* of an sRGB colour under D65 (CIE 15:2004; matrix of IEC 61966-2-1).
Lab labOf(const QColor &colour)
{
    const double r = linear(colour.redF());
    const double g = linear(colour.greenF());
    const double b = linear(colour.blueF());
    const auto cubic = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = cubic((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
    const double y = cubic(0.2126 * r + 0.7152 * g + 0.0722 * b);
    const double z = cubic((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const Lab &a, const Lab &b)
{
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

} // namespace

class TestTones : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// A scale that passes by a precision's colour would tell of a type where it means an error.
    void theScaleOfErrorsHasNoPrecisionsColour()
    {
        using tensor::DType;
        constexpr double kPlainlyApart = 20; // in CIE76; 2.3 can just be told apart side by side
        for (const bool isDark : {false, true})
            for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::I8})
                for (int k = 0; k <= 40; ++k) {
                    const QColor own = widgets::precisionLook(type, isDark).colour;
                    const double apart
                        = distance(labOf(widgets::sequentialColour(k / 40.0, isDark)), labOf(own));
                    QVERIFY2(apart > kPlainlyApart,
                             qPrintable(QStringLiteral("%1 at %2: %3").arg(own.name()).arg(k).arg(apart)));
                }
    }

    /// Curves of figures neither, and the two are told apart and seen on their ground.
    void curvesOfFiguresHaveNoPrecisionsColour()
    {
        using tensor::DType;
        constexpr double kPlainlyApart = 25;
        for (const bool isDark : {false, true}) {
            const Lab first = labOf(widgets::seriesColour(0, isDark));
            const Lab second = labOf(widgets::seriesColour(1, isDark));
            const Lab ground = labOf(isDark ? QColor(0x1c, 0x1e, 0x21) : QColor(Qt::white));
            QVERIFY(distance(first, second) > kPlainlyApart);
            for (const Lab &curve : {first, second}) {
                QVERIFY(std::abs(curve[0] - ground[0]) > 50); // of lightness
                for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::I8})
                    QVERIFY(distance(curve, labOf(widgets::precisionLook(type, isDark).colour))
                            > kPlainlyApart);
            }
        }
    }

    /// The title of a block whose own is out of sight lies over no node's name.
    void aTitleLiesOverNoNode()
    {
        const QRectF row(100, 0, 400, 20);
        const QSizeF size(80, 20);
        const QRectF atLeft(90, -10, 150, 40);
        const QRectF atRight(380, 10, 150, 40);
        const QRectF everywhere(0, 10, 900, 40);
        using Taken = std::vector<QRectF>;
        QCOMPARE(widgets::placeOfTitle(row, size, {})->left(), 100.0);
        QCOMPARE(widgets::placeOfTitle(row, size, Taken{atLeft})->left(), 420.0);
        QCOMPARE(widgets::placeOfTitle(row, size, Taken{atLeft, atRight})->left(), 260.0);
        QVERIFY(!widgets::placeOfTitle(row, size, Taken{everywhere}));
        QVERIFY(!widgets::placeOfTitle(row, {401, 20}, {}));
    }

    /// The order can be seen without colour.
    void theScaleFallsEvenlyInLuminance()
    {
        double before = labOf(widgets::sequentialColour(0, false))[0];
        for (int k = 1; k <= 8; ++k) {
            const double now = labOf(widgets::sequentialColour(k / 8.0, false))[0];
            QVERIFY(before - now > 6 && before - now < 12);
            before = now;
        }
        QCOMPARE(widgets::sequentialColour(0, true), widgets::sequentialColour(1, false));
    }
};

QTEST_APPLESS_MAIN(TestTones)
#include "tst_tones.moc"
