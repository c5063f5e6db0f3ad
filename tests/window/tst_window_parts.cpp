#include "app/bars/model_bar.h"
#include "app/bars/status_line.h"
#include "app/dialogs/attach_dialog.h"
#include "app/dialogs/picture_rules_form.h"
#include "app/dialogs/preprocess_dialog.h"
#include "app/live_jobs.h"
#include "app/message_log.h"
#include "app/panels.h"
#include "app/summary.h"
#include "app/time_left.h"
#include "app/view_state.h"
#include "core/session/saved_results.h"

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QSet>
#include <QSpinBox>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace halftone;
using app::ViewState;

/// The parts of the window by themselves.
class TestWindowParts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyPanelHasANameATitleAndAKeyOfItsOwn();
    void aViewIsReadBackAsItWasWritten();
    void whatSaysNothingSensibleIsAbsent_data();
    void whatSaysNothingSensibleIsAbsent();
    void aWarningThatStaysIsToldOnce();
    void whatIsNearlyOverIsNotSaidToBeOver();
    void allExamplesStayAll();
    void howManyPicturesOfAFolderAreTakenIsSaid();
    void picturesWithoutRulesAreAskedFor();
    void presetsOfPreprocessingStandSideBySide();
    void whatIsInViewIsComputedFirst_data();
    void whatIsInViewIsComputedFirst();
    void errorsOverTheFirstExamplesAreShownAndStayWhenStopped();
    void withoutShapesDataAreAskedForBeforeLatency();
    void everyModelHasALatencyMeasurementOfItsOwn();
    void theTimeLeftNeverGrows();
    void theMemoryThatAPersonGivesHoldsForAllJobs();
};

namespace {

/// The sample with so many pictures of its own.
class LivePictures
{
public:
    explicit LivePictures(int pictures)
        : m_jobs(&m_controller)
    {
        const QString model = m_folder.filePath("own-symbol.json");
        if (!QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json", model)
            || !QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-0000.params",
                            m_folder.filePath("own-0000.params"))
            || !QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/preprocess.json",
                            m_folder.filePath("preprocess.json"))
            || !QDir(m_folder.path()).mkdir("pictures"))
            qFatal("cannot copy the sample");
        QImage picture(8, 8, QImage::Format_Grayscale8);
        for (int k = 0; k < pictures; ++k) {
            picture.fill(k % 256);
            if (!picture.save(m_folder.filePath(QString("pictures/%1.png").arg(k, 4, 10, QChar('0')))))
                qFatal("cannot write a picture");
        }
        auto document = session::Document::open(model.toStdString());
        if (!document.ok())
            qFatal("%s", document.error().message().c_str());
        m_controller.setDocument(std::move(document).value());
    }

    void attach(std::size_t examples = 0)
    {
        walks::ExampleOptions data;
        data.inputs = m_folder.filePath("pictures").toStdString();
        data.examples = examples;
        m_jobs.setData(data);
    }
    app::LiveJobs &jobs() { return m_jobs; }
    widgets::DocumentController &controller() { return m_controller; }

private:
    QTemporaryDir m_folder;
    widgets::DocumentController m_controller;
    app::LiveJobs m_jobs;
};

} // namespace

void TestWindowParts::whatIsInViewIsComputedFirst_data()
{
    QTest::addColumn<int>("view");
    QTest::addColumn<QStringList>("order");
    QTest::newRow("errors") << int(app::InView::Errors)
                            << QStringList{"comparing layers", "isolating each layer", "collecting ranges",
                                           "measuring latency"};
    QTest::newRow("ranges") << int(app::InView::Ranges)
                            << QStringList{"collecting ranges", "comparing layers", "isolating each layer",
                                           "measuring latency"};
    QTest::newRow("latency") << int(app::InView::Latency)
                             << QStringList{"comparing layers", "measuring latency", "isolating each layer",
                                            "collecting ranges"};
}

void TestWindowParts::whatIsInViewIsComputedFirst()
{
    QFETCH(int, view);
    QFETCH(QStringList, order);
    LivePictures live(3);
    QStringList told;
    connect(&live.jobs(), &app::LiveJobs::progressed, this, [&](double, const QString &what, double) {
        if (told.isEmpty() || told.back() != what)
            told << what;
    });
    QString error;
    connect(&live.jobs(), &app::LiveJobs::failed, this, [&](const QString &what) { error = what; });
    live.jobs().setInView(static_cast<app::InView>(view));
    live.attach();
    QTRY_VERIFY_WITH_TIMEOUT(live.jobs().data(), 60000);
    live.jobs().setLatencyWanted(true);
    told.clear();
    live.jobs().runAgain();
    QTRY_VERIFY2_WITH_TIMEOUT(!live.jobs().isBusy(), qPrintable(error), 60000);
    QVERIFY2(error.isEmpty(), qPrintable(error));
    told.removeAll("reading the data");
    told.removeDuplicates();
    QCOMPARE(told, order);
}

void TestWindowParts::errorsOverTheFirstExamplesAreShownAndStayWhenStopped()
{
    LivePictures live(400);
    std::size_t first = 0;
    connect(&live.controller(), &widgets::DocumentController::figuresChanged, this, [&] {
        const auto &comparison = live.controller().figures().comparison;
        if (!comparison || first > 0)
            return;
        first = comparison->examples;
        live.jobs().cancel();
    });
    live.attach();
    QTRY_VERIFY_WITH_TIMEOUT(first > 0, 60000);
    QVERIFY(!live.jobs().isBusy());
    const session::Figures &figures = live.controller().figures();
    QCOMPARE(figures.comparison->expected, std::size_t{400});
    QVERIFY(figures.comparison->examples < 400);
    QVERIFY(!figures.comparison->isWhole);
    QCOMPARE(figures.comparisonRevision, live.controller().snapshot()->revision);
    const auto summary = app::summaryOf(*live.controller().snapshot(), figures);
    QVERIFY2(summary.contains(" of 400 examples"), qPrintable(summary));
    QVERIFY(session::resultsText(*live.controller().snapshot(), figures).empty()); // not for a session file
    live.jobs().runAgain();
    QTRY_VERIFY_WITH_TIMEOUT(live.controller().figures().comparison->examples == 400, 120000);
}

void TestWindowParts::theMemoryThatAPersonGivesHoldsForAllJobs()
{
    LivePictures live(1);
    app::JobSettings settings;
    settings.memoryLimit = std::size_t{96} << 20;
    live.jobs().setSettings(settings);
    live.attach();
    QTRY_VERIFY_WITH_TIMEOUT(live.jobs().data(), 60000);
    QCOMPARE(live.jobs().compareOptions().settings.memoryLimit, settings.memoryLimit);
    QCOMPARE(live.jobs().calibrateOptions().memoryLimit, settings.memoryLimit);
}

/// The sample's file does not say how many pictures it takes at a time.
void TestWindowParts::withoutShapesDataAreAskedForBeforeLatency()
{
    LivePictures live(1);
    QString why;
    connect(&live.jobs(), &app::LiveJobs::latencyDeferred, this, [&](const QString &text) { why = text; });
    live.jobs().setLatencyWanted(true);
    QTRY_VERIFY_WITH_TIMEOUT(!live.jobs().isBusy(), 60000);
    QVERIFY2(why.startsWith("No layer times yet: ")
                 && why.endsWith(". Attach data (Ctrl+D) to provide the input shapes."),
             qPrintable(why));
    live.attach();
    QTRY_VERIFY_WITH_TIMEOUT(live.jobs().data() && !live.jobs().isBusy(), 60000);
    QCOMPARE(why, QString());
    QVERIFY(live.controller().figures().latency);
}

/// The first revisions of two models have the same number.
void TestWindowParts::everyModelHasALatencyMeasurementOfItsOwn()
{
    LivePictures live(1);
    live.jobs().setLatencyWanted(true);
    QTRY_VERIFY_WITH_TIMEOUT(!live.jobs().isBusy(), 60000);
    auto other = session::Document::open(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json");
    QVERIFY(other.ok());
    QString why;
    connect(&live.jobs(), &app::LiveJobs::latencyDeferred, this, [&](const QString &text) { why = text; });
    live.controller().setDocument(std::move(other).value());
    QTRY_VERIFY_WITH_TIMEOUT(!live.jobs().isBusy(), 60000);
    QVERIFY2(why.startsWith("No layer times yet: "), qPrintable(why));
}

void TestWindowParts::theTimeLeftNeverGrows()
{
    app::TimeLeft left;
    QVERIFY(left.after(0.5, 0.2) < 0);
    QVERIFY(left.after(3, 0.01) < 0);
    double before = left.after(4, 0.1);
    QVERIFY(before >= 36);
    for (const auto &[seconds, share] :
         {std::pair(8.0, 0.11), {20.0, 0.2}, {25.0, 0.6}, {60.0, 0.7}, {61.0, 1.0}}) {
        const double now = left.after(seconds, share);
        QVERIFY(now <= before);
        before = now;
    }
    QCOMPARE(before, 0.0);
}

/// The sample's digits as pictures: the preset that is right has the higher top-1, and is written once it is chosen.
void TestWindowParts::presetsOfPreprocessingStandSideBySide()
{
    const QTemporaryDir folder;
    const QString model = folder.filePath("own-symbol.json");
    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json", model));
    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-0000.params",
                        folder.filePath("own-0000.params")));
    const auto loaded = io::loadModel(model.toStdString());
    QVERIFY(loaded.ok());
    io::Preprocess right = io::guessedPreprocess(loaded.value().model);
    right.width = right.height = 8;
    io::Preprocess wrong = right;
    wrong.mean = {255};
    const std::string rules = folder.filePath("preprocess.json").toStdString();
    QVERIFY(io::writePreprocess(wrong, rules).ok());
    QVERIFY(QDir(folder.path()).mkdir("pictures"));
    QFile labels(folder.filePath("pictures/labels.csv"));
    QVERIFY(labels.open(QIODevice::WriteOnly) && labels.write("file,class_index\n") > 0);
    QImage picture(8, 8, QImage::Format_Grayscale8);
    for (int k = 0; k < 4; ++k) {
        picture.fill(60 * k);
        const QString name = QStringLiteral("%1.png").arg(k);
        QVERIFY(picture.save(folder.filePath("pictures/" + name)));
        QVERIFY(labels.write(QStringLiteral("%1,%2\n").arg(name).arg(k).toLatin1()) > 0);
    }
    labels.close();
    walks::ExampleOptions data;
    data.inputs = folder.filePath("pictures").toStdString();
    data.labels = folder.filePath("pictures/labels.csv").toStdString();

    app::PreprocessDialog dialog(std::make_shared<const io::LoadedModel>(loaded.value()), data, {});
    const auto *const form = dialog.findChild<app::PictureRulesForm *>();
    QVERIFY(form->rules().mean == wrong.mean);
    const auto tiles = dialog.findChildren<QToolButton *>();
    QCOMPARE(tiles.size(), 5); // as it is now, and four ranges of grey
    QVERIFY(tiles[0]->isChecked());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.isMeasuring(), 60000);
    for (const QToolButton *tile : tiles) {
        QVERIFY2(tile->text().contains("top-1 "), qPrintable(tile->text() + tile->toolTip()));
        QVERIFY(!tile->icon().isNull());
        QVERIFY(!tile->accessibleName().isEmpty());
    }
    tiles[2]->click(); // 0 … 1
    QVERIFY(tiles[2]->isChecked() && !tiles[0]->isChecked());
    dialog.accept();
    QCOMPARE(dialog.options().preprocess, rules);
    const auto written = io::readPreprocess(rules);
    QVERIFY(written.ok());
    QCOMPARE(written.value().mean, std::vector<double>{0});
    QVERIFY(std::abs(written.value().scale[0] - 1.0 / 255) < 1e-9);
}

/// An own model with a folder of pictures: what the fields say becomes the preprocess.json that is read from then on.
void TestWindowParts::picturesWithoutRulesAreAskedFor()
{
    const QTemporaryDir folder;
    const QString model = folder.filePath("own-symbol.json");
    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json", model));
    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-0000.params",
                        folder.filePath("own-0000.params")));
    QVERIFY(QDir(folder.path()).mkdir("pictures"));
    QImage picture(12, 10, QImage::Format_RGB32);
    picture.fill(Qt::white);
    QVERIFY(picture.save(folder.filePath("pictures/a.png")));
    QFile labels(folder.filePath("pictures/labels.csv"));
    QVERIFY(labels.open(QIODevice::WriteOnly) && labels.write("file,class_index\na.png,3\n") > 0);
    labels.close();
    const auto loaded = io::loadModel(model.toStdString());
    QVERIFY(loaded.ok());

    app::AttachDialog dialog({}, 64, nullptr, &loaded.value());
    const auto *const form = dialog.findChild<app::PictureRulesForm *>();
    QVERIFY(!form->isVisibleTo(&dialog));
    // While a path is typed the dialog does not jump at the folders that it goes through, nor is anything attached unseen.
    auto *const inputs = dialog.findChild<QLineEdit *>();
    QTest::keyClicks(inputs, folder.filePath("pictures/"));
    QVERIFY(!form->isVisibleTo(&dialog));
    dialog.accept();
    QVERIFY(form->isVisibleTo(&dialog) && dialog.result() != QDialog::Accepted);
    inputs->clear();
    QTest::keyClicks(inputs, folder.filePath("pictures"));
    QTRY_VERIFY(form->isVisibleTo(&dialog));
    inputs->setText(folder.filePath("pictures"));
    QVERIFY(form->isVisibleTo(&dialog));
    QVERIFY(dialog.options().labels.ends_with("labels.csv"));
    QCOMPARE(form->rules().input, std::string("data"));
    QCOMPARE(form->rules().color, io::Preprocess::Color::Gray); // the first convolution reads one channel
    for (QSpinBox *box : form->findChildren<QSpinBox *>())
        if (box->accessibleName() == u"Width" || box->accessibleName() == u"Height")
            box->setValue(8);
    for (QComboBox *box : form->findChildren<QComboBox *>())
        if (box->accessibleName() == u"Range of values")
            Q_EMIT box->activated(2);
    QVERIFY2(form->note().startsWith(QStringLiteral("1\u00d71\u00d78\u00d78, values from 1")),
             qPrintable(form->note())); // white: (255 - 127.5) / 127.5
    dialog.accept();
    const std::string written = folder.filePath("preprocess.json").toStdString();
    QCOMPARE(dialog.options().preprocess, written);
    const auto rules = io::readPreprocess(written);
    QVERIFY(rules.ok());
    QVERIFY(rules.value() == form->rules());

    app::AttachDialog again({}, 64, nullptr, &loaded.value()); // now there is a file that says it
    again.findChild<QLineEdit *>()->setText(folder.filePath("pictures"));
    QVERIFY(!again.findChild<app::PictureRulesForm *>()->isVisibleTo(&again));
}

void TestWindowParts::allExamplesStayAll()
{
    const QTemporaryDir folder;
    walks::ExampleOptions now;
    now.inputs = folder.path().toStdString();
    now.examples = 0; // all of them
    const app::AttachDialog again(now, 64);
    QCOMPARE(again.options().examples, std::size_t{0});
    app::AttachDialog fresh({}, 64);
    auto *const inputs = fresh.findChild<QLineEdit *>();
    inputs->setText(folder.path());
    QCOMPARE(fresh.options().examples, std::size_t{64}); // a live answer wants few
    fresh.findChild<QSpinBox *>()->setValue(0);
    inputs->setText(folder.path() + '/');
    QCOMPARE(fresh.options().examples, std::size_t{0});
}

void TestWindowParts::howManyPicturesOfAFolderAreTakenIsSaid()
{
    LivePictures live(20);
    app::ModelBar bar(&live.controller(), &live.jobs(), {});
    const auto button = [&bar] {
        bar.refresh();
        return bar.findChild<QToolButton *>(QStringLiteral("data"))->text();
    };
    QStringList notes;
    connect(&live.jobs(), &app::LiveJobs::noted, this, [&notes](const QString &text) { notes << text; });
    live.attach(8);
    QTRY_VERIFY_WITH_TIMEOUT(live.jobs().data(), 60000);
    QCOMPARE(button(), QStringLiteral("pictures, 8 of 20"));
    QVERIFY2(notes.join('\n').contains("first 8 of 20 pictures"), qPrintable(notes.join('\n')));
    live.attach();
    QTRY_VERIFY_WITH_TIMEOUT(live.jobs().data()->examples == 0, 60000);
    QCOMPARE(button(), QStringLiteral("pictures"));
}

void TestWindowParts::everyPanelHasANameATitleAndAKeyOfItsOwn()
{
    QSet<QString> names;
    QSet<QString> titles;
    QSet<QString> keys;
    const auto panels = app::allPanels();
    for (const app::Panel &panel : panels) {
        QVERIFY(!panel.name.isEmpty() && !panel.title.isEmpty() && !panel.key.isEmpty() && panel.make);
        names << panel.name;
        titles << panel.title;
        keys << panel.key.toString();
    }
    const auto count = static_cast<qsizetype>(panels.size());
    QCOMPARE(names.size(), count);
    QCOMPARE(titles.size(), count);
    QCOMPARE(keys.size(), count);
}

void TestWindowParts::aViewIsReadBackAsItWasWritten()
{
    const ViewState state{
        false,           true, widgets::ColourBy::Latency,          widgets::Sides::Both,
        {1, 0, 1, 0, 0}, {},   widgets::Camera{0.5, {120, -16.25}}, layout::Detail::Everything};
    const app::ViewTexts texts = app::textsOf(state);
    QCOMPARE(QString::fromStdString(texts.at("live_errors")), "off"); // as sessions of before have it
    QCOMPARE(QString::fromStdString(texts.at("open_blocks")), "5 0 2");
    const ViewState read = app::viewStateOf(texts);
    QVERIFY(read.liveErrors == state.liveErrors && read.liveLatency == state.liveLatency);
    QVERIFY(read.colourBy == state.colourBy && read.sides == state.sides);
    QCOMPARE(read.openBlocks, state.openBlocks);
    QCOMPARE(QString::fromStdString(texts.at("camera")), "0.5 120 -16.25");
    QVERIFY(read.camera == state.camera && read.detail == state.detail);
    QVERIFY(app::textsOf({}).empty());
}

void TestWindowParts::whatSaysNothingSensibleIsAbsent_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::newRow("no number") << "colour_by"
                               << "red";
    QTest::newRow("beyond the last choice") << "sides"
                                            << "3";
    QTest::newRow("negative") << "colour_by"
                              << "-1";
    QTest::newRow("a block that is not there") << "open_blocks"
                                               << "3 0 3";
    QTest::newRow("more blocks than there are") << "open_blocks"
                                                << "1 0 0 0";
    QTest::newRow("far too many") << "open_blocks"
                                  << "99999999999";
    QTest::newRow("a camera without a place") << "camera"
                                              << "0.5 120";
    QTest::newRow("a camera nowhere") << "camera"
                                      << "0.5 nan 1";
    QTest::newRow("a camera far too near") << "camera"
                                           << "1000 1 1";
    QTest::newRow("empty") << "live_errors"
                           << "";
}

void TestWindowParts::whatSaysNothingSensibleIsAbsent()
{
    QFETCH(QString, key);
    QFETCH(QString, text);
    const ViewState read = app::viewStateOf({{key.toStdString(), text.toStdString()}});
    QVERIFY(!read.liveErrors && !read.liveLatency && !read.colourBy && !read.sides && read.openBlocks.empty()
            && !read.camera && !read.detail);
}

void TestWindowParts::whatIsNearlyOverIsNotSaidToBeOver()
{
    LivePictures live(1);
    QStatusBar bar;
    QAction stop(QStringLiteral("Stop"));
    const app::StatusLine line(&bar, &live.jobs(), &stop);
    const auto *const progress = bar.findChild<QProgressBar *>();
    const auto says = [&bar](const QString &text) {
        const auto labels = bar.findChildren<QLabel *>();
        return std::ranges::any_of(labels, [&](const QLabel *label) { return label->text().contains(text); });
    };
    Q_EMIT live.jobs().progressed(0.5, QStringLiteral("comparing layers"), 12);
    QVERIFY(says(QStringLiteral("comparing layers, 12 s left")));
    QCOMPARE(progress->maximum(), 100);
    QCOMPARE(progress->value(), 50);
    Q_EMIT live.jobs().progressed(1, QStringLiteral("comparing layers"), 0);
    QVERIFY(says(QStringLiteral("comparing layers, finishing")));
    QVERIFY(!says(QStringLiteral("0 s left")));
    QCOMPARE(progress->maximum(), 0); // a bar without a share
}

void TestWindowParts::aWarningThatStaysIsToldOnce()
{
    const auto withWarnings = [](const QStringList &texts) {
        auto converted = std::make_shared<mixed::ConvertedModel>();
        for (const QString &text : texts) {
            policy::Warning warning;
            warning.entry = "Convolution";
            warning.text = text.toStdString();
            converted->warnings.push_back(warning);
        }
        session::Snapshot snapshot;
        snapshot.converted = converted;
        return snapshot;
    };
    app::MessageLog log;
    const auto lines
        = [&log] { return log.toPlainText().count('\n') + (log.toPlainText().isEmpty() ? 0 : 1); };
    const session::Snapshot one = withWarnings({"is in two lists"});
    log.addWarnings(&one);
    log.addWarnings(&one);
    QCOMPARE(lines(), 1);
    QVERIFY(log.toPlainText().contains("Convolution is in two lists"));
    const session::Snapshot two = withWarnings({"is in two lists", "is in no model"});
    log.addWarnings(&two);
    QCOMPARE(lines(), 2);
    log.addWarnings(nullptr); // closed
    log.addWarnings(&one);
    QCOMPARE(lines(), 3); // another document
    log.forget();
    const session::Snapshot many
        = withWarnings({"is in two lists, a", "is in two lists, b", "is in two lists, c",
                        "is in two lists, d", "matches no node"});
    log.addWarnings(&many); // those of a kind are folded
    QCOMPARE(lines(), 2);
    QVERIFY2(log.toPlainText().contains("and 3 more warnings of this kind"), qPrintable(log.toPlainText()));
}

QTEST_MAIN(TestWindowParts)
#include "tst_window_parts.moc"
