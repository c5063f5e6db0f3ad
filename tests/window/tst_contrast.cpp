#include "app/window_style.h"
#include "tests/widgets/models/sample_document.h"
#include "tests/window/window_fixture.h"
#include "widgets/common/precision_palette.h"
#include "widgets/graphview/tones.h"
#include "widgets/inspector/inspector_panel.h"

#include <QApplication>
#include <QLabel>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>

using namespace halftone;

namespace {

constexpr double kLeast = 4.5; ///< WCAG 2.1, success criterion 1.4.3

/// From the definition there, not from what draws.
double luminance(const QColor &colour)
{
    const auto linear
        = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF())
        + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor &a, const QColor &b)
{
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05) / (low + 0.05);
}

/// What is seen where a colour that lets some through lies on a ground.
QColor over(const QColor &colour, const QColor &ground)
{
    return widgets::blended(ground, QColor(colour.rgb()), colour.alphaF());
}

} // namespace

/// Every text of the window against every ground that it stands on, in all themes. What is disabled, and what is faded because
/// something else is selected, is excepted, as the criterion has it for inactive parts.
class TestContrast : public QObject
{
    Q_OBJECT

private:
    QPalette m_before;

    static void each()
    {
        QTest::addColumn<int>("theme");
        QTest::newRow("desktop") << static_cast<int>(app::Theme::Desktop);
        QTest::newRow("light") << static_cast<int>(app::Theme::Light);
        QTest::newRow("dark") << static_cast<int>(app::Theme::Dark);
    }
    static void check(const QColor &text, const QColor &ground, const QString &what)
    {
        const double found = contrast(over(text, ground), ground);
        if (found < kLeast)
            QTest::qFail(qPrintable(QStringLiteral("%1: %2 on %3 is %4 to 1")
                                        .arg(what, text.name(), ground.name())
                                        .arg(found, 0, 'f', 2)),
                         __FILE__, __LINE__);
    }

private Q_SLOTS:
    void initTestCase() { QApplication::setStyle(new app::WindowStyle); } // as main() does

    void init()
    {
        m_before = QApplication::palette();
        QFETCH(int, theme);
        app::applyTheme(static_cast<app::Theme>(theme));
    }
    void cleanup() { QApplication::setPalette(m_before); }

    void rolesOfThePalette_data() { each(); }
    void rolesOfThePalette()
    {
        using Role = QPalette::ColorRole;
        QFETCH(const int, theme);
        const bool isDesktops = static_cast<app::Theme>(theme) == app::Theme::Desktop;
        const std::pair<std::vector<Role>, std::vector<Role>> pairs[] = {
            {{QPalette::WindowText, QPalette::Text, QPalette::PlaceholderText, QPalette::Link},
             {QPalette::Window, QPalette::Base, QPalette::AlternateBase}},
            {{QPalette::ButtonText, QPalette::PlaceholderText}, {QPalette::Button, QPalette::Window}},
            {{QPalette::HighlightedText}, {QPalette::Highlight}},
            {{QPalette::ToolTipText}, {QPalette::ToolTipBase}},
        };
        for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive})
            for (const auto &[texts, grounds] : pairs)
                for (const Role text : texts) {
                    if (isDesktops && text == QPalette::HighlightedText)
                        continue; // the desktop's own pair, which a person chose there
                    for (const Role ground : grounds)
                        check(QApplication::palette().color(group, text),
                              QApplication::palette().color(group, ground),
                              QStringLiteral("%1 on %2").arg(text).arg(ground));
                }
    }

    /// Whatever palette a desktop has, and whatever its hints let through.
    void hintsOfADesktopAreRead_data() { each(); }
    void hintsOfADesktopAreRead()
    {
        const QColor grounds[] = {QColor(0xef, 0xef, 0xef), QColor(0x31, 0x36, 0x3b),
                                  QColor(0x1e, 0x1e, 0x1e), QColor(Qt::white)};
        for (const QColor &ground : grounds) {
            QPalette palette(ground, ground);
            app::WindowStyle().polish(palette);
            for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive})
                for (const QPalette::ColorRole behind :
                     {QPalette::Window, QPalette::Base, QPalette::AlternateBase, QPalette::Button})
                    check(palette.color(group, QPalette::PlaceholderText), palette.color(group, behind),
                          QStringLiteral("a hint on ") + ground.name());
        }
    }

    void rowsOfTables_data() { each(); }
    void rowsOfTables()
    {
        const QPalette palette = QApplication::palette();
        for (const QColor &ground : {palette.color(QPalette::Base), palette.color(QPalette::AlternateBase),
                                     widgets::hoverColour(palette)}) {
            check(palette.color(QPalette::Text), ground, QStringLiteral("a row's text"));
            check(palette.color(QPalette::PlaceholderText), ground, QStringLiteral("a row's second text"));
            check(widgets::warningColour(palette), ground, QStringLiteral("a row's warning"));
        }
    }

    void textsOfTheGraph_data() { each(); }
    void textsOfTheGraph()
    {
        const widgets::Tones tones(QApplication::palette());
        std::vector<std::pair<QColor, QString>> grounds{{tones.ground(), QStringLiteral("the ground")}};
        for (std::uint32_t depth = 0; depth < 6; ++depth)
            grounds.emplace_back(tones.frame(depth), QStringLiteral("a frame"));
        for (std::size_t type = 0; type < tensor::kTypes; ++type) {
            const widgets::Tone &tone = tones.of(static_cast<tensor::DType>(type));
            grounds.emplace_back(tone.body, "a node in " + tone.badge);
            if (!tone.isOutlined)
                check(widgets::readableOn(tone.band), tone.band, "the badge " + tone.badge);
        }
        for (const auto &[ground, name] : grounds) {
            check(tones.text(), ground, "a name on " + name);
            check(tones.secondText(), ground, "an operator on " + name);
            check(tones.warningText(), ground, "a warning on " + name);
        }
    }

    void figuresOnTheirScale_data() { each(); }
    void figuresOnTheirScale()
    {
        const widgets::Tones tones(QApplication::palette());
        for (int k = 0; k <= 100; ++k)
            for (const double share :
                 {0.0, 0.65}) { // of the ground: 0.65 where a figure is of an earlier state
                const QColor ground
                    = widgets::blended(tones.scale(static_cast<float>(k) / 100), tones.ground(), share);
                const QString what = QStringLiteral("a figure at %1 %").arg(k);
                check(widgets::readableOn(ground), ground, what);
                check(tones.secondOn(ground), ground, what + ", second text");
            }
    }

    void theInspectorsTexts_data() { each(); }
    void theInspectorsTexts()
    {
        const QPalette palette = QApplication::palette();
        const widgets::Details details{
            QStringLiteral("node"),
            QStringLiteral("Convolution"),
            {{QStringLiteral("Error"),
              {{QStringLiteral("SQNR"), QStringLiteral("38.5 dB"), {}, false, true, {}},
               {QStringLiteral("overflow"), QStringLiteral("3"), {}, true, false, {}}}}}};
        static const QRegularExpression colour(QStringLiteral("color:(#[0-9a-f]{6})"));
        auto found = colour.globalMatch(widgets::detailsHtml(details, palette));
        int count = 0;
        for (; found.hasNext(); ++count)
            check(QColor(found.next().captured(1)), palette.color(QPalette::Base),
                  QStringLiteral("the inspector"));
        QVERIFY(count >= 4);
    }

    /// A label may have a palette of its own, or a role of its own.
    void labelsOfTheWindow_data() { each(); }
    void labelsOfTheWindow()
    {
        app::MainWindow window;
        window.resize(1400, 900);
        window.show();
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        int seen = 0;
        for (const char *view : {"layers", "error", "blocks", "latency", "calibration", "tune", "messages"}) {
            window.showView(QString::fromLatin1(view));
            QVERIFY(test::settle(window));
            for (const QLabel *label : window.findChildren<QLabel *>()) {
                if (!label->isVisible() || !label->isEnabled() || label->text().isEmpty())
                    continue;
                const QWidget *behind = label;
                while (!behind->autoFillBackground() && !behind->isWindow())
                    behind = behind->parentWidget();
                ++seen;
                check(label->palette().color(label->foregroundRole()),
                      behind->palette().color(behind->backgroundRole()), "\"" + label->text() + '"');
            }
        }
        QVERIFY(seen > 20);
    }
};

HALFTONE_WINDOW_TEST(TestContrast)
#include "tst_contrast.moc"
