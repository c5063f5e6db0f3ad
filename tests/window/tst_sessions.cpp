#include "app/live_jobs.h"
#include "app/recoverable_session.h"
#include "tests/window/window_fixture.h"

#include <unistd.h>

#include <QPushButton>
#include <QSignalSpy>

using namespace halftone;
using app::MainWindow;
using test::openQuickly;
using test::settle;
using test::settleAfterEdit;

/// What of a document outlives the program: sessions and journals.
class TestSessions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSessionComesBackAsItWasSaved();
    void resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame_data();
    void resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame();
    void openBlocksComeBackFromASessionAndAfterACrash();
    void attachedDataComeBackAfterACrash();
    void aChangedModelIsToldWhenItsSessionOpens();
    void unsavedWorkOfAKilledProgramIsOffered();
    void unsavedWorkIsOfferedBesideAnOpenedModel();
    void attachedDataAreOfferedWhereNothingWasEdited();
    void aClosedDocumentLeavesNoJournal();
    void closingGivesFreedMemoryBack();
    void modelsThatWereOpenLeaveNoMemoryBehind();
};

namespace {

/// Of this program, in MB.
double residentMb()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return file.readAll().split(' ').value(1).toDouble() * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

struct ModelAndData
{
    QString model;
    QString data;
};

/// The sample, and small trained models with pictures where there are some.
std::vector<ModelAndData> modelsWithData()
{
    std::vector<ModelAndData> models{{test::kSampleModel, test::kSampleData}};
    const QDir shared(qEnvironmentVariable("HALFTONE_SHARED"));
    const auto add = [&](const char *model, const char *pictures) {
        if (!qEnvironmentVariable("HALFTONE_SHARED").isEmpty() && shared.exists(model))
            models.push_back({shared.filePath(model), shared.filePath(pictures)});
    };
    add("models/cifar-resnet20-v1/cifar_resnet20_v1-symbol.json", "images/cifar500");
    add("models/squeezenet11-mxnet/squeezenet1.1-symbol.json", "images/imagenet500");
    add("models/mobilenet-v1-075-mxnet/mobilenet_v1_075_224-symbol.json", "images/imagenet500");
    return models;
}

} // namespace

/// What is freed while nothing runs stays with the C library, unless somebody asks for it.
void TestSessions::closingGivesFreedMemoryBack()
{
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__)
    QSKIP("freed memory is given back by glibc's own call");
#endif
    MainWindow window;
    window.openSample(test::mxnetSample());
    QVERIFY(settle(window));
    QTest::qWait(1000); // until what the jobs have freed is given back
    constexpr std::size_t kPieces = 200'000;
    constexpr std::size_t kBytes = 1000;
    std::vector<std::unique_ptr<std::vector<char>>> pieces;
    for (std::size_t k = 0; k < kPieces; ++k)
        pieces.push_back(std::make_unique<std::vector<char>>(kBytes, 'x'));
    pieces.erase(pieces.begin(), pieces.end() - 1); // the last one holds the heap's end
    const double freed = residentMb();
    window.files().close();
    QTRY_VERIFY2(residentMb() < freed - 100,
                 qPrintable(QStringLiteral("%1 of %2 MB").arg(residentMb()).arg(freed)));
}

void TestSessions::modelsThatWereOpenLeaveNoMemoryBehind()
{
    MainWindow window;
    window.show();
    const std::vector<ModelAndData> models = modelsWithData();
    const auto openAndCompute = [&](const ModelAndData &one) {
        window.files().open(one.model); // asks nothing
        if (!settle(window))
            return false;
        walks::ExampleOptions data;
        data.inputs = one.data.toStdString();
        data.examples = 8;
        window.jobs().setData(data);
        QTest::qWait(10);
        return settle(window, 120000);
    };
    QVERIFY(openAndCompute(models.front()));
    QTest::qWait(500); // until what is free is given back
    const double before = residentMb();
    double most = before;
    const std::size_t opened = models.size() > 1 ? 12 : 50; // those that are trained take a while
    for (std::size_t k = 1; k < opened; ++k) {
        const ModelAndData &one = models[k % models.size()];
        QVERIFY2(openAndCompute(one), qPrintable(one.model));
        most = std::max(most, residentMb());
    }
    QVERIFY(openAndCompute(models.front()));
    qInfo("%zu models opened: %.0f MB at first, %.0f MB at most, %.0f MB in the end", opened, before, most,
          residentMb());
    QTRY_VERIFY2(residentMb() - before < 200, qPrintable(QString::number(residentMb())));
}

void TestSessions::aSessionComesBackAsItWasSaved()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.halftone");
    policy::Policy saved;
    session::Figures results;
    {
        MainWindow window;
        window.openSample(test::mxnetSample());
        QVERIFY(settle(window));
        QVERIFY(!window.files().isModified());
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}});
        window.controller().apply(policy::ExcludeNames{{"stem_bn"}});
        window.controller().undo();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(window.files().isModified());
        saved = window.controller().document()->policy();
        results = window.controller().figures();
        QVERIFY(results.comparison);
        QVERIFY(window.files().save(path).ok());
        QVERIFY(!window.files().isModified());
    }
    MainWindow window;
    window.jobs().setErrorsWanted(false); // so that nothing is computed anew
    window.open(path);
    QVERIFY(settle(window));
    const session::Figures &figures = window.controller().figures();
    QVERIFY(figures.comparison);
    QCOMPARE(figures.comparison->other->top1, results.comparison->other->top1);
    QCOMPARE(figures.nodes.size(), results.nodes.size());
    for (std::size_t k = 0; k < figures.nodes.size(); ++k) {
        QCOMPARE(figures.nodes[k].cumulative.has_value(), results.nodes[k].cumulative.has_value());
        if (figures.nodes[k].cumulative)
            QCOMPARE(figures.nodes[k].cumulative->maxAbs, results.nodes[k].cumulative->maxAbs);
    }
    QVERIFY(window.controller().isOpen());
    QVERIFY(window.controller().document()->policy() == saved);
    QVERIFY(window.controller().document()->canUndo());
    QVERIFY(window.controller().document()->canRedo());
    QVERIFY(window.jobs().data().has_value());
    QVERIFY(!window.files().isModified());
}

void TestSessions::resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame_data()
{
    QTest::addColumn<std::vector<policy::Edit>>("edits");
    QTest::newRow("float16") << std::vector<policy::Edit>{};
    // int8 needs the statistics for its ranges, and is converted once more when these have come.
    QTest::newRow("int8") << std::vector<policy::Edit>{
        policy::MoveOperators{{"Convolution"}, policy::List::Int8},
        policy::SetThresholds{{"stem_relu_output"},
                              policy::ThresholdChoice{policy::ThresholdMethod::Mse, 2.5}}};
}

/// That nothing was computed anew is seen by the time that it took, which no second run has again.
void TestSessions::resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame()
{
    QFETCH(std::vector<policy::Edit>, edits);
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.halftone");
    const QString data = folder.filePath("digits.npz");
    QVERIFY(QFile::copy(test::kSampleData, data));
    double seconds = 0;
    {
        MainWindow window;
        window.open(test::kSampleModel);
        QVERIFY(settle(window));
        walks::ExampleOptions examples;
        examples.inputs = data.toStdString();
        examples.examples = 6;
        window.jobs().setData(examples);
        for (const policy::Edit &edit : edits)
            QVERIFY(window.controller().apply(edit));
        QVERIFY(settleAfterEdit(window));
        QVERIFY(window.controller().figures().comparison);
        seconds = window.controller().figures().comparison->seconds;
        QVERIFY(window.files().save(path).ok());
    }
    const auto open = [&path](MainWindow &window) {
        window.open(path);
        return settle(window) && window.controller().figures().calibration != nullptr;
    };
    const auto isOfNow = [](MainWindow &window) {
        const session::Figures &figures = window.controller().figures();
        const std::uint64_t now = window.controller().snapshot()->revision;
        return figures.comparisonRevision == now && figures.isolatedRevision == now;
    };
    {
        MainWindow window;
        QVERIFY(open(window)); // statistics of tensors are collected anew
        QVERIFY(isOfNow(window));
        QCOMPARE(window.controller().figures().comparison->seconds, seconds);
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}});
        QVERIFY(settleAfterEdit(window));
        QVERIFY(isOfNow(window));
        QVERIFY(window.controller().figures().comparison->seconds != seconds);
        window.controller().undo();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(isOfNow(window));
        QCOMPARE(window.controller().figures().comparison->seconds, seconds);
        window.jobs().runAgain();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(isOfNow(window));
        QVERIFY(window.controller().figures().comparison->seconds != seconds);
    }
    {
        MainWindow window;
        app::JobSettings other = window.jobs().settings();
        other.threads = 1;
        window.jobs().setSettings(other);
        QVERIFY(open(window));
        QVERIFY(isOfNow(window));
        QVERIFY(window.controller().figures().comparison->seconds != seconds);
    }
    QFile changed(data);
    QVERIFY(changed.open(QIODevice::ReadWrite));
    QVERIFY(
        changed.setFileTime(QDateTime::currentDateTime().addSecs(-3600), QFileDevice::FileModificationTime));
    changed.close();
    MainWindow window;
    QVERIFY(open(window));
    QVERIFY(isOfNow(window));
    QVERIFY(window.controller().figures().comparison->seconds != seconds);
}

void TestSessions::openBlocksComeBackFromASessionAndAfterACrash()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.halftone");
    const QString copy = app::journalFolder() + "/crashed.journal";
    std::vector<char> saved;
    std::vector<char> atCrash;
    {
        MainWindow window;
        openQuickly(window);
        const std::vector<char> first = window.graphView().openBlocks();
        window.graphView().foldAll();
        QVERIFY(settle(window));
        saved = window.graphView().openBlocks();
        QVERIFY(saved != first);
        QVERIFY(window.files().save(path).ok());
        const auto block = static_cast<layout::BlockId>(std::ranges::find(first.begin() + 1, first.end(), 1)
                                                        - first.begin());
        window.graphView().setBlockOpen(block, true);
        QVERIFY(settle(window));
        atCrash = window.graphView().openBlocks();
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}}); // without an edit nothing is offered
        QVERIFY(atCrash != saved);
        // What a crash would leave behind.
        const QDir journals(app::journalFolder());
        const QStringList left = journals.entryList({"*.journal"}, QDir::Files);
        QCOMPARE(left.size(), 1);
        QVERIFY(QFile::copy(journals.filePath(left[0]), copy));
    }
    {
        MainWindow window;
        window.open(path);
        QVERIFY(settle(window));
        QCOMPARE(window.graphView().openBlocks(), saved);
        QVERIFY(!window.files().isModified());
    }
    MainWindow window;
    window.files().recover(copy);
    QVERIFY(settle(window));
    QCOMPARE(window.graphView().openBlocks(), atCrash);
    app::discardJournal(copy);
}

void TestSessions::attachedDataComeBackAfterACrash()
{
    const QString copy = app::journalFolder() + "/crashed.journal";
    const walks::ExampleOptions data{test::kSampleData.toStdString(), "", "", 8};
    {
        MainWindow window;
        window.open(test::kSampleModel);
        QVERIFY(settle(window));
        QVERIFY(!window.jobs().data());
        window.jobs().setData(data);
        QVERIFY(settle(window));
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}});
        const QDir journals(app::journalFolder());
        const QStringList left = journals.entryList({"*.journal"}, QDir::Files);
        QCOMPARE(left.size(), 1);
        QVERIFY(QFile::copy(journals.filePath(left[0]), copy));
    }
    MainWindow window;
    window.files().recover(copy);
    QVERIFY(settle(window));
    QVERIFY(window.jobs().data() == data);
    QVERIFY(window.controller().figures().comparison);
    app::discardJournal(copy);
}

void TestSessions::aChangedModelIsToldWhenItsSessionOpens()
{
    const QTemporaryDir folder;
    for (const char *name : {"digits-symbol.json", "digits-0000.params"})
        QVERIFY(QFile::copy(QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/") + name,
                            folder.filePath(name)));
    const QString path = folder.filePath("a.halftone");
    MainWindow window;
    window.open(folder.filePath("digits-symbol.json"));
    QVERIFY(settle(window));
    QVERIFY(window.files().save(path).ok());
    QFile symbol(folder.filePath("digits-symbol.json"));
    QVERIFY(symbol.setPermissions(QFile::ReadOwner | QFile::WriteOwner));
    QVERIFY(symbol.open(QIODevice::Append));
    symbol.write("\n");
    symbol.close();
    QSignalSpy warned(&window.files(), &app::DocumentFiles::warned);
    window.open(path);
    QVERIFY(settle(window));
    QCOMPARE(warned.count(), 1);
}

void TestSessions::unsavedWorkOfAKilledProgramIsOffered()
{
    const QString journal = app::journalFolder() + "/left.journal";
    session::Journal::Head head;
    head.state.modelPath = test::kSampleModel.toStdString();
    policy::Policy edited;
    edited.excludedNames = {"stem_conv"};
    head.state.history = {{{policy::Policy(), ""}}, 0};
    {
        auto begun = session::Journal::create(journal.toStdString(), head);
        QVERIFY(begun.ok() && begun.value().edited({edited, "Exclude stem_conv"}).ok());
    }
    QCOMPARE(app::recoverableJournals(), QStringList{journal});
    MainWindow window;
    window.files().recover(journal);
    QVERIFY(settle(window));
    QVERIFY(window.controller().document()->policy() == edited);
    QVERIFY(window.files().isModified());
    app::discardJournal(journal);
}

/// As after `kill -9` and `halftone MODEL`: the start page is never seen.
void TestSessions::unsavedWorkIsOfferedBesideAnOpenedModel()
{
    policy::Policy edited;
    edited.excludedNames = {"stem_conv"};
    const auto leave = [&edited](const QString &name, const std::string &model) {
        const QString journal = app::journalFolder() + '/' + name;
        session::Journal::Head head;
        head.state.modelPath = model;
        head.state.history = {{{policy::Policy(), ""}}, 0};
        auto begun = session::Journal::create(journal.toStdString(), head);
        return begun.ok() && begun.value().edited({edited, "Exclude stem_conv"}).ok() ? journal : QString();
    };
    QVERIFY(!leave("ours.journal", test::kSampleModel.toStdString()).isEmpty());
    QTest::qWait(20);
    const QString other = leave("other.journal", "/nowhere/other-symbol.json"); // is newer
    MainWindow window;
    window.jobs().setErrorsWanted(false);
    window.open(test::kSampleModel);
    QVERIFY(settle(window));
    const app::RecoveryBar &bar = window.recoveryBar();
    QVERIFY2(bar.text().contains("digits-symbol.json, 1 edit"), qPrintable(bar.text()));
    QTest::mouseClick(bar.findChild<QPushButton *>(), Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.controller().document()->policy() == edited);
    QVERIFY(window.files().isModified());
    QVERIFY2(bar.text().contains("other-symbol.json"), qPrintable(bar.text()));
    QCOMPARE(app::recoverableJournals(), QStringList{other}); // what is open again is not offered again
    QVERIFY(QFile::exists(app::journalFolder() + "/ours.journal")); // but kept against a second crash
    window.files().close();
    QVERIFY(!QFile::exists(app::journalFolder() + "/ours.journal"));
    app::discardJournal(other);
}

void TestSessions::attachedDataAreOfferedWhereNothingWasEdited()
{
    const QString journal = app::journalFolder() + "/attached.journal";
    session::Journal::Head head;
    head.state.modelPath = test::kSampleModel.toStdString();
    head.state.history = {{{policy::Policy(), ""}}, 0};
    {
        auto begun = session::Journal::create(journal.toStdString(), head);
        QVERIFY(begun.ok());
        QVERIFY(begun.value().dataAttached({test::kSampleData.toStdString(), "", "", 0}).ok());
    }
    MainWindow window;
    window.open(test::kSampleModel);
    QVERIFY(settle(window));
    QVERIFY(!window.jobs().data());
    const app::RecoveryBar &bar = window.recoveryBar();
    QVERIFY2(bar.text().contains("digits-symbol.json, digits-test.npz attached"), qPrintable(bar.text()));
    QTest::mouseClick(bar.findChild<QPushButton *>(), Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.jobs().data());
    QVERIFY(window.files().isModified()); // so that closing asks
    window.files().close();
    QVERIFY(!QFile::exists(journal));
    // What a document brought with it is no work of a person's.
    head.state.data = walks::ExampleOptions{test::kSampleData.toStdString(), "", "", 0};
    {
        auto begun = session::Journal::create(journal.toStdString(), head);
        QVERIFY(begun.ok());
        QVERIFY(begun.value().dataAttached(*head.state.data).ok());
    }
    QVERIFY(app::recoverableSessions().empty());
    QVERIFY(!QFile::exists(journal));
}

void TestSessions::aClosedDocumentLeavesNoJournal()
{
    {
        MainWindow window;
        openQuickly(window);
        QVERIFY(app::recoverableJournals().isEmpty()); // held by this very program
        window.files().close();
        QVERIFY(!window.controller().isOpen());
    }
    QVERIFY(app::recoverableJournals().isEmpty());
}

HALFTONE_WINDOW_TEST(TestSessions)
#include "tst_sessions.moc"
