#include "app/bars/notice_bar.h"
#include "app/recoverable_session.h"
#include "app/source_watch.h"
#include "core/base/atomic_file.h"
#include "core/base/mapped_file.h"
#include "core/io/arrays/npz.h"
#include "core/io/mxnet/params_file.h"
#include "core/session/journal.h"
#include "tests/window/window_fixture.h"
#include "widgets/common/path_text.h"
#include "widgets/plots/latency_plot.h"

#include <QAction>
#include <QDir>
#include <QPushButton>
#include <QTableWidget>
#include <QTimer>

#include <filesystem>
#include <fstream>

using namespace halftone;
using app::MainWindow;
using test::settle;
using test::settleAfterEdit;
using Kind = session::SourceState::Kind;

namespace {

constexpr std::int64_t kInputs = 512;
constexpr std::int64_t kOutputs = 1024; ///< with the inputs 2 MiB of weights, so that they are mapped

tensor::Tensor filled(const tensor::Shape &shape, float scale)
{
    std::vector<float> values(static_cast<std::size_t>(*shape.elementCount()));
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = scale * (static_cast<float>(k % 17) - 8);
    const auto bytes = std::as_bytes(std::span(values));
    return tensor::Tensor::owning(tensor::DType::F32, shape, std::vector(bytes.begin(), bytes.end()));
}

/// A fully connected layer whose weights are so many times those of scale 1.
std::string paramsOf(float scale, const QString &folder)
{
    tensor::Array weights;
    weights.name = "arg:w";
    weights.shape = tensor::Shape{kOutputs, kInputs};
    weights.values = filled(weights.shape, scale);
    const std::string path = folder.toStdString() + "/made.params";
    auto file = AtomicFile::create(path);
    const auto write = [&file](std::span<const std::byte> bytes) { return file.value().write(bytes); };
    if (!file.ok() || !io::writeParams(std::span(&weights, 1), write).ok() || !file.value().commit().ok())
        qFatal("no parameters");
    std::ifstream made(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(made), {}};
}

QPushButton *buttonOf(const QWidget *parent, const QString &text)
{
    for (QPushButton *button : parent->findChildren<QPushButton *>())
        if (QString(button->text()).remove(u'&') == text && button->isVisibleTo(parent))
            return button;
    return nullptr;
}

} // namespace

/// What becomes of a document whose files others write to: the model, the session, journals.
class TestSourceFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();

    void aModelThatIsWrittenOverInPlaceIsToldAndWhatWasReadIsKept_data();
    void aModelThatIsWrittenOverInPlaceIsToldAndWhatWasReadIsKept();
    void dataThatWereWrittenOverAreReadAgain();
    void reloadingReadsTheNewModelAndKeepsTheWork();
    void figuresOfWhatIsLostAreWithdrawn();
    void aSessionIsSavedWhereTheModelIsGone();
    void theNoticeThatNothingWasSavedGoesWhenItIs();
    void aSecondWindowDoesNotWriteOverTheFirst();
    void aJournalOfANewerVersionIsKeptAndNamed();
    void whatOfAJournalIsNotUnderstoodIsKeptAside();
    void namesThatAreNoTextOpenAndAreSaved();
    void awaitedTimesSayWhyTheyDoNotCome();

private:
    QString path(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    void write(const char *name, const std::string &bytes) const
    {
        QTest::qSleep(20); // of the clock that stamps files
        std::ofstream(path(name).toStdString(), std::ios::binary) << bytes;
    }
    void open(MainWindow &window) const;
    static app::NoticeBar *bar(MainWindow &window, const char *name)
    {
        return window.findChild<app::NoticeBar *>(QLatin1String(name));
    }
    static double output(MainWindow &window)
    {
        return window.controller().figures().comparison->comparison.outputs.at(0).figures.maxAbs;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestSourceFile::initTestCase()
{
    MappedFile::surviveCuts();
    MappedFile::keepContents();
}

void TestSourceFile::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    write(
        "m-symbol.json",
        R"({"nodes":[{"op":"null","name":"data","inputs":[]},{"op":"null","name":"w","inputs":[]},)"
        R"({"op":"FullyConnected","name":"fc","attrs":{"num_hidden":"1024","no_bias":"True"},)"
        R"("inputs":[[0,0,0],[1,0,0]]}],"arg_nodes":[0,1],"heads":[[2,0,0]],"attrs":{"mxnet_version":["int",10901]}})");
    write("m-0000.params", paramsOf(0.7F, m_folder->path()));
    const io::NamedTensor data{"data", filled(tensor::Shape{4, kInputs}, 0.3F)};
    QVERIFY(io::writeNpz(std::span(&data, 1), path("data.npz").toStdString()).ok());
}

/// With figures of float16.
void TestSourceFile::open(MainWindow &window) const
{
    window.files().open(path("m-symbol.json")); // asks nothing
    QVERIFY(settle(window));
    jobs::ExampleOptions data;
    data.inputs = path("data.npz").toStdString();
    window.jobs().setData(data);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.controller().figures().comparison);
}

void TestSourceFile::aModelThatIsWrittenOverInPlaceIsToldAndWhatWasReadIsKept_data()
{
    QTest::addColumn<QString>("how");
    for (const char *how : {"same size", "cut", "replaced"})
        QTest::newRow(how) << how;
}

void TestSourceFile::aModelThatIsWrittenOverInPlaceIsToldAndWhatWasReadIsKept()
{
    QFETCH(QString, how);
    const QString saved = path("a.halftone");
    MainWindow window;
    open(window);
    const double before = output(window);
    QVERIFY(window.files().save(saved).ok());
    const auto hash = session::readSession(saved.toStdString()).value().modelHash;
    if (how == u"replaced") {
        write("new.params", paramsOf(70, m_folder->path()));
        std::filesystem::rename(path("new.params").toStdString(), path("m-0000.params").toStdString());
    } else {
        write("m-0000.params", how == u"cut" ? std::string("cut") : paramsOf(70, m_folder->path()));
    }
    app::NoticeBar *const told = bar(window, "source");
    QTRY_VERIFY2(told->text().startsWith("m-0000.params has changed on disk"), qPrintable(told->text()));
    QVERIFY(buttonOf(told, "Reload"));
    QVERIFY(buttonOf(told, "Keep Shown Version"));
    buttonOf(told, "Keep Shown Version")->click();
    QVERIFY(told->text().isEmpty());
    QVERIFY(window.source().state().kind == Kind::AsRead);
    // Everything that is computed and saved from here on is of what was read.
    window.jobs().runAgain();
    QVERIFY(settleAfterEdit(window));
    QCOMPARE(output(window), before);
    QVERIFY(window.files().save(saved).ok());
    const session::SessionFile file = session::readSession(saved.toStdString()).value();
    QVERIFY(file.modelHash == hash);
    QVERIFY(!file.results.empty());
    QVERIFY(told->text().isEmpty()); // not asked again
    if (how == u"cut")
        return;
    MainWindow other; // which reads what is there now
    other.files().open(saved);
    QVERIFY(settle(other));
    QVERIFY2(bar(other, "notice")->text().startsWith("The model has changed since"),
             qPrintable(bar(other, "notice")->text()));
    QVERIFY(output(other) != before);
}

/// What is saved says which data it is of, so that it has to be.
void TestSourceFile::dataThatWereWrittenOverAreReadAgain()
{
    MainWindow window;
    open(window);
    const double before = output(window);
    QTest::qSleep(20);
    const io::NamedTensor data{"data", filled(tensor::Shape{4, kInputs}, 30)};
    QVERIFY(io::writeNpz(std::span(&data, 1), path("data.npz").toStdString()).ok());
    QVERIFY(window.controller().apply(policy::ExcludeNames{{"nothing"}}));
    QVERIFY(settleAfterEdit(window));
    QVERIFY2(output(window) > 10 * before, qPrintable(QString::number(output(window))));
}

void TestSourceFile::reloadingReadsTheNewModelAndKeepsTheWork()
{
    MainWindow window;
    open(window);
    const double before = output(window);
    QVERIFY(window.controller().apply(policy::ExcludeNames{{"nothing"}}));
    QVERIFY(settleAfterEdit(window));
    const policy::Policy edited = window.controller().document()->policy();
    write("m-0000.params", paramsOf(70, m_folder->path()));
    app::NoticeBar *const told = bar(window, "source");
    QTRY_VERIFY(!told->text().isEmpty());
    buttonOf(told, "Reload")->click();
    QTRY_VERIFY(told->text().isEmpty());
    QVERIFY(settleAfterEdit(window));
    QVERIFY(output(window) > 10 * before);
    QVERIFY(window.controller().document()->policy() == edited);
    QVERIFY(window.controller().document()->canUndo());
    QVERIFY(window.files().isModified());
    QVERIFY(window.jobs().data());
    // Unsaved edits outlive a crash after it, too.
    const QStringList journals = QDir(app::journalFolder()).entryList({"*.journal"}, QDir::Files);
    QCOMPARE(journals.size(), 1);
    const auto journal = session::Journal::read((app::journalFolder() + '/' + journals[0]).toStdString());
    QVERIFY(journal.ok());
    QCOMPARE(journal.value().steps, std::size_t{1});
}

/// As where a file system tells nothing beforehand: the file is taken for one that was written to.
void TestSourceFile::figuresOfWhatIsLostAreWithdrawn()
{
    MainWindow window;
    window.resize(1400, 900);
    window.show();
    open(window);
    window.showView(QStringLiteral("latency"));
    QVERIFY(window.files().save(path("a.halftone")).ok());
    const auto hash = session::readSession(path("a.halftone").toStdString()).value().modelHash;
    window.jobs().loseSource();
    QVERIFY(!window.controller().figures().comparison);
    window.jobs().setLatencyWanted(true);
    QVERIFY(window.controller().apply(policy::ExcludeNames{{"fc"}}));
    QVERIFY(settleAfterEdit(window));
    QVERIFY(!window.controller().figures().comparison); // nothing is computed from it
    const QString told = window.findChild<widgets::LatencyPlot *>()->emptyText();
    QVERIFY2(told.contains("was overwritten"), qPrintable(told));
    QVERIFY(window.files().save(path("a.halftone")).ok());
    const session::SessionFile file = session::readSession(path("a.halftone").toStdString()).value();
    QVERIFY(file.results.empty());
    QVERIFY(file.modelHash == hash);
    window.files().reloadModel();
    QVERIFY(settle(window));
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.controller().figures().comparison);
}

void TestSourceFile::aSessionIsSavedWhereTheModelIsGone()
{
    const QString saved = path("a.halftone");
    MainWindow window;
    open(window);
    QVERIFY(window.files().save(saved).ok());
    const session::SessionFile before = session::readSession(saved.toStdString()).value();
    QVERIFY(window.controller().apply(policy::ExcludeNames{{"fc"}}));
    QVERIFY(settleAfterEdit(window));
    QDir().mkpath(path("elsewhere"));
    QVERIFY(QFile::rename(path("m-0000.params"), path("elsewhere/m-0000.params"))); // moved
    QVERIFY(QFile::remove(path("m-symbol.json"))); // gone
    QVERIFY2(window.files().save(saved).ok(), "a session needs no model");
    QVERIFY(!window.files().isModified());
    const session::SessionFile file = session::readSession(saved.toStdString()).value();
    QVERIFY(file.modelHash == before.modelHash);
    QCOMPARE(file.modelPath, before.modelPath);
    QCOMPARE(file.paramsPath, before.paramsPath);
    QCOMPARE(file.history.entries[file.history.current].policy.excludedNames, std::vector<std::string>{"fc"});
    QVERIFY(bar(window, "source")->text().isEmpty()); // there is nothing to reload
}

void TestSourceFile::theNoticeThatNothingWasSavedGoesWhenItIs()
{
    MainWindow window;
    open(window);
    QDir().mkpath(path("folder"));
    const QString saved = path("folder/a.halftone");
    QVERIFY(window.files().save(saved).ok());
    QVERIFY(window.controller().apply(policy::ExcludeNames{{"fc"}}));
    QVERIFY(settleAfterEdit(window));
    QVERIFY(QFile::remove(saved));
    QVERIFY(QDir().rmdir(path("folder")));
    QAction *save = nullptr;
    for (QAction *action : window.findChildren<QAction *>())
        if (action->shortcut() == QKeySequence(QKeySequence::Save))
            save = action;
    QVERIFY(save);
    save->trigger();
    const app::NoticeBar *const notice = bar(window, "notice");
    QVERIFY2(notice->text().startsWith("Could not save: "), qPrintable(notice->text()));
    QDir().mkpath(path("folder"));
    save->trigger();
    QVERIFY2(notice->text().isEmpty(), qPrintable(notice->text()));
    QVERIFY(QFile::exists(saved));
}

void TestSourceFile::aSecondWindowDoesNotWriteOverTheFirst()
{
    const QString saved = path("a.halftone");
    MainWindow first;
    open(first);
    QVERIFY(first.files().save(saved).ok());
    MainWindow second;
    second.files().open(saved);
    QVERIFY(settle(second));
    QVERIFY(first.controller().apply(policy::ExcludeNames{{"first"}}));
    QVERIFY(!first.files().isForeign(saved));
    QVERIFY(first.files().save(saved).ok());
    QVERIFY(!first.files().isForeign(saved)); // its own
    QVERIFY(second.controller().apply(policy::ExcludeNames{{"second"}}));
    QVERIFY(second.files().isForeign(saved));
    const auto namesIn = [&saved] {
        const session::SessionFile file = session::readSession(saved.toStdString()).value();
        return file.history.entries[file.history.current].policy.excludedNames;
    };
    const auto saveAnd = [&second](const std::function<void(QWidget *)> &answer) {
        bool isAsked = false;
        QTimer::singleShot(0, &second, [&] {
            QWidget *const dialog = QApplication::activeModalWidget();
            isAsked = dialog && dialog->objectName() == u"changedSession";
            if (isAsked)
                answer(dialog);
            else if (dialog)
                dialog->close();
        });
        for (QAction *action : second.findChildren<QAction *>())
            if (action->shortcut() == QKeySequence(QKeySequence::Save))
                action->trigger();
        return isAsked;
    };
    QString differences;
    QVERIFY(saveAnd([&differences](QWidget *dialog) {
        buttonOf(dialog, "Show Differences")->click();
        const auto *const table = dialog->findChild<QTableWidget *>("differences");
        for (int row = 0; table && row < table->rowCount(); ++row)
            differences += table->item(row, 0)->text() + ": " + table->item(row, 1)->text() + " | "
                + table->item(row, 2)->text() + '\n';
        buttonOf(dialog, "Cancel")->click();
    }));
    QVERIFY2(differences.contains("excluded_sym_names: first | second"), qPrintable(differences));
    QCOMPARE(namesIn(), std::vector<std::string>{"first"});
    QVERIFY(second.files().isModified());
    QVERIFY(saveAnd([](QWidget *dialog) { buttonOf(dialog, "Overwrite")->click(); }));
    QCOMPARE(namesIn(), std::vector<std::string>{"second"});
    QVERIFY(!second.files().isModified());
    QVERIFY(!saveAnd([](QWidget *) {})); // not asked of what it has saved itself
    QVERIFY(first.files().isForeign(saved));
}

void TestSourceFile::aJournalOfANewerVersionIsKeptAndNamed()
{
    const QString journal = app::journalFolder() + "/newer.journal";
    std::ofstream(journal.toStdString())
        << R"({"halftone":2,"model":{"symbol":"m.onnx"},"history":[{"policy":{},"what":""}],"current":0,"view":{}})"
           "\n{\"session\":\"\"}\n{\"policy\":{\"fp32_ops\":[\"Conv\"]},\"what\":\"Conv to fp32\"}\n";
    const auto kept = [&journal] {
        const std::vector<app::RecoverableSession> left = app::recoverableSessions();
        return left.size() == 1 && left[0].journal == journal && !left[0].isReadable
            && left[0].text.contains(journal) && left[0].text.contains("format version 2, expected 1");
    };
    QVERIFY(kept());
    MainWindow window;
    open(window);
    const app::RecoveryBar &offered = window.recoveryBar();
    QVERIFY2(offered.text().startsWith("Unsaved work from another version of Halftone was kept: "),
             qPrintable(offered.text()));
    QVERIFY(!buttonOf(&offered, "Recover"));
    QVERIFY(kept());
    window.files().close();
    QVERIFY(kept());
    app::discardJournal(journal);
}

void TestSourceFile::whatOfAJournalIsNotUnderstoodIsKeptAside()
{
    const QString journal = app::journalFolder() + "/partly.journal";
    const QString aside = journal + ".kept";
    policy::Policy edited;
    edited.excludedNames = {"fc"};
    {
        session::Journal::Head head;
        head.state.modelPath = path("m-symbol.json").toStdString();
        head.state.history = {{{policy::Policy(), ""}}, 0};
        auto begun = session::Journal::create(journal.toStdString(), head);
        QVERIFY(begun.ok() && begun.value().edited({edited, "Exclude fc"}).ok());
    }
    std::ofstream(journal.toStdString(), std::ios::app) << "{\"zoom\":3}\n{\"policy\":{\"fp32";
    const std::vector<app::RecoverableSession> left = app::recoverableSessions();
    QCOMPARE(left.size(), std::size_t{1});
    QVERIFY2(left[0].isReadable && left[0].text.contains("1 edit") && left[0].text.contains("2 of its lines"),
             qPrintable(left[0].text));
    {
        MainWindow window;
        window.files().recover(journal);
        QVERIFY(settle(window));
        QVERIFY(window.controller().document()->policy() == edited);
        QVERIFY(window.files().isModified());
        const QString told = bar(window, "notice")->text();
        QVERIFY2(told.contains("line 4: the keys zoom") && told.contains("line 5: torn")
                     && told.contains(aside),
                 qPrintable(told));
        QVERIFY(QFile::exists(aside));
        QVERIFY(app::recoverableSessions().empty()); // it is open
        QVERIFY(window.files().save(path("a.halftone")).ok());
    }
    QVERIFY(QFile::exists(aside)); // also when what was understood is saved
    QVERIFY(app::recoverableSessions().empty());
    QVERIFY(QFile::remove(aside));
}

void TestSourceFile::namesThatAreNoTextOpenAndAreSaved()
{
    const std::string odd = m_folder->path().toStdString() + "/m\xff\xc3-symbol.json";
    const std::string saved = m_folder->path().toStdString() + "/s\xff.halftone";
    std::filesystem::rename(path("m-symbol.json").toStdString(), odd);
    std::filesystem::rename(path("m-0000.params").toStdString(),
                            m_folder->path().toStdString() + "/m\xff\xc3-0000.params");
    {
        MainWindow window;
        window.files().open(widgets::pathText(odd));
        QVERIFY(settle(window));
        QVERIFY(window.controller().isOpen());
        QVERIFY(window.controller().snapshot()->source->model.hasParameters);
        QVERIFY2(window.windowTitle().contains("m\\xff\\xc3-symbol.json"), qPrintable(window.windowTitle()));
        QVERIFY(window.files().save(widgets::pathText(saved)).ok());
        QVERIFY(std::filesystem::exists(saved));
        QVERIFY(app::recentFiles().contains(widgets::pathText(saved)));
    }
    MainWindow window;
    window.files().open(app::recentFiles().front());
    QVERIFY(settle(window));
    QCOMPARE(window.controller().snapshot()->source->modelPath, odd);
    app::removeRecentFile(widgets::pathText(saved));
    std::filesystem::remove_all(m_folder->path().toStdString()); // Qt leaves such names
}

void TestSourceFile::awaitedTimesSayWhyTheyDoNotCome()
{
    MainWindow window;
    window.resize(1400, 900);
    window.show();
    open(window);
    const auto *const plot = window.findChild<widgets::LatencyPlot *>();
    window.jobs().cancel();
    window.jobs().setErrorsWanted(false);
    window.showView(QStringLiteral("latency"));
    window.jobs().setLatencyWanted(true);
    window.jobs().cancel();
    QTRY_VERIFY2(plot->emptyText().startsWith("Stopped. "), qPrintable(plot->emptyText()));
    app::JobSettings settings = window.jobs().settings();
    const app::JobSettings usual = settings;
    settings.memoryLimit = 1; // in which nothing is computed
    window.jobs().setSettings(settings);
    window.jobs().setErrorsWanted(true);
    QVERIFY(settleAfterEdit(window));
    QTRY_VERIFY2(plot->emptyText().startsWith("No layer times: "), qPrintable(plot->emptyText()));
    window.jobs().setSettings(usual);
    QVERIFY(settleAfterEdit(window));
    QVERIFY2(plot->emptyText().isEmpty(), qPrintable(plot->emptyText()));
    QVERIFY(window.controller().figures().latency);
}

HALFTONE_WINDOW_TEST(TestSourceFile)
#include "tst_source_file.moc"
