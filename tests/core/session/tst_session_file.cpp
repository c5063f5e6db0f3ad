#include "core/session/journal.h"
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
        session.data->metric = jobs::Metric::MeanIou;
        const std::string text = session::sessionText(session, folder.path().toStdString());
        QVERIFY(QString::fromStdString(text).contains("\"targets\": \"masks\""));
        const auto read = session::parseSession(text, folder.path().toStdString());
        QVERIFY(read.ok());
        QVERIFY(read.value().data == session.data);
        const QString wrong = QString::fromStdString(text).replace("\"miou\"", "\"f1\"");
        const auto refused = session::parseSession(wrong.toStdString(), folder.path().toStdString());
        QVERIFY(!refused.ok());
        QCOMPARE(QString::fromStdString(refused.error().message()),
                 QStringLiteral("data.metric: \"f1\", expected top1, top5, miou, psnr or cosine"));
    }

    void whatDoesNotFitIsNamed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("message");
        const auto row = [](const char *text, const char *message) {
            QTest::newRow(text) << QByteArray(text) << QString(message);
        };
        row("", "no JSON, expected a session file");
        row("[1]", "$: array, expected an object");
        row(R"({"halftone":2})", "halftone: format version 2, expected 1");
        row(R"({"halftone":1})", "model: nothing, expected a value");
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
            std::vector<std::string> paths;
            for (const char *name : names)
                paths.push_back(folder.filePath(name).toStdString());
            return contentHash(paths).value();
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
            QVERIFY2(!Journal::read(path).ok(), broken);
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
        const jobs::ExampleOptions pictures{"/data/faces", "/data/preprocess.json", "/data/labels.csv", 64,
                                            "/data/masks", jobs::Metric::MeanIou};
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
            QVERIFY2(!Journal::read(path).ok(), broken);
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
        const QByteArray start = QByteArray::fromStdString(sessionText(example(folder.path()), "/", true));
        for (const QByteArray &rest :
             {QByteArray("{\"session\":1}\n"), QByteArray("{\"session\":\"\"}\n[]\n"),
              QByteArray("{\"session\":\"\"}\n{\"redo\":1}\n{\"redo\":1}\n")}) {
            write(path, start + rest);
            QVERIFY(!Journal::read(path.toStdString()).ok());
        }
    }
};

QTEST_APPLESS_MAIN(TestSessionFile)
#include "tst_session_file.moc"
