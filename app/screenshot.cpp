#include "app/screenshot.h"

#include "app/main_window.h"
#include "widgets/plots/plot_panel.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QPixmap>
#include <QSaveFile>
#include <QTimer>

#include <cstdio>

namespace halftone::app {
namespace {

constexpr int kCalmMs = 200; ///< so long nothing may begin anew
constexpr int kStepMs = 20;

int fail(const QString &text, int code)
{
    std::fprintf(stderr, "error: %s\n", qPrintable(text));
    return code;
}

QtMessageHandler defaultHandler = nullptr;

/// Leaves out what the offscreen platform says of every window: what it cannot do does not show in a picture.
void leaveOutPlatformWarnings(QtMsgType type, const QMessageLogContext &context, const QString &text)
{
    if (!text.startsWith(u"This plugin does not support"))
        defaultHandler(type, context, text);
}

void waitUntilSettled(const MainWindow &window)
{
    QElapsedTimer calm;
    calm.start();
    while (calm.elapsed() < kCalmMs) {
        QEventLoop loop;
        QTimer::singleShot(kStepMs, &loop, &QEventLoop::quit);
        loop.exec();
        if (!window.isSettled())
            calm.restart();
    }
}

} // namespace

int takeScreenshot(MainWindow &window, const QString &path, const QString &view)
{
    defaultHandler = qInstallMessageHandler(leaveOutPlatformWarnings);
    if (!window.showView(view))
        return fail(
            QObject::tr("--view: %1, expected graph, lists, layers, calibration or latency").arg(view), 2);
    if (view == u"latency")
        window.jobs().setLatencyWanted(true);
    window.show();
    waitUntilSettled(window);
    if (!window.failure().isEmpty())
        return fail(window.failure(), 1);
    window.showView(view);
    if (view == u"calibration")
        window.selectSomething();
    QApplication::processEvents();
    waitUntilSettled(window);
    for (auto *const plot : window.findChildren<widgets::PlotPanel *>())
        plot->catchUp();
    QApplication::processEvents();
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || !window.grab().save(&file, "PNG") || !file.commit())
        return fail(QObject::tr("%1: %2").arg(path, file.errorString()), 1);
    return 0;
}

} // namespace halftone::app
