#include "app/application.h"
#include "app/bundled_font.h"
#include "app/focus_mark.h"
#include "app/main_window.h"
#include "app/screenshot.h"
#include "app/settings.h"
#include "app/window_style.h"
#include "core/api/halftone/version.h"
#include "core/base/mapped_file.h"
#include "core/base/memory.h"
#include "core/io/formats.h"
#include "widgets/common/path_text.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QIcon>
#include <QScreen>
#include <QSettings>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr int kBadCall = 2;

int refuse(const QString &text)
{
    std::fprintf(stderr, "error: %s\n", qPrintable(text));
    return kBadCall;
}

/// "1600x1000"; an empty size for anything else.
QSize sizeOf(const QString &text)
{
    const QStringList parts = text.split('x');
    const QSize size(parts.value(0).toInt(), parts.value(1).toInt());
    const bool fits = parts.size() == 2 && size.width() >= 200 && size.height() >= 200
        && size.width() <= 10000 && size.height() <= 10000;
    return fits ? size : QSize();
}

/// What is asked for works without a display.
bool needsNoDisplay(int count, char **arguments)
{
    return std::any_of(arguments + std::min(count, 1), arguments + count, [](const char *text) {
        const QByteArray argument(text);
        return argument.startsWith("--screenshot") || argument.startsWith("--help") || argument == "-h"
            || argument == "--version" || argument == "-v";
    });
}

/// Paths among them need be no text, which Qt would make of them.
QStringList argumentsOf(int count, char **arguments)
{
    QStringList all;
    for (int k = 0; k < count; ++k)
        all << halftone::widgets::pathText(arguments[k]);
    return all;
}

/// Qt takes "--session FILE" for the name of a desktop's session and drops both; joined by "=" they reach the parser.
void joinSession(int &count, char **arguments, std::string &joined)
{
    for (int k = 1; k + 1 < count; ++k) {
        if (std::string_view(arguments[k]) != "--session")
            continue;
        joined = std::string("--session=") + arguments[k + 1];
        arguments[k] = joined.data();
        std::move(arguments + k + 2, arguments + count + 1, arguments + k + 1); // and the null behind them
        --count;
        return;
    }
}

} // namespace

int main(int argc, char **argv)
{
    using namespace halftone::app;
    halftone::reserveMemory();
    halftone::MappedFile::surviveCuts();
    halftone::MappedFile::keepContents();
    std::signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is an error as a full disk is
    if (needsNoDisplay(argc, argv) && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
    QApplication::setStyle(new WindowStyle);
    std::string sessionArgument;
    joinSession(argc, argv, sessionArgument);
    Application application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("halftone"));
    QApplication::setOrganizationName(QStringLiteral("halftone"));
    QApplication::setApplicationVersion(QStringLiteral(HALFTONE_VERSION));
    QApplication::setApplicationDisplayName(QStringLiteral("Halftone"));
    QApplication::setDesktopFileName(QStringLiteral("halftone")); // resources/desktop
    QApplication::setWindowIcon(QIcon::fromTheme(
        QStringLiteral("halftone"), QIcon(resourcePath(QStringLiteral("desktop/halftone.png")))));

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QObject::tr("View and edit the mixed-precision conversion of a neural network."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("MODEL"),
                                 QObject::tr("%1 or a .halftone session")
                                     .arg(QString::fromStdString(halftone::io::modelPlaceholders())),
                                 QStringLiteral("[MODEL]"));
    const QCommandLineOption policy(QStringLiteral("policy"), QObject::tr("Apply a policy file"),
                                    QStringLiteral("FILE"));
    const QCommandLineOption session(QStringLiteral("session"), QObject::tr("Open a session"),
                                     QStringLiteral("FILE"));
    const QCommandLineOption params(QStringLiteral("params"),
                                    QString::fromStdString(halftone::io::parameterFileHelp()),
                                    QStringLiteral("FILE"));
    const QCommandLineOption inputs(QStringLiteral("inputs"),
                                    QObject::tr("Input data: an .npz file or a folder of pictures"),
                                    QStringLiteral("DATA"));
    const QCommandLineOption labels(QStringLiteral("labels"), QObject::tr("Labels of the data"),
                                    QStringLiteral("FILE"));
    const QCommandLineOption sample(QStringLiteral("sample"), QObject::tr("Open the bundled sample"));
    const QCommandLineOption screenshot(QStringLiteral("screenshot"),
                                        QObject::tr("Draw the window into a PNG file and exit"),
                                        QStringLiteral("OUT"));
    const QCommandLineOption view(
        QStringLiteral("view"),
        QObject::tr("View to show: graph, lists, layers, calibration or latency (default: graph)"),
        QStringLiteral("VIEW"), QStringLiteral("graph"));
    const QCommandLineOption size(QStringLiteral("size"), QObject::tr("Size of the window in pixels"),
                                  QStringLiteral("WxH"));
    const QCommandLineOption theme(QStringLiteral("theme"),
                                   QObject::tr("Colour theme: light or dark (default: the desktop's)"),
                                   QStringLiteral("THEME"));
    parser.addOptions({policy, session, params, inputs, labels, sample, screenshot, view, size, theme});
    parser.process(argumentsOf(argc, argv));

    const QStringList files = parser.positionalArguments();
    if (files.size() > 1)
        return refuse(QObject::tr("%1 files given; open one at a time").arg(files.size()));
    const QString wanted = parser.value(theme);
    if (!wanted.isEmpty() && wanted != u"light" && wanted != u"dark")
        return refuse(QObject::tr("--theme: %1, expected light or dark").arg(wanted));
    if (parser.isSet(size) && sizeOf(parser.value(size)).isEmpty())
        return refuse(
            QObject::tr("--size: %1, expected WIDTHxHEIGHT, such as 1600x1000").arg(parser.value(size)));
    const bool isPicture = parser.isSet(screenshot);
    applyTheme(wanted == u"dark"                     ? Theme::Dark
                   : wanted == u"light" || isPicture ? Theme::Light
                                                     : loadPreferences().theme);

    addFontWhereNoneIs();
    const FocusMark focusMark;
    MainWindow window(nullptr, isPicture ? MainWindow::For::Picture : MainWindow::For::Person);
    QObject::connect(&application, &Application::failed, &window, &MainWindow::showError);
    if (parser.isSet(size))
        window.resize(sizeOf(parser.value(size)));
    const bool isFirst
        = !isPicture && !parser.isSet(size) && !QSettings().contains(QStringLiteral("geometry"));
    if (isFirst) // all of the screen that the desktop leaves to windows
        window.resize(window.screen()->availableGeometry().size());
    const QString file = parser.isSet(session) ? parser.value(session) : files.value(0);
    const std::vector<Sample> bundled = samples();
    const auto isFile
        = [&file](const Sample &one) { return !file.isEmpty() && QFileInfo(file) == QFileInfo(one.model); };
    const auto named = std::ranges::find_if(bundled, isFile);
    if (parser.isSet(sample))
        window.openSample();
    else if (named != bundled.end())
        window.openSample(*named);
    else if (!file.isEmpty())
        window.open(file, parser.value(params));
    if (parser.isSet(policy))
        window.applyPolicyWhenOpen(parser.value(policy));
    if (parser.isSet(inputs)) {
        halftone::walks::ExampleOptions data;
        data.inputs = halftone::widgets::pathBytes(parser.value(inputs));
        data.labels = halftone::widgets::pathBytes(parser.value(labels));
        window.attachWhenOpen(data);
    }
    if (isPicture)
        return takeScreenshot(window, parser.value(screenshot), parser.value(view));
    isFirst ? window.showMaximized() : window.show();
    return QApplication::exec();
}
