#include "core/session/journal.h"
#include "core/session/session_difference.h"
#include "core/session/session_file.h"

#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using namespace halftone::session;

namespace {

SessionFile example(const QString &folder)
{
    SessionFile file;
    file.modelPath = folder.toStdString() + "/net-symbol.json";
    file.paramsPath = "/elsewhere/net-0000.params";
    file.modelHash = 0x0123456789abcdefU;
    policy::Policy edited;
    edited.excludedNames = {"conv0", "/stage4/"};
    edited.moves = {{"softmax", policy::Policy::Move::To::Neutral}};
    file.history = {{{policy::Policy(), ""}, {edited, "Exclude 2 nodes"}}, 1};
    file.data.emplace();
    file.data->inputs = folder.toStdString() + "/data/x.npz";
    file.data->examples = 32;
    file.view = {{"graph", "zoom=1.5"}};
    file.results = R"({"latency":{"native":true}})";
    return file;
}

void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

} // namespace

class TestSessionFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsWrittenIsRead()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("a.halftone").toStdString();
        const SessionFile file = example(folder.path());
        QVERIFY(writeSession(file, path).ok());
        const auto read = readSession(path);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        QVERIFY(read.value() == file);
    }

    void aFolderMayMoveWithItsModel()
    {
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkdir("old"));
        QVERIFY(writeSession(example(folder.filePath("old")), folder.filePath("old/a.halftone").toStdString())
                    .ok());
        QVERIFY(QDir(folder.path()).rename("old", "new"));
        const auto read = readSession(folder.filePath("new/a.halftone").toStdString());
        QVERIFY(read.ok());
        QCOMPARE(read.value().modelPath, folder.filePath("new/net-symbol.json").toStdString());
        QCOMPARE(read.value().data->inputs, folder.filePath("new/data/x.npz").toStdString());
        QCOMPARE(read.value().paramsPath, std::string("/elsewhere/net-0000.params"));
    }

    void targetsAndMetricAreKept()
    {
        const QTemporaryDir folder;
        SessionFile session = example(folder.path());
        session.data->targets = folder.filePath("masks").toStdString();
        session.data->metric = tasks::Metric::MeanIou;
        const std::string text = session::sessionText(session, folder.path().toStdString());
        QVERIFY(QString::fromStdString(text).contains("\"targets\": \"masks\""));
        const auto read = session::parseSession(text, folder.path().toStdString());
        QVERIFY(read.ok());
        QVERIFY(read.value().data == session.data);
        const QString wrong = QString::fromStdString(text).replace("\"miou\"", "\"f1\"");
        const auto refused = session::parseSession(wrong.toStdString(), folder.path().toStdString());
        QVERIFY(!refused.ok());
        QCOMPARE(
            QString::fromStdString(refused.error().message()),
            QStringLiteral("data.metric: \"f1\", expected top1, top5, miou, psnr, cosine or perplexity"));
    }

    void whatDoesNotFitIsNamed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("message");
        const auto row = [](const char *text, const char *message) {
            QTest::newRow(text) << QByteArray(text) << QString(message);
        };
        row("", "not JSON, expected a session file");
        row("[1]", "$: array, expected an object");
        row(R"({"halftone":2})", "halftone: format version 2, expected 1");
        row(R"({"halftone":1})", "model: missing, expected a value");
        row(R"({"halftone":1,"model":{"symbol":7}})", "model.symbol: number, expected a text");
        row(R"({"halftone":1,"model":{"symbol":"a","hash":"xy"}})",
            "model.hash: xy, expected 16 hexadecimal digits");
        row(R"({"halftone":1,"model":{"symbol":"a"},"history":[]})",
            "history: an empty list, expected a list of one or more states");
        row(R"({"halftone":1,"model":{"symbol":"a"},"history":[{"policy":{},"what":""}],"current":1})",
            "current: 1, expected less than 1");
        row(R"({"halftone":1,"model":{"symbol":"a"},"history":[{"policy":{"fp32_ops":3},"what":""}],"current":0})",
            "history[0].policy.fp32_ops");
    }
    void whatDoesNotFitIsNamed()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, message);
        const QTemporaryDir folder;
        const QString path = folder.filePath("bad.halftone");
        write(path, text);
        const auto read = readSession(path.toStdString());
        QVERIFY(!read.ok());
        const QString found = QString::fromStdString(read.error().message());
        QVERIFY2(found.startsWith(path + ": " + message), qPrintable(found));
    }

    void theHashIsThatOfTheDefinition()
    {
        // Test vectors of the draft: FNV-1a of "a" and "foobar".
        const QTemporaryDir folder;
        write(folder.filePath("a"), "a");
        write(folder.filePath("f"), "foobar");
        write(folder.filePath("foo"), "foo");
        write(folder.filePath("bar"), "bar");
        const auto hash = [&folder](const std::vector<const char *> &names) {
            std::vector<std::shared_ptr<const MappedFile>> files;
            for (const char *name : names)
                files.push_back(MappedFile::open(folder.filePath(name).toStdString()).value());
            return contentHash(files);
        };
        QCOMPARE(hash({"a"}), std::uint64_t{0xaf63dc4c8601ec8c});
        QCOMPARE(hash({"f"}), std::uint64_t{0x85944171f73967e8});
        QCOMPARE(hash({"foo", "bar"}), hash({"f"}));
    }

    void aJournalGivesEveryStepBack()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("j").toStdString();
        Journal::Head head{example(folder.path()), "/somewhere/a.halftone"};
        auto journal = Journal::create(path, head);
        QVERIFY(journal.ok());
        QVERIFY(Journal::read(path).value() == head);

        policy::Policy next = head.state.history.entries[1].policy;
        next.excludedNames = {"conv7"};
        QVERIFY(journal.value().undone().ok());
        QVERIFY(journal.value().redone().ok());
        QVERIFY(journal.value().undone().ok());
        QVERIFY(journal.value().edited({next, "Exclude conv7"}).ok());
        head.state.history = {{head.state.history.entries[0], {next, "Exclude conv7"}}, 1};
        head.steps = 4;
        QVERIFY(Journal::read(path).value() == head);
    }

    void theViewIsTheLastOneNoted()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("a.journal").toStdString();
        Journal::Head head;
        head.state = example(folder.path());
        auto journal = Journal::create(path, head);
        QVERIFY(journal.ok());
        QVERIFY(journal.value().viewChanged({{"open_blocks", "3 0"}}).ok());
        QVERIFY(journal.value().undone().ok());
        QVERIFY(journal.value().viewChanged({{"open_blocks", "3 0 1"}, {"sides", "2"}}).ok());
        const auto read = Journal::read(path);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        QCOMPARE(read.value().state.view,
                 (std::map<std::string, std::string>{{"open_blocks", "3 0 1"}, {"sides", "2"}}));
        QCOMPARE(read.value().steps, std::size_t{1});
        for (const char *broken : {"{\"view\":3}\n", "{\"view\":{\"sides\":2}}\n", "{\"view\":[\"a\"]}\n"}) {
            QFile file(QString::fromStdString(path));
            QVERIFY(file.open(QIODevice::Append));
            file.write(broken);
            file.close();
            const auto kept = Journal::read(path);
            QVERIFY2(kept.ok() && kept.value().lost.size() == 1, broken);
            QVERIFY(kept.value().lost[0].find(".view") != std::string::npos);
            QVERIFY(Journal::create(path, head).ok());
        }
    }

    void theDataAreTheLastOnesNoted()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("a.journal").toStdString();
        Journal::Head head{example(folder.path()), ""};
        auto journal = Journal::create(path, head);
        QVERIFY(journal.ok());
        const walks::ExampleOptions pictures{"/data/faces", "/data/preprocess.json", "/data/labels.csv", 64,
                                             "/data/masks", tasks::Metric::MeanIou};
        QVERIFY(journal.value().dataAttached({"/data/first.npz", "", "", 0}).ok());
        QVERIFY(journal.value().undone().ok());
        QVERIFY(journal.value().dataAttached(pictures).ok());
        const auto read = Journal::read(path);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        QVERIFY(read.value().state.data == pictures);
        QCOMPARE(read.value().steps, std::size_t{1}); // what can be attached again is no edit
        QVERIFY(read.value().hasOtherData);
        for (const char *broken :
             {"{\"data\":3}\n", "{\"data\":{\"inputs\":\"a\"}}\n",
              "{\"data\":{\"inputs\":\"a\",\"preprocess\":\"\",\"labels\":\"\",\"examples\":-1}}\n",
              "{\"data\":{\"inputs\":\"a\",\"preprocess\":\"\",\"labels\":\"\",\"examples\":1,\"metric\":"
              "\"f1\"}}\n"}) {
            QVERIFY(Journal::create(path, head).ok());
            QFile file(QString::fromStdString(path));
            QVERIFY(file.open(QIODevice::Append));
            file.write(broken);
            file.close();
            const auto kept = Journal::read(path);
            QVERIFY2(kept.ok() && kept.value().lost.size() == 1, broken);
            QVERIFY(kept.value().state.data == head.state.data);
        }
    }

    void cutAnywhereAJournalLosesItsLastStepAtMost()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath("j");
        const Journal::Head head{example(folder.path()), ""};
        std::vector<QByteArray> states; // the file after each step
        std::vector<History> histories{head.state.history};
        const auto contents = [&path] {
            QFile file(path);
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        auto journal = Journal::create(path.toStdString(), head);
        QVERIFY(journal.ok());
        states.push_back(contents());
        for (int i = 0; i < 8; ++i) {
            policy::Policy policy;
            policy.excludedNames = {"node" + std::to_string(i)};
            QVERIFY(journal.value().edited({policy, "step"}).ok());
            History history = histories.back();
            history.entries.push_back({policy, "step"});
            ++history.current;
            histories.push_back(history);
            states.push_back(contents());
        }
        const QByteArray whole = states.back();
        for (qsizetype length = states.front().size(); length <= whole.size(); ++length) {
            write(path, whole.left(length));
            std::size_t steps = 0;
            while (steps + 1 < states.size() && states[steps + 1].size() <= length)
                ++steps;
            const auto read = Journal::read(path.toStdString());
            QVERIFY2(read.ok(), qPrintable(QString::number(length)));
            QVERIFY(read.value().state.history == histories[steps]);
            const bool isTorn = length > states[steps].size();
            QCOMPARE(read.value().lost,
                     isTorn ? std::vector{"line " + std::to_string(steps + 3) + ": torn"}
                            : std::vector<std::string>());
        }
    }

    void garbageIsNoJournal()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath("j");
        for (const QByteArray &text :
             {QByteArray(), QByteArray("x\n"), QByteArray("{}\n{}\n"), QByteArray("\n\n\n")}) {
            write(path, text);
            QVERIFY(!Journal::read(path.toStdString()).ok());
        }
        QByteArray newer = QByteArray::fromStdString(sessionText(example(folder.path()), "/", true));
        newer.replace("\"halftone\":1", "\"halftone\":2");
        write(path, newer + "{\"session\":\"\"}\n");
        const auto read = Journal::read(path.toStdString());
        QVERIFY(!read.ok());
        QCOMPARE(read.error().message(), path.toStdString() + ": halftone: format version 2, expected 1");
    }

    void whatIsNotUnderstoodIsNamedAndTheRestTaken_data()
    {
        QTest::addColumn<QByteArray>("rest");
        QTest::addColumn<QString>("lost");
        QTest::addColumn<bool>("isEdited");
        const QByteArray session("{\"session\":\"\"}\n");
        const QByteArray edit("{\"policy\":{\"fp32_ops\":[\"conv\"]},\"what\":\"edit\"}\n");
        QTest::newRow("no path") << "{\"session\":1}\n" + edit << "line 2.session: number, expected a text"
                                 << true;
        QTest::newRow("no object") << session + "[]\n" + edit << "line 3: array, expected an object" << true;
        QTest::newRow("no JSON") << session + "{\"pol\n" + edit << "line 3: not JSON" << true;
        QTest::newRow("torn") << session + edit + "{\"undo\""
                              << "line 4: torn" << true;
        QTest::newRow("nothing to redo") << session + "{\"redo\":1}\n"
                                         << "line 3: a redo without an undo" << false;
        QTest::newRow("a newer kind")
            << session + "{\"zoom\":2}\n" + edit
            << "line 3: the keys zoom, expected those of an edit, undo, redo, view or data" << true;
        QTest::newRow("a newer key") << session + "{\"undo\":1,\"times\":2}\n"
                + edit << "line 3: the keys undo, times, expected those of an edit, undo, redo, view or data"
                                     << true;
        QTest::newRow("a newer list") << session + "{\"policy\":{\"fp6_ops\":[]},\"what\":\"a\"}\n" + edit
                                      << "line 3.policy.the policy: unknown key \"fp6_ops\"" << true;
    }
    void whatIsNotUnderstoodIsNamedAndTheRestTaken()
    {
        QFETCH(QByteArray, rest);
        QFETCH(QString, lost);
        QFETCH(bool, isEdited);
        const QTemporaryDir folder;
        const QString path = folder.filePath("j");
        write(path, QByteArray::fromStdString(sessionText(example(folder.path()), "/", true)) + rest);
        const auto read = Journal::read(path.toStdString());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        QCOMPARE(read.value().lost.size(), std::size_t{1});
        const QString said = QString::fromStdString(read.value().lost[0]);
        QVERIFY2(said.startsWith(lost), qPrintable(said));
        QCOMPARE(read.value().state.history.entries.back().what == "edit", isEdited);
    }

    /// Journals as a killed program left them; of one of them the version was raised.
    void journalsOfKilledProgramsAreReadWhole()
    {
        const QDir shared(qEnvironmentVariable("HALFTONE_SHARED") + QStringLiteral("/fixtures/hostile"));
        if (!qEnvironmentVariableIsSet("HALFTONE_SHARED") || !shared.exists("journal_good.journal"))
            QSKIP("HALFTONE_SHARED names no folder with fixtures/hostile");
        const auto good = Journal::read(shared.filePath("journal_good.journal").toStdString());
        QVERIFY2(good.ok(), good.ok() ? "" : good.error().message().c_str());
        QVERIFY(good.value().lost.empty());
        QVERIFY(good.value().steps > 0);
        const auto newer = Journal::read(shared.filePath("journal_version2.journal").toStdString());
        QVERIFY(!newer.ok());
        QVERIFY(newer.error().message().find("format version 2, expected 1") != std::string::npos);
    }

    void aKeyOfTheHeadThatIsNotKnownIsNamed()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath("j");
        QByteArray text = QByteArray::fromStdString(sessionText(example(folder.path()), "/", true));
        text.replace("\"halftone\":1", "\"halftone\":1,\"notes\":[]");
        write(path, text + "{\"session\":\"\"}\n");
        const auto read = Journal::read(path.toStdString());
        QVERIFY(read.ok());
        QCOMPARE(read.value().lost, std::vector<std::string>{"line 1: the key notes"});
    }

    void stepsThatWereNotSavedAreCountedOn()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("j").toStdString();
        Journal::Head head{example(folder.path()), "/a.halftone", 17, 3};
        auto journal = Journal::create(path, head);
        QVERIFY(journal.ok());
        QVERIFY(journal.value().undone().ok());
        QCOMPARE(Journal::read(path).value().steps, std::size_t{4});
        QVERIFY(Journal::read(path).value().sessionHash == std::uint64_t{17});
    }

    // Paths are bytes; these are no UTF-8.
    void pathsThatAreNoTextComeBack()
    {
        const QTemporaryDir folder;
        const std::string odd = folder.path().toStdString() + "/m\xff\xc3.onnx";
        SessionFile session = example(folder.path());
        session.modelPath = odd;
        session.data->inputs = odd;
        const std::string path = folder.filePath("a.halftone").toStdString();
        QVERIFY(writeSession(session, path).ok());
        QVERIFY(readSession(path).value() == session);

        Journal::Head head{session, odd};
        auto journal = Journal::create(path, head);
        QVERIFY(journal.ok());
        QVERIFY(journal.value().dataAttached({odd + "2", "", "", 0}).ok());
        const auto read = Journal::read(path);
        QVERIFY2(read.ok() && read.value().lost.empty(), read.ok() ? "" : read.error().message().c_str());
        QCOMPARE(read.value().sessionPath, odd);
        QCOMPARE(read.value().state.modelPath, odd);
        QCOMPARE(read.value().state.data->inputs, odd + "2");
    }

    void whatTwoSessionsSayDifferentlyIsTold()
    {
        const QTemporaryDir folder;
        const SessionFile here = example(folder.path());
        QVERIFY(differencesOf(here, here).empty());
        SessionFile there = here;
        policy::Policy policy = here.history.entries[here.history.current].policy;
        policy.excludedNames.push_back("conv9");
        there.history.entries.resize(there.history.current + 1);
        there.history.entries.push_back({policy, "Exclude conv9"});
        ++there.history.current;
        there.data->examples += 5;
        there.view["sides"] = "other";
        const std::vector<SessionDifference> differences = differencesOf(there, here);
        const auto told = [&differences](const char *what) {
            const auto found = std::ranges::find(differences, what, &SessionDifference::what);
            return found == differences.end() ? SessionDifference() : *found;
        };
        QCOMPARE(differences.size(), std::size_t{4});
        QCOMPARE(told("edits").there, std::string("Exclude conv9"));
        QCOMPARE(told("edits").here, std::string());
        QCOMPARE(told("excluded_sym_names").there, std::string("conv9"));
        QCOMPARE(told("data: examples").there, std::to_string(there.data->examples));
        QCOMPARE(told("data: examples").here, std::to_string(here.data->examples));
        QCOMPARE(told("view: sides").there, std::string("other"));
    }
};

QTEST_APPLESS_MAIN(TestSessionFile)
#include "tst_session_file.moc"
