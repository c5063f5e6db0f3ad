#include "tests/widgets/models/sample_document.h"
#include "widgets/common/edit_effects.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using namespace halftone::widgets;

/// What edits would do is worked out beside the window's thread where a conversion takes a while.
class TestEditEffects : public QObject
{
    Q_OBJECT

private:
    using Effects = std::vector<session::EditEffect>;

    static policy::Edit toFp32(const char *op) { return policy::MoveOperators{{op}, policy::List::Fp32}; }

    /// A chain of more nodes than are converted at once.
    std::unique_ptr<session::Document> longChain()
    {
        constexpr int kNodes = 12000;
        QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
        for (int k = 0; k < kNodes; ++k)
            nodes << QString::fromLatin1(R"({"op":"%1","name":"n%2","inputs":[[%2,0,0]]})")
                         .arg(QLatin1String(k % 2 == 0 ? "relu" : "tanh"))
                         .arg(k);
        const QString path = m_folder.filePath(QStringLiteral("long-symbol.json"));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("no file");
        file.write(QStringLiteral(R"({"nodes":[%1],"arg_nodes":[0],"heads":[[%2,0,0]]})")
                       .arg(nodes.join(','))
                       .arg(kNodes)
                       .toUtf8());
        file.close();
        auto opened = session::Document::open(path.toStdString());
        if (!opened.ok())
            qFatal("%s", opened.error().message().c_str());
        return std::move(opened).value();
    }

    QTemporaryDir m_folder;

private Q_SLOTS:
    void aSmallModelAnswersAtOnce()
    {
        DocumentController controller;
        controller.setDocument(test::openSample());
        EditEffects effects(&controller);
        Effects told;
        effects.ask({toFp32("Convolution"), toFp32("softmax")}, [&](const Effects &known) { told = known; });
        QVERIFY(!effects.isAsking());
        QCOMPARE(told.size(), std::size_t{2});
        QCOMPARE(told[0].nodesChanged,
                 session::Document::effectOf(*controller.snapshot(), toFp32("Convolution")).nodesChanged);
    }

    void aLargeModelAnswersLaterAndOnlyTheNewestQuestion()
    {
        DocumentController controller;
        controller.setDocument(longChain());
        QTRY_VERIFY(!controller.isDeriving());
        QVERIFY(controller.snapshot()->converted && !controller.convertsAtOnce());
        EditEffects effects(&controller);
        int first = 0;
        Effects second;
        effects.ask({toFp32("relu")}, [&](const Effects &) { ++first; });
        QVERIFY(effects.isAsking());
        effects.ask({toFp32("tanh")}, [&](const Effects &known) { second = known; });
        QVERIFY(second.empty()); // this thread has not waited
        QTRY_COMPARE(second.size(), std::size_t{1});
        QCOMPARE(first, 0);
        QCOMPARE(second[0].nodesChanged,
                 session::Document::effectOf(*controller.snapshot(), toFp32("tanh")).nodesChanged);

        // An edit that comes first leaves a question of the state before unanswered.
        effects.ask({toFp32("relu")}, [&](const Effects &) { ++first; });
        QVERIFY(controller.apply(toFp32("tanh")));
        QTRY_VERIFY(!controller.isDeriving());
        QTest::qWait(50);
        QVERIFY(!effects.isAsking());
    }
};

QTEST_MAIN(TestEditEffects)
#include "tst_edit_effects.moc"
