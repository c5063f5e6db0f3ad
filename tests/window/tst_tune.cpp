#include "app/live_jobs.h"
#include "core/profile/plan_maker.h"
#include "core/session/export.h"
#include "core/tune/adopt.h"
#include "core/tune/recording.h"
#include "tests/support/call_cli.h"
#include "tests/window/window_fixture.h"
#include "widgets/inspector/details.h"
#include "widgets/models/tune_state.h"

#include <QAction>
#include <QElapsedTimer>
#include <QSignalSpy>

using namespace halftone;
using widgets::TunePlace;

namespace {

/// All has been said.
class Nobody final : public tune::Oracle
{
public:
    Result<tune::Network> profile(const Progress & /*progress*/) override { return notAsked(); }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t, tune::Label, const Progress & /*progress*/) override
    {
        return notAsked();
    }
    Result<tune::Measurement> measure(const tune::Labels &, const Progress & /*progress*/) override
    {
        return notAsked();
    }

private:
    static Error notAsked() { return badInput("the record", "nothing", "an answer"); }
};

} // namespace

/// A search for the layers that must stay wide, in the whole window over the sample.
class TestTune : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void pointsAppearAndAreAdoptedAsOneEdit();
    void editsDuringASearchDoNotDisturbIt();
    void ownEditsAreNotTimedWhereLatencyIsOff();
    void groupsMayChangeWhereInt8IsAllowed();
    void aStoppedSearchGoesOn();
    void stoppingTakesLessThanASecond();
    void anAdoptedPointIsSearchedAgain();
    void windowAndCommandLineWriteTheSameBytes();

private:
    bool search()
    {
        m_window->tune().startWanted();
        return QTest::qWaitFor([this] { return !m_window->tune().isRunning(); }, 60000)
            && test::settle(*m_window);
    }
    bool waitForPoint()
    {
        const auto isFound = [this] {
            return std::ranges::any_of(m_window->tune().places(),
                                       [](const TunePlace &place) { return !place.isOwn; });
        };
        return QTest::qWaitFor(isFound, 30000);
    }
    /// The fastest of those that are offered.
    std::size_t fastest() const { return *m_window->tune().fastestWithin(); }

    std::unique_ptr<app::MainWindow> m_window;
    widgets::DocumentController &controller() { return m_window->controller(); }
};

void TestTune::init()
{
    test::failOnWarnings();
    m_window = std::make_unique<app::MainWindow>();
    m_window->open(test::kSampleModel);
    QVERIFY(test::settle(*m_window));
    controller().apply(policy::SetTarget{tensor::DType::BF16});
    jobs::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    data.examples = 16;
    m_window->jobs().setData(data);
    QVERIFY(test::settleAfterEdit(*m_window));
    const auto maker = profile::PlanMaker::create(m_window->jobs().latencyOptions().backend, 0);
    QVERIFY(maker.ok());
    if (maker.value().backend().support(tensor::DType::BF16) != kernels::Support::Native)
        QSKIP("this machine has no backend with a native bfloat16, so that nothing can be timed");
}

void TestTune::pointsAppearAndAreAdoptedAsOneEdit()
{
    QVERIFY(search());
    const widgets::TuneState &tune = m_window->tune();
    QVERIFY(tune.front());
    QCOMPARE(tune.front()->stoppedBy, tune::StoppedBy::Done);
    QVERIFY(tune.places().size() >= 2);
    const policy::Policy before = controller().document()->policy();
    m_window->tune().adopt(fastest());
    QVERIFY(test::settleAfterEdit(*m_window));
    const policy::Policy adopted = controller().document()->policy();
    QVERIFY(!adopted.reasons.empty());
    // What the inspector says of a layer that the search decided about.
    const graph::Graph &graph = controller().snapshot()->graph();
    const auto &[name, reason] = *adopted.reasons.begin();
    const widgets::Details details = widgets::describeNode(*controller().snapshot(), controller().figures(),
                                                           test::nodeNamed(graph, name));
    bool isTold = false;
    for (const widgets::DetailSection &section : details.sections)
        for (const auto &row : section.rows)
            isTold = isTold || row.value == QString::fromStdString(reason);
    QVERIFY2(isTold, reason.c_str());
    controller().undo();
    QVERIFY(controller().document()->policy() == before);
}

/// It searches on what the lists were when it began, and what is edited meanwhile gets its figures and its own point.
void TestTune::editsDuringASearchDoNotDisturbIt()
{
    m_window->jobs().setLatencyWanted(true);
    QVERIFY(test::settleAfterEdit(*m_window));
    m_window->tune().startWanted();
    QVERIFY(waitForPoint());
    const policy::Policy base = *m_window->tune().base();
    controller().apply(policy::OverrideNodes{{"fc1"}, tensor::DType::F32});
    const std::uint64_t edited = controller().snapshot()->revision;
    QVERIFY(QTest::qWaitFor([&] { return controller().figures().comparisonRevision == edited; }, 20000));
    QVERIFY(QTest::qWaitFor([&] { return !m_window->tune().isRunning(); }, 60000));
    QVERIFY(test::settle(*m_window));
    const widgets::TuneState &tune = m_window->tune();
    QCOMPARE(tune.front()->stoppedBy, tune::StoppedBy::Done);
    QVERIFY(*tune.base() == base);
    for (const TunePlace &place : tune.places()) {
        if (!place.isOwn)
            QVERIFY(tune::withoutAdopted(place.policy) == base);
    }
    const auto own = std::ranges::find_if(tune.places(), [](const TunePlace &place) {
        return place.isOwn && place.policy.nodeOverrides.contains("fc1");
    });
    QVERIFY(own != tune.places().end() && own->isMeasured);
}

void TestTune::ownEditsAreNotTimedWhereLatencyIsOff()
{
    QVERIFY(!m_window->jobs().isLatencyWanted());
    m_window->tune().startWanted();
    QVERIFY(waitForPoint());
    controller().apply(policy::OverrideNodes{{"fc1"}, tensor::DType::F32});
    QVERIFY(QTest::qWaitFor([&] { return !m_window->tune().isRunning(); }, 60000));
    QVERIFY(test::settle(*m_window));
    QVERIFY(!controller().figures().latency);
    QVERIFY(std::ranges::none_of(m_window->tune().places(), &TunePlace::isOwn));
}

/// The ends are told by groups that int8 may join afterwards: at any moment points and groups belong together, and what was selected stays.
void TestTune::groupsMayChangeWhereInt8IsAllowed()
{
    widgets::TuneState &tune = m_window->tune();
    tune.setUsesInt8(true);
    bool isWhole = true;
    const auto look = [&] {
        if (const tune::Front *front = tune.front())
            isWhole = isWhole && std::ranges::all_of(front->points, [&](const tune::Point &point) {
                          return point.labels.size() == front->groups.size();
                      });
    };
    connect(&tune, &widgets::TuneState::changed, this, look);
    tune.startWanted();
    QVERIFY(waitForPoint());
    tune.select(0);
    QVERIFY(QTest::qWaitFor([&] { return !tune.isRunning(); }, 60000));
    QVERIFY(test::settle(*m_window));
    QVERIFY(isWhole);
    QCOMPARE(tune.front()->stoppedBy, tune::StoppedBy::Done);
    QCOMPARE(tune.selected(), std::optional<std::size_t>(0));
    QVERIFY(std::ranges::any_of(tune.front()->points, [](const tune::Point &point) {
        return std::ranges::find(point.labels, tune::Label::Int8) != point.labels.end();
    }));
}

void TestTune::aStoppedSearchGoesOn()
{
    m_window->tune().startWanted();
    QVERIFY(waitForPoint());
    const QList<QAction *> actions = m_window->findChildren<QAction *>();
    const auto stop
        = std::ranges::find(actions, QKeySequence(Qt::SHIFT | Qt::Key_Escape), &QAction::shortcut);
    QVERIFY(stop != actions.end() && (*stop)->isEnabled()); // the menu's Stop, which stops what runs
    (*stop)->trigger();
    QVERIFY(QTest::qWaitFor([&] { return !m_window->tune().isRunning(); }, 5000));
    QVERIFY(test::settle(*m_window));
    if (m_window->tune().front()->stoppedBy == tune::StoppedBy::Done)
        QSKIP("the search was over before it could be stopped");
    QVERIFY(m_window->tune().canContinue());
    const std::vector<tune::Point> before = m_window->tune().front()->points;
    QVERIFY(search());
    QCOMPARE(m_window->tune().front()->stoppedBy, tune::StoppedBy::Done);
    for (const tune::Point &point : before) {
        const tune::Point *const again = m_window->tune().front()->find(point.labels);
        QVERIFY2(
            again != nullptr,
            qPrintable(
                QStringLiteral("%1, measured: %2").arg(int(point.origin)).arg(point.measured.has_value())));
        // Taken over, not measured again; the time of what is offered is taken once more at the end of each search.
        if (point.measured)
            QCOMPARE(again->measured->sqnrDb, point.measured->sqnrDb);
    }
}

void TestTune::stoppingTakesLessThanASecond()
{
    for (const int milliseconds : {50, 400, 900}) {
        m_window->tune().startWanted();
        QTest::qWait(milliseconds);
        if (!m_window->tune().isRunning())
            return; // it was over sooner
        QElapsedTimer clock;
        clock.start();
        m_window->tune().stopWanted();
        QVERIFY(QTest::qWaitFor([&] { return !m_window->tune().isRunning(); }, 5000));
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
    }
}

/// What it was adopted from does not count as a person's word, a pin does.
void TestTune::anAdoptedPointIsSearchedAgain()
{
    QVERIFY(search());
    const auto tunable
        = [&] { return std::ranges::count_if(m_window->tune().front()->groups, &tune::Group::isTunable); };
    const auto before = tunable();
    QVERIFY(before > 1);
    m_window->tune().adopt(0);
    QVERIFY(test::settleAfterEdit(*m_window));
    std::size_t pinned = 0;
    while (!m_window->tune().front()->groups[pinned].isTunable)
        ++pinned;
    m_window->tune().pin(pinned);
    QVERIFY(test::settleAfterEdit(*m_window));
    QVERIFY(search());
    QCOMPARE(tunable(), before - 1);
}

/// Both over the answers of one search.
void TestTune::windowAndCommandLineWriteTheSameBytes()
{
    QTemporaryDir folder;
    const QStringList call{"tune",       test::kSampleModel,
                           "--inputs",   test::kSampleData,
                           "--examples", "16",
                           "--target",   "bfloat16",
                           "--state",    folder.filePath("state.json"),
                           "--out",      folder.filePath("front.json"),
                           "--pick",     "fastest-within",
                           "--write",    folder.filePath("picked"),
                           "--json"};
    const test::CliOutcome tuned = test::callCli(call);
    QVERIFY2(tuned.code == 0, tuned.err.constData());
    auto record = tune::readRecord(test::contentOf(folder.filePath("state.json")).toStdString());
    QVERIFY(record.ok());
    Nobody nobody;
    tune::RecordingOracle recorded(nobody, std::move(record).value(), {});
    const auto front = tune::search(recorded, {});
    QVERIFY(front.ok());
    m_window->tune().setFront(std::make_shared<const tune::Front>(front.value()),
                              controller().snapshot()->policy);
    // On a busy machine the window may not offer it.
    const auto point = tune::pick(front.value(), tune::Pick::FastestWithin, {});
    QVERIFY(point);
    m_window->tune().adopt(*point);
    QVERIFY(test::settleAfterEdit(*m_window));
    session::ExportOptions options;
    options.prefix = folder.filePath(QStringLiteral("window")).toStdString();
    options.report = false;
    QVERIFY(session::exportAll(*controller().snapshot(), {}, options, {}).ok());
    const nlohmann::json told = tuned.json();
    const std::size_t picked = told["picked"];
    const std::string policy = told["points"][picked]["policy"];
    const auto window
        = [&](const char *ending) { return test::contentOf(folder.filePath("window") + ending); };
    QVERIFY(!window("-symbol.json").isEmpty());
    QCOMPARE(window("-symbol.json"), test::contentOf(folder.filePath("picked-symbol.json")));
    QCOMPARE(window("-0000.params"), test::contentOf(folder.filePath("picked-0000.params")));
    QCOMPARE(window(".policy.json"), test::contentOf(QString::fromStdString(policy)));
}

HALFTONE_WINDOW_TEST(TestTune)
#include "tst_tune.moc"
