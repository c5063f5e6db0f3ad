#include "app/dialogs/attach_dialog.h"
#include "app/dialogs/export_dialog.h"
#include "app/dialogs/preferences_dialog.h"
#include "tests/window/window_fixture.h"
#include "widgets/plots/calibration_plot.h"
#include "widgets/plots/custom_plot.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QProcess>
#include <QTableView>
#include <QToolBar>

#include <cstdio>

using namespace halftone;
using app::MainWindow;

namespace {

const QString kLook = QStringLiteral("--look");
constexpr int kLeastDrawing = 7; ///< lines of text
constexpr QSize kLeast(900, 520); ///< in logical pixels: the window becomes this small, whatever it shows

QString nameOf(const QWidget &widget)
{
    QString text = widget.accessibleName();
    if (const auto *button = qobject_cast<const QAbstractButton *>(&widget))
        text += ' ' + button->text();
    if (const auto *label = qobject_cast<const QLabel *>(&widget))
        text += ' ' + label->text().left(40);
    return QString::fromLatin1(widget.metaObject()->className()) + ' ' + widget.objectName() + " \"" + text
        + '"';
}

bool isCut(const QWidget &widget)
{
    if (const auto *label = qobject_cast<const QLabel *>(&widget)) {
        if (label->text().isEmpty())
            return false;
        if (label->wordWrap())
            return label->heightForWidth(label->width()) > label->height();
        return label->minimumSizeHint().width() > label->width()
            || label->minimumSizeHint().height() > label->height();
    }
    const int wanted
        = widget.hasHeightForWidth() ? widget.heightForWidth(widget.width()) : widget.sizeHint().height();
    if (const auto *button
        = qobject_cast<const QAbstractButton *>(&widget)) // one without a text scales its icon
        return !button->text().isEmpty()
            && (wanted > button->height()
                || (!widget.hasHeightForWidth() && button->sizeHint().width() > button->width()));
    if (const auto *box = qobject_cast<const QComboBox *>(&widget))
        return box->minimumSizeHint().width() > box->width() || box->sizeHint().height() > box->height();
    if (qobject_cast<const QLineEdit *>(&widget) && !widget.focusProxy()) // that of a spin box has no frame
        return widget.sizeHint().height() > widget.height();
    return false;
}

/// Do two widgets that a layout has put beside each other lie over each other?
void tellOverlaps(const QWidget &parent, QStringList &flaws)
{
    if (!parent.layout() || qobject_cast<const QMainWindow *>(&parent))
        return;
    QList<const QWidget *> placed;
    const auto children = parent.findChildren<QWidget *>(Qt::FindDirectChildrenOnly);
    for (const QWidget *child : children)
        if (child->isVisible() && !child->isWindow() && parent.layout()->indexOf(child) >= 0)
            placed << child;
    for (qsizetype a = 0; a < placed.size(); ++a)
        for (qsizetype b = a + 1; b < placed.size(); ++b)
            if (placed[a]->geometry().intersects(placed[b]->geometry()))
                flaws << "over each other: " + nameOf(*placed[a]) + " and " + nameOf(*placed[b]);
}

QStringList flawsOf(const QWidget &window)
{
    QStringList flaws;
    QList<QWidget *> widgets = window.findChildren<QWidget *>();
    widgets.prepend(const_cast<QWidget *>(&window));
    for (const QWidget *widget : widgets) {
        if (!widget->isVisible())
            continue;
        if (isCut(*widget))
            flaws << QStringLiteral("cut: %1 is %2x%3 and wants %4x%5")
                         .arg(nameOf(*widget))
                         .arg(widget->width())
                         .arg(widget->height())
                         .arg(widget->sizeHint().width())
                         .arg(widget->sizeHint().height());
        tellOverlaps(*widget, flaws);
    }
    return flaws;
}

/// What the child does: shows every screen, says what is wrong with it on a line each, and how many controls it looked at.
int look(const QSize &size, const QString &folder)
{
    QStringList flaws;
    qsizetype seen = 0;
    const auto judge = [&](const QWidget &window, const QString &screen) {
        QTest::qWait(50);
        seen += window.findChildren<QWidget *>().size();
        for (const QString &flaw : flawsOf(window))
            flaws << screen + ": " + flaw;
        if (!folder.isEmpty())
            const_cast<QWidget &>(window).grab().save(folder + '/' + screen + ".png");
    };
    MainWindow window;
    window.resize(size);
    window.show();
    judge(window, QStringLiteral("start"));
    const auto judgeSize = [&](const QString &when) {
        const QSize least = window.minimumSizeHint();
        if (window.size() != size || least.width() > kLeast.width() || least.height() > kLeast.height())
            flaws << when
                    + QStringLiteral(": %1x%2, asked for %3x%4; at least %5x%6")
                          .arg(window.width())
                          .arg(window.height())
                          .arg(size.width())
                          .arg(size.height())
                          .arg(least.width())
                          .arg(least.height());
    };
    judgeSize("start");
    window.openSample(test::mxnetSample());
    if (!test::settle(window))
        return 1;
    QTest::qWait(200); // the docks have their first widths
    if (const int graph = window.graphView().width(); 2 * graph < window.width())
        flaws << QStringLiteral("the graph has %1 of %2 pixels").arg(graph).arg(window.width());
    window.selectSomething();
    for (const char *view : {"layers", "error", "blocks", "latency", "calibration", "tune", "messages"}) {
        window.showView(QString::fromLatin1(view));
        test::settle(window);
        judge(window, QString::fromLatin1(view));
        judgeSize(QString::fromLatin1(view));
    }
    window.showView(QStringLiteral("calibration"));
    QTest::qWait(100);
    const QWidget *const drawings = window.findChild<widgets::CalibrationPlot *>()->plot();
    const int least = size == kLeast ? kLeastDrawing / 2 : kLeastDrawing;
    if (drawings->height() < least * window.fontMetrics().lineSpacing())
        flaws << QStringLiteral("the drawings of Calibration are %1 high").arg(drawings->height());
    window.graphView().showFind();
    judge(window, QStringLiteral("find"));
    app::AttachDialog attach(window.jobs().data(), 64, &window);
    app::ExportDialog exporting(folder + "/out", window.controller().snapshot()->source, &window);
    app::PreferencesDialog preferences({}, &window);
    const std::pair<QWidget *, QString> dialogs[] = {{&attach, QStringLiteral("attach")},
                                                     {&exporting, QStringLiteral("export")},
                                                     {&preferences, QStringLiteral("preferences")}};
    for (const auto &[dialog, name] : dialogs) {
        dialog->show();
        judge(*dialog, name);
        dialog->hide();
    }
    std::printf("%d controls\n", static_cast<int>(seen));
    for (const QString &flaw : flaws)
        std::printf("%s\n", qPrintable(flaw));
    return 0;
}

} // namespace

/// The window at 100, 150 and 200 %, each in a program of its own, since Qt reads the factor once. HALFTONE_LOOK_AT=FOLDER
/// keeps the pictures.
class TestScaling : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsCutAndNothingOverlaps_data()
    {
        QTest::addColumn<QString>("factor");
        QTest::addColumn<QString>("size"); ///< before scaling
        QTest::newRow("100 %") << "1"
                               << "1400x900";
        QTest::newRow("100 %, small") << "1"
                                      << "1000x700";
        QTest::newRow("100 %, least") << "1"
                                      << "900x520";
        QTest::newRow("150 %") << "1.5"
                               << "1280x800";
        QTest::newRow("200 %") << "2"
                               << "960x540"; // 1920x1080 on the screen
    }
    void nothingIsCutAndNothingOverlaps()
    {
        QFETCH(QString, factor);
        QFETCH(QString, size);
        QString folder = qEnvironmentVariable("HALFTONE_LOOK_AT");
        if (!folder.isEmpty()) {
            folder += '/' + factor + '-' + size;
            QVERIFY(QDir().mkpath(folder));
        }
        QProcess child;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_SCALE_FACTOR"), factor);
        child.setProcessEnvironment(environment);
        child.start(QCoreApplication::applicationFilePath(), {kLook, size, folder});
        QVERIFY(child.waitForFinished(120'000));
        QVERIFY2(child.exitCode() == 0, child.readAllStandardError().constData());
        QList<QByteArray> lines = child.readAllStandardOutput().trimmed().split('\n');
        const QByteArray first = lines.takeFirst();
        QVERIFY2(first.split(' ').first().toInt() > 200, first.constData());
        QVERIFY2(lines.isEmpty(), lines.join('\n').constData());
    }
};

int main(int argc, char **argv)
{
    if (argc > 3 && QString::fromLocal8Bit(argv[1]) == kLook) { // in its parent's home
        QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
        QApplication::setStyle(QStringLiteral("fusion"));
        QApplication application(argc, argv);
        const QStringList sides = QString::fromLocal8Bit(argv[2]).split('x');
        return look({sides.value(0).toInt(), sides.value(1).toInt()}, QString::fromLocal8Bit(argv[3]));
    }
    const test::PrivateHome home;
    QApplication application(argc, argv);
    TestScaling test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_scaling.moc"
