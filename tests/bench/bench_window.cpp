// What a person waits for in the window: bench_window [--picture | --pan | --errors] [MODEL DATA EXAMPLES]..., a part of it or all;
// with --memory in front: what 50 of them leave behind,
// with --models SECONDS MODEL...: what opening, attaching drawn inputs to, editing and closing each of them leaves behind, where nothing is
// waited for longer than that; with --peak and one model: the most memory that the window takes with it; with --open MODEL: opening it alone.
// Prints a row a figure: what, median, 95th percentile, 99th, and the limit. Off screen unless QT_QPA_PLATFORM says otherwise.
#include "app/drawn_inputs.h"
#include "app/live_jobs.h"
#include "tests/widgets/graphview/graph_fixture.h"
#include "tests/window/window_fixture.h"
#include "widgets/graphview/canvas.h"

#include <unistd.h>

#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QSettings>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

using namespace halftone;
using app::MainWindow;

namespace {

constexpr int kOpeningMs = 60000; ///< that any model's picture may take

double quantile(std::vector<double> values, double q)
{
    std::ranges::sort(values);
    return values.empty()
        ? 0
        : values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

void print(const QString &what, const std::vector<double> &values, const char *unit, const char *limit)
{
    std::printf("%-58s %9.2f %9.2f %9.2f %-3s %s\n", qPrintable(what), quantile(values, 0.5),
                quantile(values, 0.95), quantile(values, 0.99), unit, limit);
    std::fflush(stdout);
}

double residentMb()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return file.readAll().split(' ').value(1).toDouble() * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

/// A number of kB that the system tells of this process.
double statusMb(const QString &key)
{
    QFile status(QStringLiteral("/proc/self/status"));
    if (!status.open(QIODevice::ReadOnly))
        qFatal("no /proc");
    const QString text = QString::fromLatin1(status.readAll());
    return text.section(key + ':', 1).simplified().section(' ', 0, 0).toDouble() / 1024;
}

QString written(const QTemporaryDir &folder, const char *name, const QByteArray &symbol)
{
    QFile file(folder.filePath(QLatin1String(name)));
    if (!file.open(QIODevice::WriteOnly) || file.write(symbol) != symbol.size())
        qFatal("cannot write %s", name);
    return file.fileName();
}

/// Opens a model in a window that is there, until its graph is drawn.
void firstPicture()
{
    const QTemporaryDir folder;
    const QString path = written(folder, "long-symbol.json", test::residualSymbol(1058));
    MainWindow window;
    window.resize(1600, 1000);
    window.show();
    std::vector<double> seconds;
    for (int k = 0; k < 20; ++k) {
        window.files().close();
        QElapsedTimer timer;
        timer.start();
        window.files().open(path);
        if (!QTest::qWaitFor([&] { return window.graphView().scene() && !window.graphView().isBusy(); },
                             kOpeningMs))
            qFatal("no picture");
        window.grab();
        seconds.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e9);
    }
    print(QStringLiteral("first picture of 5,290 operators"), seconds, "s", "0.66 measured before");
}

void panAndZoom()
{
    test::OpenedGraph opened;
    opened.openWide(60, 84);
    opened.view->unfoldAll();
    opened.settle();
    auto &canvas = *opened.view->canvas();
    if (!QTest::qWaitFor([&] { return !canvas.isFading(); })) // what was there before, over each frame
        qFatal("the folded graph stays in sight");
    QImage image(canvas.size(), QImage::Format_RGB32);
    const QSizeF size = opened.view->scene()->size();
    const auto frame = [&](const widgets::Camera &camera) {
        QElapsedTimer timer;
        timer.start();
        canvas.setCamera(camera);
        QPainter painter(&image);
        canvas.render(&painter, {}, {}, QWidget::DrawWindowBackground);
        painter.end();
        return static_cast<double>(timer.nsecsElapsed()) / 1e6;
    };
    widgets::Camera camera;
    std::vector<double> pans;
    for (const double scale : {0.01, 0.05, 0.15, 0.3, 0.5, 1.0}) {
        camera.scale = scale;
        camera.centreOn({size.width() / 2, size.height() / 2}, canvas.size());
        frame(camera);
        for (int k = 0; k < 200; ++k) {
            camera.origin += QPointF(7, 11) / scale;
            pans.push_back(frame(camera));
        }
    }
    print(QStringLiteral("pan, a frame, 5,000 boxes"), pans, "ms", "16.7 at p99");
    camera.scale = 0.01;
    camera.centreOn({size.width() / 2, size.height() / 2}, canvas.size());
    std::vector<double> zooms;
    for (int k = 0; k < 300; ++k) {
        camera.zoomAt({800, 500}, k % 150 < 75 ? camera.scale * 1.06 : camera.scale / 1.06);
        zooms.push_back(frame(camera));
    }
    print(QStringLiteral("zoom, a frame, 5,000 boxes"), zooms, "ms", "16.7 at p99");
}

struct Examples
{
    QString model;
    QString data;
    std::size_t count = 0;
};

bool attach(MainWindow &window, const QString &model, const QString &data, std::size_t examples)
{
    window.files().open(model);
    if (!test::settle(window))
        return false;
    walks::ExampleOptions options;
    options.inputs = data.toStdString();
    options.examples = examples;
    window.jobs().setData(options);
    QTest::qWait(10);
    return QTest::qWaitFor(
        [&] { return window.controller().figures().comparison && window.controller().figures().calibration; },
        600000);
}

/// Seconds from an edit until the first errors are there, and until those of all examples are.
void errorsAfterEdits(const Examples &of)
{
    MainWindow window;
    window.show();
    if (!attach(window, of.model, of.data, of.count))
        qFatal("no figures of %s", qPrintable(of.model));
    widgets::DocumentController &controller = window.controller();
    std::vector<double> first;
    std::vector<double> whole;
    for (int k = 0; k < 20; ++k) {
        QElapsedTimer timer;
        timer.start();
        controller.apply(
            policy::MoveOperators{{"Convolution"}, k % 2 == 0 ? policy::List::Fp32 : policy::List::Target});
        const auto isThere = [&](bool isWhole) {
            const session::Figures &figures = controller.figures();
            return !controller.isDeriving() && figures.comparisonRevision == controller.snapshot()->revision
                && (!isWhole || figures.comparison->examples == figures.comparison->expected);
        };
        if (!QTest::qWaitFor([&] { return isThere(false); }, 120000))
            qFatal("no errors");
        first.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e9);
        if (!QTest::qWaitFor([&] { return isThere(true); }, 120000))
            qFatal("not all errors");
        whole.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e9);
    }
    const QString name = QFileInfo(of.model).completeBaseName();
    const char *const mostFirst = name.startsWith(QStringLiteral("mnet")) ? "2" : "1";
    print(QStringLiteral("first errors after an edit, %1 x %2").arg(name).arg(of.count), first, "s",
          mostFirst);
    print(QStringLiteral("all errors after an edit, %1 x %2").arg(name).arg(of.count), whole, "s", "5");
}

void memoryAfterModels(const std::vector<Examples> &models)
{
    MainWindow window;
    window.show();
    const auto open = [&](std::size_t k) {
        const Examples &one = models[k % models.size()];
        if (!attach(window, one.model, one.data, 8) || !test::settle(window, 3600000))
            qFatal("no figures of %s", qPrintable(one.model));
    };
    open(0);
    QTest::qWait(500);
    const double before = residentMb();
    for (std::size_t k = 1; k < 50; ++k)
        open(k);
    open(0);
    QTest::qWait(1000);
    print(QStringLiteral("memory more than at the start, after 50 models"), {residentMb() - before}, "MB",
          "200");
}

/// One session over many models, as a person looks through a folder: opened, data attached, an edit, closed.
void memoryAfterSession(int seconds, const std::vector<QString> &models)
{
    MainWindow window;
    window.resize(1600, 1000);
    window.show();
    QTest::qWait(500);
    const double before = residentMb();
    std::size_t withErrors = 0;
    double most = before;
    for (const QString &model : models) {
        window.files().open(model);
        if (!QTest::qWaitFor([&] { return !window.files().isOpening(); }, 60000)
            || !window.controller().isOpen())
            qFatal("%s does not open", qPrintable(model));
        const int milliseconds = 1000 * seconds;
        const auto hasErrors = [&] { return window.controller().figures().comparison != nullptr; };
        if (!QTest::qWaitFor([&] { return window.graphView().scene() && !window.graphView().isBusy(); },
                             kOpeningMs))
            qFatal("no picture of %s", qPrintable(model));
        if (const auto drawn = app::drawInputsFor(*window.controller().snapshot()->source); drawn.ok()) {
            walks::ExampleOptions options;
            options.inputs = drawn.value().toStdString();
            window.jobs().setData(options);
            withErrors += QTest::qWaitFor(hasErrors, milliseconds) ? 1U : 0U;
            window.controller().apply(policy::SetTarget{tensor::DType::BF16});
            QTest::qWait(100);
            test::settle(window, milliseconds);
        }
        most = std::max(most, residentMb());
        window.files().close();
        QTest::qWait(50);
        std::fprintf(stderr, "%8.1f MB after %s (%.1f own, %.1f files)\n", residentMb(),
                     qPrintable(QFileInfo(model).fileName()), statusMb(QStringLiteral("RssAnon")),
                     statusMb(QStringLiteral("RssFile")));
    }
    test::settle(window, 60000);
    QTest::qWait(1000);
    std::printf(
        "%zu models, %zu of them with errors; %.0f MB resident at the start, %.0f at most, %.0f at the end\n",
        models.size(), withErrors, before, most, residentMb());
    print(QStringLiteral("memory more than at the start, after %1 other models").arg(models.size()),
          {residentMb() - before}, "MB", "200");
}

/// Opens a model until its graph is drawn. Told is what memory is the window's own: pages of mapped files are the system's.
void openAlone(const QString &model)
{
    MainWindow window;
    window.resize(1600, 1000);
    window.show();
    const double before = statusMb(QStringLiteral("RssAnon"));
    double most = before;
    QElapsedTimer timer;
    timer.start();
    window.files().open(model);
    const bool isDrawn = QTest::qWaitFor(
        [&] {
            most = std::max(most, statusMb(QStringLiteral("RssAnon")));
            return window.graphView().scene() && !window.graphView().isBusy();
        },
        60000);
    window.grab();
    if (!isDrawn)
        qFatal("no picture of %s", qPrintable(model));
    const QString name = QFileInfo(model).completeBaseName();
    print(QStringLiteral("first picture of %1").arg(name), {static_cast<double>(timer.nsecsElapsed()) / 1e9},
          "s", "2");
    print(QStringLiteral("own memory while it opens"), {most - before}, "MiB", "300");
    if (!test::settle(window, 60000))
        qFatal("work without end on %s", qPrintable(model));
    print(QStringLiteral("own memory when all is done"), {statusMb(QStringLiteral("RssAnon")) - before},
          "MiB", "300");
}

/// The most memory that a window takes with a model whose errors and ranges are computed, on the one line that it prints.
/// limit: of the preferences, bytes; 0: theirs
void peakMemory(const QString &model, const QString &data, std::size_t examples, std::size_t limit)
{
    const std::size_t budget = limit != 0 ? limit : walks::CalibrateOptions().memoryLimit;
    QSettings().setValue(QStringLiteral("memoryLimit"), qulonglong{budget});
    MainWindow window;
    window.show();
    QElapsedTimer timer;
    timer.start();
    // A large model may take long: where the time and the memory go, on standard error.
    QString before;
    QObject::connect(
        &window.jobs(), &app::LiveJobs::progressed, &window, [&](double, const QString &what, double) {
            if (std::exchange(before, what) != what)
                std::fprintf(stderr, "%7.1f s %6.0f MiB, at most %6.0f: %s\n",
                             static_cast<double>(timer.elapsed()) / 1e3, statusMb(QStringLiteral("VmRSS")),
                             statusMb(QStringLiteral("VmHWM")), qPrintable(what));
        });
    if (!attach(window, model, data, examples) || !test::settle(window, 3600000))
        qFatal("no figures of %s", qPrintable(model));
    const auto &source = *window.controller().snapshot()->source;
    double parameters = 0;
    for (const tensor::Array &array : source.model.parameters)
        parameters += static_cast<double>(array.values.bytes().size());
    const double peak = statusMb(QStringLiteral("VmHWM"));
    const QByteArray most
        = QByteArray::number((2 * parameters + static_cast<double>(budget)) / 1048576, 'f', 0);
    print(QStringLiteral("peak memory with %1").arg(QFileInfo(model).completeBaseName()), {peak}, "MiB",
          most.constData());
}

} // namespace

int main(int argc, char **argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const test::PrivateHome home;
    QApplication application(argc, argv);
    if (argc > 4 && std::string_view(argv[1]) == "--peak") {
        peakMemory(QString::fromLocal8Bit(argv[2]), QString::fromLocal8Bit(argv[3]),
                   static_cast<std::size_t>(std::atoi(argv[4])),
                   argc > 5 ? static_cast<std::size_t>(std::atoi(argv[5])) << 20 : 0);
        return 0;
    }
    if (argc > 3 && std::string_view(argv[1]) == "--models") {
        std::vector<QString> models;
        for (int k = 3; k < argc; ++k)
            models.push_back(QString::fromLocal8Bit(argv[k]));
        memoryAfterSession(std::atoi(argv[2]), models);
        return 0;
    }
    if (argc > 2 && std::string_view(argv[1]) == "--open") {
        openAlone(QString::fromLocal8Bit(argv[2]));
        return 0;
    }
    const std::string_view part = argc > 1 && argv[1][0] == '-' ? argv[1] : "";
    std::vector<Examples> models{{test::kSampleModel, test::kSampleData, 64}};
    for (int k = part.empty() ? 1 : 2; k + 2 < argc; k += 3)
        models.push_back({QString::fromLocal8Bit(argv[k]), QString::fromLocal8Bit(argv[k + 1]),
                          static_cast<std::size_t>(std::atoi(argv[k + 2]))});
    if (part == "--memory") {
        memoryAfterModels(models);
        return 0;
    }
    std::printf("%-58s %9s %9s %9s     %s\n", "", "median", "p95", "p99", "limit");
    if (part.empty() || part == "--picture")
        firstPicture();
    if (part.empty() || part == "--pan")
        panAndZoom();
    if (part.empty() || part == "--errors")
        for (std::size_t k = part.empty() || models.size() == 1 ? 0 : 1; k < models.size(); ++k)
            errorsAfterEdits(models[k]);
    return 0;
}
