#include "app/hosts/hosts_dialog.h"
#include "app/hosts/run_on_hosts.h"
#include "app/live_jobs.h"
#include "core/io/arrays/npz.h"
#include "core/latency/plan_maker.h"
#include "tests/window/window_fixture.h"
#include "widgets/models/tune_state.h"

#include <QAction>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <algorithm>
#include <bit>
#include <memory>

using namespace halftone;
using app::HostRun;
using app::HostTask;

namespace {

const QString kProgram = QStringLiteral(HALFTONE_MPI_PROGRAM); // empty: not built

/// Why ranks cannot be started here; empty: they can.
QString whyNoRanks()
{
    if (kProgram.isEmpty())
        return QStringLiteral("halftone-mpi was not built");
    if (QStandardPaths::findExecutable(QStringLiteral("mpirun")).isEmpty())
        return QStringLiteral("mpirun is not installed");
    return {};
}

app::HostPlace placeOf(const char *hosts = "localhost slots=2")
{
    app::HostPlace place;
    place.hosts = app::readHosts(hosts).value();
    place.program = kProgram.toStdString();
    return place;
}

/// To the last bit.
std::string bitsOf(const std::optional<tensor::ErrorFigures> &figures)
{
    if (!figures)
        return {};
    std::string text;
    for (const double value :
         {static_cast<double>(figures->count), static_cast<double>(figures->nan),
          static_cast<double>(figures->overflow), figures->maxAbs, figures->meanAbs, figures->rmse,
          figures->relativeL2.value_or(-1), figures->cosine, figures->sqnrDb, figures->maxRelative})
        text += std::to_string(std::bit_cast<std::uint64_t>(value)) + ' ';
    return text;
}

} // namespace

/// Run on Hosts: with ranks on this machine, in the whole window over the sample.
class TestHosts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_window.reset(); }

    void withoutOpenMpiTheActionSaysSo();
    void aRunIsKnownByAllThatDecidesItsResult();

    void aComparisonIsTheWindowsOwn();
    void aCalibrationIsTheWindowsOwn();
    void fewExamplesAreFewShards();
    void aSearchArrivesMeasured();
    void whatWasStoppedGoesOn();
    void aResultOfOtherListsWaits();
    void failuresAreTold_data();
    void failuresAreTold();
    void theDialogRunsAndTakes();

private:
    widgets::DocumentController &controller() { return m_window->controller(); }
    app::RunOnHosts &hosts() { return m_window->hosts(); }
    /// The window has so many of the sample's examples, which begin again after the last one, and looks at 16 of them.
    void useExamples(std::int64_t count);
    /// What was said at the end: a failure, or what was taken.
    QString finish(const HostRun &run, const app::HostPlace &place);

    QTemporaryDir m_folder;
    std::unique_ptr<app::MainWindow> m_window;
};

void TestHosts::init()
{
    QDir(app::RunOnHosts::usualFolder()).removeRecursively();
    m_window = std::make_unique<app::MainWindow>();
    m_window->open(test::kSampleModel);
    QVERIFY(test::settle(*m_window));
    controller().apply(policy::SetTarget{tensor::DType::BF16});
    walks::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    data.examples = 16;
    m_window->jobs().setData(data);
    QVERIFY(test::settleAfterEdit(*m_window));
}

void TestHosts::useExamples(std::int64_t count)
{
    auto arrays = io::readNpz(test::kSampleData.toStdString());
    QVERIFY(arrays.ok());
    for (io::NamedTensor &array : arrays.value()) {
        std::vector<std::int64_t> dims(array.tensor.shape().dims().begin(),
                                       array.tensor.shape().dims().end());
        const auto given = array.tensor.bytes();
        std::vector<std::byte> bytes(given.size() / static_cast<std::size_t>(dims[0])
                                     * static_cast<std::size_t>(count));
        for (std::size_t at = 0; at < bytes.size(); ++at)
            bytes[at] = given[at % given.size()];
        dims[0] = count;
        array.tensor = tensor::Tensor::owning(array.tensor.dtype(), tensor::Shape(dims), std::move(bytes));
    }
    walks::ExampleOptions data;
    data.inputs = m_folder.filePath(QStringLiteral("%1.npz").arg(count)).toStdString();
    data.examples = 16;
    QVERIFY(io::writeNpz(arrays.value(), data.inputs).ok());
    m_window->jobs().setData(data);
    QVERIFY(test::settleAfterEdit(*m_window));
}

QString TestHosts::finish(const HostRun &run, const app::HostPlace &place)
{
    QSignalSpy taken(&hosts(), &app::RunOnHosts::taken);
    QSignalSpy failed(&hosts(), &app::RunOnHosts::failed);
    const auto started = hosts().job().start(run, place);
    if (!started.ok())
        return QString::fromStdString(started.error().message());
    if (!QTest::qWaitFor([&] { return !taken.empty() || !failed.empty(); }, 120000))
        return QStringLiteral("nothing came of it: ") + hosts().job().output();
    return (taken.empty() ? failed : taken).first().first().toString();
}

void TestHosts::withoutOpenMpiTheActionSaysSo()
{
    QVERIFY(app::whyNoHosts(true).isEmpty());
    QVERIFY(app::whyNoHosts(false).contains(u"no Open MPI support"));
    const QAction *found = nullptr;
    for (const QAction *menu : m_window->menuBar()->actions()) {
        for (const QAction *action : menu->menu()->actions())
            found = action->text().contains(u"Run on &Hosts") ? action : found;
    }
    QVERIFY(found);
    QCOMPARE(found->isEnabled(), !kProgram.isEmpty());
    QVERIFY(found->isEnabled() || found->toolTip() == app::whyNoHosts(false));
}

void TestHosts::aRunIsKnownByAllThatDecidesItsResult()
{
    const auto folder = [this](HostTask task, std::size_t examples, bool alone) {
        return hosts().runFor(task, examples, alone).folder();
    };
    const std::string compared = folder(HostTask::Compare, 8, false);
    const std::string calibrated = folder(HostTask::Calibrate, 8, false);
    QCOMPARE(folder(HostTask::Compare, 8, false), compared);
    QVERIFY(folder(HostTask::Compare, 9, false) != compared);
    QVERIFY(folder(HostTask::Compare, 8, true) != compared);
    QVERIFY(controller().apply(
        policy::OverrideNodes{{controller().snapshot()->graph().node(3).name}, tensor::DType::F32}));
    QVERIFY(test::settleAfterEdit(*m_window));
    QVERIFY(folder(HostTask::Compare, 8, false) != compared);
    QCOMPARE(folder(HostTask::Calibrate, 8, false), calibrated);
    controller().undo();
    QVERIFY(test::settleAfterEdit(*m_window));
    QCOMPARE(folder(HostTask::Compare, 8, false), compared);
}

/// To the last bit: both compute each example alone.
void TestHosts::aComparisonIsTheWindowsOwn()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    const auto own = controller().figures().comparison;
    const std::size_t examples = m_window->jobs().data()->examples;
    const HostRun run = hosts().runFor(HostTask::Compare, examples, true);
    QCOMPARE(finish(run, placeOf()),
             QStringLiteral("Compared on hosts with %1 examples.").arg(own->examples));
    QCOMPARE(run.state(), HostRun::State::Finished);
    const session::Figures figures = controller().figures();
    QVERIFY(figures.comparison != own);
    QCOMPARE(figures.comparisonRevision, controller().snapshot()->revision);
    QCOMPARE(figures.isolatedRevision, controller().snapshot()->revision);
    QCOMPARE(figures.comparisonBasis, m_window->jobs().basis());
    QCOMPARE(figures.comparison->examples, own->examples);
    const auto &layers = figures.comparison->comparison.layers;
    QCOMPARE(layers.size(), own->comparison.layers.size());
    for (std::size_t k = 0; k < layers.size(); ++k) {
        QCOMPARE(layers[k].node, own->comparison.layers[k].node);
        QCOMPARE(bitsOf(layers[k].cumulative), bitsOf(own->comparison.layers[k].cumulative));
        QCOMPARE(bitsOf(layers[k].isolated), bitsOf(own->comparison.layers[k].isolated));
    }
    QVERIFY(figures.comparison->task == own->task);
    QVERIFY(test::settle(*m_window));
    QVERIFY(controller().figures().comparison == figures.comparison); // nothing computes it again
}

void TestHosts::aCalibrationIsTheWindowsOwn()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    const auto own = controller().figures().calibration;
    QVERIFY(own);
    const HostRun run = hosts().runFor(HostTask::Calibrate, m_window->jobs().data()->examples, false);
    QCOMPARE(finish(run, placeOf("localhost slots=3")),
             QStringLiteral("Calibrated on hosts with %1 examples.").arg(own->examples));
    const auto theirs = controller().figures().calibration;
    QVERIFY(theirs != own);
    QCOMPARE(theirs->tensors.size(), own->tensors.size());
    for (std::size_t k = 0; k < own->tensors.size(); ++k) {
        QCOMPARE(theirs->tensors[k].name, own->tensors[k].name);
        QCOMPARE(theirs->tensors[k].threshold.value, own->tensors[k].threshold.value);
        QVERIFY(theirs->tensors[k].statistics.histogram == own->tensors[k].statistics.histogram);
    }
    QVERIFY(test::settle(*m_window));
    QVERIFY(controller().figures().calibration == theirs);
}

/// Of all examples, which are fewer than the shards that ranks would take.
void TestHosts::fewExamplesAreFewShards()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    useExamples(3);
    QCOMPARE(finish(hosts().runFor(HostTask::Compare, 0, false), placeOf()),
             QStringLiteral("Compared on hosts with 3 examples."));
    QCOMPARE(finish(hosts().runFor(HostTask::Calibrate, 0, false), placeOf()),
             QStringLiteral("Calibrated on hosts with 3 examples."));
}

void TestHosts::aSearchArrivesMeasured()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    const auto maker = latency::PlanMaker::create(m_window->jobs().latencyOptions().backend, 0);
    QVERIFY(maker.ok());
    if (maker.value().backend().support(tensor::DType::BF16) != kernels::Support::Native)
        QSKIP("this machine has no backend with a native bfloat16, so that nothing can be timed");
    const QString said = finish(hosts().runFor(HostTask::Tune, 0, false), placeOf());
    QVERIFY2(said.startsWith(u"Search on hosts finished:"), qPrintable(said));
    QVERIFY(test::settle(*m_window));
    const tune::Front *const front = m_window->tune().front();
    QVERIFY(front);
    QVERIFY(!front->best().empty());
    const auto measured = std::ranges::count_if(
        front->points, [](const tune::Point &point) { return point.measured.has_value(); });
    QVERIFY2(said.contains(QStringLiteral(" %1 models").arg(measured)),
             qPrintable(said)); // none was measured here
}

void TestHosts::whatWasStoppedGoesOn()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    useExamples(2000); // shards that are not all done when the first one is told
    const HostRun run = hosts().runFor(HostTask::Compare, 0, true);
    QVERIFY(run.state() == HostRun::State::New);
    QVERIFY(hosts().job().start(run, placeOf()).ok());
    QSignalSpy stopped(&hosts().job(), &app::HostsJob::stopped);
    QVERIFY(QTest::qWaitFor([&] { return hosts().job().progress() && hosts().job().progress()->done > 0; },
                            60000));
    hosts().job().stop();
    QTRY_COMPARE_WITH_TIMEOUT(stopped.size(), 1, 10000);
    QVERIFY(run.state() == HostRun::State::Interrupted);
    const std::size_t done = run.shardsDone();
    QVERIFY(done > 0);
    QVERIFY(done < run.shards());
    const QString said = finish(run, placeOf("localhost slots=3")); // others may go on
    QVERIFY2(said.startsWith(u"Compared on hosts"), qPrintable(said));
    QVERIFY(hosts().job().progress());
    QCOMPARE(hosts().job().progress()->before, done);
}

/// An edit meanwhile keeps it from being taken, its undo lets it be.
void TestHosts::aResultOfOtherListsWaits()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    const HostRun run = hosts().runFor(HostTask::Compare, 8, false);
    QSignalSpy failed(&hosts(), &app::RunOnHosts::failed);
    QSignalSpy taken(&hosts(), &app::RunOnHosts::taken);
    QVERIFY(hosts().job().start(run, placeOf()).ok());
    QVERIFY(controller().apply(
        policy::OverrideNodes{{controller().snapshot()->graph().node(3).name}, tensor::DType::F32}));
    QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 60000);
    QVERIFY(failed.first().first().toString().contains(u"changed since"));
    controller().undo();
    QVERIFY(test::settleAfterEdit(*m_window));
    hosts().take(hosts().runFor(HostTask::Compare, 8, false));
    QTRY_COMPARE_WITH_TIMEOUT(taken.size(), 1, 10000);
    QCOMPARE(controller().figures().comparison->examples, std::size_t{8});
}

void TestHosts::failuresAreTold_data()
{
    QTest::addColumn<QString>("hosts");
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("mpirun");
    QTest::addColumn<QString>("expected");
    const QString here = QStringLiteral("localhost slots=2");
    QTest::newRow("a program that is not there") << here << QStringLiteral("/none/halftone-mpi") << QString()
                                                 << QStringLiteral("/none/halftone-mpi: no such file");
    QTest::newRow("a program without MPI") << here << QStringLiteral("/bin/true") << QString()
                                           << QStringLiteral("does not behave like halftone-mpi");
    QTest::newRow("no mpirun") << here << kProgram << QStringLiteral("/none/mpirun")
                               << QStringLiteral("/none/mpirun: ");
    QTest::newRow("a host that is not there")
        << QStringLiteral("no-such-host.invalid") << kProgram << QString() << QString();
}

void TestHosts::failuresAreTold()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    QFETCH(const QString, hosts);
    QFETCH(const QString, program);
    QFETCH(const QString, mpirun);
    QFETCH(const QString, expected);
    app::HostPlace place = placeOf(qPrintable(hosts));
    place.program = program.toStdString();
    place.mpirun = mpirun.toStdString();
    const QString said = finish(this->hosts().runFor(HostTask::Compare, 8, false), place);
    QVERIFY2(said.contains(expected), qPrintable(said));
    QVERIFY2(!said.startsWith(u"Compared") && said.size() > 10, qPrintable(said));
    QVERIFY(!this->hosts().job().isRunning());
    if (expected.isEmpty()) // in Open MPI's words
        QVERIFY2(!this->hosts().job().output().isEmpty(), qPrintable(said));
}

void TestHosts::theDialogRunsAndTakes()
{
    if (const QString why = whyNoRanks(); !why.isEmpty())
        QSKIP(qPrintable(why));
    app::HostsDialog dialog(&hosts(), &m_window->jobs(), m_window.get());
    dialog.open();
    const auto button = [&dialog](const char *text) {
        for (QPushButton *const one : dialog.findChildren<QPushButton *>()) {
            if (one->text() == QLatin1String(text))
                return one;
        }
        return static_cast<QPushButton *>(nullptr);
    };
    const auto *const state = dialog.findChild<QLabel *>(QStringLiteral("hosts-state"));
    QPlainTextEdit *list = nullptr;
    for (QPlainTextEdit *const one : dialog.findChildren<QPlainTextEdit *>())
        list = one->isReadOnly() ? list : one;
    QLineEdit *program = nullptr;
    for (QLineEdit *const one : dialog.findChildren<QLineEdit *>())
        program = one->accessibleName() == u"Program" ? one : program;
    QVERIFY(state && list && program && button("Start"));
    program->setText(kProgram);
    list->setPlainText(QStringLiteral("localhost slots=many"));
    button("Start")->click();
    QVERIFY(state->text().contains(u"line 1"));
    list->setPlainText(QStringLiteral("localhost slots=2"));
    QSignalSpy taken(&hosts(), &app::RunOnHosts::taken);
    const int height = list->height();
    button("Start")->click();
    QVERIFY(hosts().job().isRunning());
    const auto *const phase = dialog.findChild<QLabel *>(QStringLiteral("hosts-phase"));
    QTRY_VERIFY_WITH_TIMEOUT(phase->text().contains(u"shards"), 60000);
    QCOMPARE(list->height(), height); // the dialog has grown
    QVERIFY(!button("Start")->isEnabled());
    QTRY_COMPARE_WITH_TIMEOUT(taken.size(), 1, 60000);
    QVERIFY(state->text().startsWith(u"Compared on hosts"));
    QVERIFY(!phase->isVisible());
    QVERIFY(button("Load Result"));
    button("Load Result")->click();
    QTRY_COMPARE_WITH_TIMEOUT(taken.size(), 2, 10000);
    QVERIFY(test::settle(*m_window));
    m_window->files().close();
    dialog.refresh();
    QVERIFY(state->text().contains(u"Open a model"));
}

HALFTONE_WINDOW_TEST(TestHosts)
#include "tst_hosts.moc"
