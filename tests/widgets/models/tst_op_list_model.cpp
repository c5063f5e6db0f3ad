#include "tests/support/typed/random.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/models/list_removal.h"
#include "widgets/models/op_list_model.h"

#include <QAbstractItemModel>
#include <QAbstractItemModelTester>
#include <QFile>
#include <QMimeData>
#include <QModelIndex>
#include <QPersistentModelIndex>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using namespace halftone::widgets;

class TestOpListModel : public QObject
{
    Q_OBJECT

private:
    static QStringList names(const OpListModel &model, ListId list)
    {
        QStringList names;
        const QModelIndex parent = model.listIndex(list);
        for (int row = 0; row < model.rowCount(parent); ++row)
            names << model.index(row, 0, parent).data().toString();
        return names;
    }

private Q_SLOTS:
    void init() { test::failOnWarnings(); }

    void listsAreThereWithoutAModel()
    {
        OpListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 7);
        model.setSnapshot(nullptr);
        QCOMPARE(model.rowCount(model.listIndex(ListId::Target)), 0);
    }

    void showsTheSample()
    {
        const auto document = test::openSample();
        QVERIFY(document);
        OpListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(test::snapshotOf(*document));
        QCOMPARE(names(model, ListId::Target), QStringList({"Convolution", "FullyConnected"}));
        QCOMPARE(model.listIndex(ListId::Target).data().toString(), QStringLiteral("float16"));
        const QModelIndex convolution = model.indexOf(ListId::Target, "Convolution");
        QCOMPARE(convolution.siblingAtColumn(OpListModel::Nodes).data().toInt(), 6);
        QCOMPARE(convolution.siblingAtColumn(OpListModel::Origin).data().toString(),
                 QStringLiteral("built-in"));
    }

    /// What a list means, with the target's own name, and what it decides; of an entry its whole name.
    void toolTipsTellWhatListsMeanAndEntriesDecide()
    {
        const auto document = test::openSample();
        QVERIFY(document);
        OpListModel model;
        model.setSnapshot(test::snapshotOf(*document));
        QStringList tips;
        for (const ListId list : kAllLists) {
            const QModelIndex index = model.listIndex(list);
            tips << index.data(Qt::ToolTipRole).toString();
            QVERIFY2(tips.back().contains(QStringLiteral("%1 entries, governing %2 nodes")
                                              .arg(model.rowCount(index))
                                              .arg(index.siblingAtColumn(OpListModel::Nodes).data().toInt())),
                     qPrintable(tips.back()));
            tips.back() = tips.back().section(QLatin1Char('\n'), 0, 0);
            QVERIFY(!tips.back().isEmpty());
            for (int row = 0; row < model.rowCount(index); ++row) {
                const QModelIndex entry = model.index(row, OpListModel::Name, index);
                const QString told = entry.data(Qt::ToolTipRole).toString();
                QVERIFY2(told.startsWith(QString(entry.data().toString()).remove(" (node)")),
                         qPrintable(told));
            }
        }
        QCOMPARE(tips.removeDuplicates(), 0);
        QVERIFY(tips[int(ListId::Target)].contains(QStringLiteral("float16")));
        QVERIFY(model.indexOf(ListId::Target, "Convolution")
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("6 nodes")));
    }

    void anEditMovesSingleRowsAndKeepsOthers()
    {
        const auto document = test::openSample();
        OpListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(test::snapshotOf(*document));
        const QPersistentModelIndex kept = model.indexOf(ListId::Fp32, "softmax");
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        QSignalSpy inserts(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy removes(&model, &QAbstractItemModel::rowsRemoved);

        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        model.setSnapshot(test::snapshotOf(*document));

        QCOMPARE(resets.count(), 0);
        QCOMPARE(inserts.count(), 1);
        QCOMPARE(removes.count(), 1);
        QCOMPARE(names(model, ListId::Target), QStringList({"FullyConnected"}));
        QCOMPARE(kept.data().toString(), QStringLiteral("softmax"));
    }

    void randomEditsLeaveWhatAFreshModelShows()
    {
        const auto document = test::openSample();
        OpListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        test::Random random(7);
        const std::vector<std::string> ops{"Convolution", "BatchNorm", "softmax", "square",
                                           "RNN",         "Pooling",   "exp"};
        const std::vector<std::string> nodes{"fc", "stem_conv", "prob", "/stage1/", "/stage/", "absent"};
        for (int round = 0; round < 100; ++round) {
            const std::size_t kind = random.below(6);
            if (kind < 3)
                (void)document
                    ->apply(policy::MoveOperators{
                        {random.oneOf(ops)},
                        random.oneOf(
                            std::vector{policy::List::Target, policy::List::Fp32, policy::List::Neutral})})
                    .ok();
            else if (kind == 3)
                (void)document->apply(policy::ExcludeNames{{random.oneOf(nodes)}}).ok();
            else if (kind == 4)
                (void)document->apply(policy::OverrideNodes{{random.oneOf(nodes)}, tensor::DType::F32}).ok();
            else if (document->canUndo())
                document->undo();
            if (random.chance(20))
                model.setFilter({.everyOperator = random.chance(50),
                                 .text = random.chance(50) ? QStringLiteral("o") : QString()});
            model.setSnapshot(test::snapshotOf(*document));
            OpListModel fresh;
            fresh.setFilter(model.filter());
            fresh.setSnapshot(test::snapshotOf(*document));
            for (const ListId list : kAllLists)
                QCOMPARE(names(model, list), names(fresh, list));
        }
    }

    /// More than eight nodes of one operator that are set one by one share a row, which moves, is removed and opens as one.
    void manyNodesOfOneKindShareARow()
    {
        const QTemporaryDir folder;
        QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
        std::vector<std::string> names;
        for (int k = 0; k < 12; ++k) {
            names.push_back("layers_" + std::to_string(k) + "_act");
            nodes << QString::fromLatin1(R"({"op":"%1","name":"%2","inputs":[[%3,0,0]]})")
                         .arg(QLatin1String(k < 10 ? "relu" : "tanh"), QString::fromStdString(names.back()))
                         .arg(k);
        }
        const QString path = folder.filePath(QStringLiteral("many-symbol.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QStringLiteral(R"({"nodes":[%1],"arg_nodes":[0],"heads":[[12,0,0]]})")
                       .arg(nodes.join(','))
                       .toUtf8());
        file.close();
        auto opened = session::Document::open(path.toStdString());
        QVERIFY(opened.ok());
        const auto document = std::move(opened).value();
        QVERIFY(document->apply(policy::ExcludeNames{names}).ok());
        OpListModel model;
        model.setSnapshot(test::snapshotOf(*document));
        const QModelIndex list = model.listIndex(ListId::Excluded);
        QCOMPARE(model.rowCount(list), 3); // ten relu, and two tanh that have a row each
        const QModelIndex row = model.indexOf(ListId::Excluded, names[4]);
        const ListEntry group = *model.entryAt(row);
        QCOMPARE(group.kind, ListEntry::Kind::Nodes);
        QCOMPARE(group.members.size(), std::size_t{10});
        QCOMPARE(group.nodes, std::size_t{10});
        QVERIFY(row.data().toString().contains(QStringLiteral("10 nodes")));
        QVERIFY(row.data(Qt::ToolTipRole).toString().contains(QString::fromStdString(names[0])));
        QCOMPARE(model.payloadAt({row}).nodes.size(), std::size_t{10});

        model.setOpened(ListId::Excluded, "relu", true);
        QCOMPARE(model.rowCount(list), 12);
        QCOMPARE(model.entryAt(model.indexOf(ListId::Excluded, names[4]))->kind, ListEntry::Kind::Node);
        model.setOpened(ListId::Excluded, "relu", false);
        QCOMPARE(model.rowCount(list), 3);
        model.setFilter({.text = QStringLiteral("layers_7")}); // what is looked for is seen itself
        QCOMPARE(model.rowCount(list), 1);

        const auto removal = removalOf(*test::snapshotOf(*document), {{ListId::Excluded, group}});
        QVERIFY(removal && document->apply(*removal).ok());
        QCOMPARE(document->policy().excludedNames, (std::vector<std::string>{names[10], names[11]}));
    }

    void draggingWritesOperatorsAndNodesALine()
    {
        const auto document = test::openSample();
        QVERIFY(document->apply(policy::ExcludeNames{{"fc", "/bn/"}}).ok());
        OpListModel model;
        model.setSnapshot(test::snapshotOf(*document));
        const std::unique_ptr<QMimeData> mime(model.mimeData(
            {model.indexOf(ListId::Target, "Convolution"), model.indexOf(ListId::Fp32, "softmax"),
             model.indexOf(ListId::Excluded, "fc"), model.indexOf(ListId::Excluded, "/bn/")}));
        QVERIFY(mime);
        QCOMPARE(mime->data(kOpsMime), QByteArray("Convolution\nsoftmax"));
        QCOMPARE(mime->data(kNodesMime), QByteArray("fc"));
        QVERIFY(!model.flags(model.indexOf(ListId::Excluded, "/bn/")).testFlag(Qt::ItemIsDragEnabled));
    }

    void aDropIsToldAndChangesNothing()
    {
        const auto document = test::openSample();
        OpListModel model;
        model.setSnapshot(test::snapshotOf(*document));
        QSignalSpy drops(&model, &OpListModel::dropped);
        const std::unique_ptr<QMimeData> mime(model.mimeData({model.indexOf(ListId::Target, "Convolution")}));
        QVERIFY(!model.dropMimeData(mime.get(), Qt::MoveAction, -1, -1, model.listIndex(ListId::Fp32)));
        QCOMPARE(drops.count(), 1);
        QCOMPARE(drops.front().at(0).value<ListPayload>().ops, std::vector<std::string>{"Convolution"});
        QCOMPARE(drops.front().at(1).value<ListId>(), ListId::Fp32);
        QCOMPARE(names(model, ListId::Target), QStringList({"Convolution", "FullyConnected"}));
        // It is there already.
        QVERIFY(!model.canDropMimeData(mime.get(), Qt::MoveAction, -1, -1, model.listIndex(ListId::Target)));
    }

    void targetsAreMarkedWhileDragging()
    {
        OpListModel model;
        QVERIFY(!model.listIndex(ListId::Fp32).data(OpListModel::TakesDropRole).isValid());
        model.markTargets(std::array{false, false, true, false, false, false, false});
        QCOMPARE(model.listIndex(ListId::Fp32).data(OpListModel::TakesDropRole), QVariant(true));
        QCOMPARE(model.listIndex(ListId::Target).data(OpListModel::TakesDropRole), QVariant(false));
        model.markTargets(std::nullopt);
        QVERIFY(!model.listIndex(ListId::Fp32).data(OpListModel::TakesDropRole).isValid());
    }
};

QTEST_MAIN(TestOpListModel)
#include "tst_op_list_model.moc"
