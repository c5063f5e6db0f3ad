#include "tests/widgets/models/decoder_document.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/plots/block_map.h"
#include "widgets/plots/custom_plot.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <limits>

using namespace halftone;
using namespace halftone::widgets;

/// Blocks of a decoder by what they consist of.
class TestBlockMap : public QObject
{
    Q_OBJECT

private:
    static constexpr int kBlocks = 8;
    static constexpr int kInBlock = 4;

    DocumentController m_controller;

    /// Four layers a block: q, two of attention, and a sum, then one layer outside.
    static QStringList names()
    {
        QStringList names;
        for (int block = 0; block < kBlocks; ++block)
            for (const char *const layer : {"attn/q_proj/MatMul", "attn/Softmax", "attn/Mul", "Add"})
                names << QStringLiteral("/model/layers.%1/%2").arg(block).arg(QLatin1String(layer));
        return names << QStringLiteral("/lm_head/MatMul");
    }
    static std::unique_ptr<session::Document> decoder(const QTemporaryDir &folder)
    {
        QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
        for (const QString &name : names())
            nodes << QString::fromLatin1(R"({"op":"exp","name":"%1","inputs":[[%2,0,0]]})")
                         .arg(name)
                         .arg(nodes.size() - 1);
        QFile file(folder.filePath(QStringLiteral("decoder-symbol.json")));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write the decoder");
        file.write(
            QString::fromLatin1(
                R"({"nodes":[%1],"arg_nodes":[0],"heads":[[%2,0,0]],"attrs":{"mxnet_version":["int",10901]}})")
                .arg(nodes.join(QLatin1Char(',')))
                .arg(nodes.size() - 1)
                .toUtf8());
        file.close();
        auto opened = session::Document::open(file.fileName().toStdString());
        if (!opened.ok())
            qFatal("%s", opened.error().message().c_str());
        return std::move(opened).value();
    }
    graph::NodeId node(const QString &name) const
    {
        return test::nodeNamed(m_controller.snapshot()->graph(), name.toStdString());
    }
    std::unique_ptr<BlockMap> shown()
    {
        auto map = std::make_unique<BlockMap>(&m_controller);
        map->resize(700, 500);
        map->show();
        if (!QTest::qWaitForWindowExposed(map.get()))
            qFatal("no window");
        map->plot()->replot();
        return map;
    }
    static QPoint centreOf(const BlockMap &map, int row, int column)
    {
        return {static_cast<int>(map.plot()->xAxis->coordToPixel(column)),
                static_cast<int>(map.plot()->yAxis->coordToPixel(row))};
    }

private Q_SLOTS:
    void init()
    {
        test::failOnWarnings();
        const QTemporaryDir folder;
        m_controller.setDocument(decoder(folder));
        m_controller.selection().clear();
    }

    void layersAreSortedIntoBlocksAndKinds()
    {
        const BlockGrid grid = blockGrid(names());
        QCOMPARE(grid.blocks.size(), qsizetype{kBlocks});
        QCOMPARE(grid.blocks[3], QStringLiteral("layers.3"));
        QCOMPARE(grid.kinds, QStringList({"attn/q_proj", "attn", ""}));
        QCOMPARE(grid.at(2, 0), std::vector<std::size_t>({8}));
        QCOMPARE(grid.at(2, 1), std::vector<std::size_t>({9, 10}));
        QCOMPARE(grid.at(2, 2), std::vector<std::size_t>({11}));
        QVERIFY(blockGrid({"conv1", "relu", "conv2", "fc"}).isEmpty());
    }

    void blocksAreCalledByTheWordBeforeTheirNumber_data()
    {
        QTest::addColumn<QString>("pattern"); // %1: block, %2: layer
        QTest::addColumn<QString>("third"); // the block with %1 = 13; empty: there are none
        QTest::newRow("ONNX") << "/model/layers.%1/attn/l%2"
                              << "layers.13";
        QTest::newRow("a number before") << "gpt_2.h.%1.mlp.l%2"
                                         << "h.13";
        QTest::newRow("MXNet") << "mobilenetv20_features_bottleneck%1_conv%2_fwd"
                               << "bottleneck13";
        QTest::newRow("numbers of layers") << "MatMul_%1%2" << QString();
    }
    void blocksAreCalledByTheWordBeforeTheirNumber()
    {
        QFETCH(QString, pattern);
        QFETCH(QString, third);
        QStringList names;
        for (int block = 10; block < 20; ++block)
            for (int layer = 0; layer < 5; ++layer)
                names << pattern.arg(block).arg(layer);
        const BlockGrid grid = blockGrid(names);
        QCOMPARE(grid.isEmpty(), third.isEmpty());
        if (!grid.isEmpty())
            QCOMPARE(grid.blocks[3], third);
    }

    void blocksOfTwoKindsHaveDifferentNames()
    {
        QStringList names;
        for (const char *const part : {"encoder", "decoder"})
            for (int block = 0; block < 4; ++block)
                for (int layer = 0; layer < 4; ++layer)
                    names << QStringLiteral("/model/%1/layers.%2/attn/l%3/MatMul")
                                 .arg(QLatin1String(part))
                                 .arg(block)
                                 .arg(layer);
        const BlockGrid grid = blockGrid(names);
        QCOMPARE(grid.blocks.size(), qsizetype{8});
        QCOMPARE(grid.blocks[0], QStringLiteral("encoder/layers.0"));
        QCOMPARE(grid.blocks[4], QStringLiteral("decoder/layers.0"));
    }

    void whatComputesShapesIsNoKind()
    {
        auto document = test::openDecoder({4});
        if (!document)
            QSKIP("this build reads no ONNX models");
        m_controller.setDocument(std::move(document));
        const auto map = shown();
        const QString text = map->csv();
        QVERIFY2(text.contains("layers.3,self_attn/q_proj,"), qPrintable(text));
        QVERIFY2(!text.contains("self_attn/q/length"), qPrintable(text)); // Shape, Gather: integers
    }

    void aCellHasTheWorstErrorAndTheTimeOfItsSteps()
    {
        session::Figures figures;
        figures.comparison = std::make_shared<const walks::CompareOutcome>();
        figures.nodes.resize(m_controller.snapshot()->graph().nodeCount());
        const auto error = [](double sqnrDb) {
            tensor::ErrorFigures one;
            one.sqnrDb = sqnrDb;
            return one;
        };
        session::NodeFigures &softmax = figures.nodes[node(QStringLiteral("/model/layers.5/attn/Softmax"))];
        session::NodeFigures &product = figures.nodes[node(QStringLiteral("/model/layers.5/attn/Mul"))];
        softmax.cumulative = error(10);
        softmax.isolated = error(31); // which counts, where it is known
        product.cumulative = error(44);
        softmax.mixed = session::NodeLatency{20, 3, 1}; // one step for both
        product.mixed = session::NodeLatency{20, 3, 1};
        softmax.fp32 = session::NodeLatency{30, 5, 0};
        product.fp32 = session::NodeLatency{7, 6, 0};
        m_controller.setFigures(figures);
        const auto map = shown();
        QCOMPARE(map->valueAt(5, 1, BlockMap::Error), std::optional(31.0));
        QCOMPARE(map->valueAt(5, 1, BlockMap::Time), std::optional(20.0));
        QCOMPARE(map->valueAt(5, 1, BlockMap::Gain), std::optional(17.0));
        const tensor::DType type
            = m_controller.snapshot()->precisionOf(node(QStringLiteral("/model/layers.5/attn/Softmax")));
        QCOMPARE(map->valueAt(5, 1, BlockMap::Bits),
                 std::optional(8.0 * static_cast<double>(tensor::sizeOf(type))));
        QVERIFY(!map->valueAt(4, 1, BlockMap::Error));
        QVERIFY(map->csv().contains(QStringLiteral("layers.5,attn,2,31,20,")));
        QCOMPARE(map->readOut(), QString());
        map->setQuantity(BlockMap::Bits);
        QVERIFY(map->emptyText().isEmpty());
    }

    void aClickSelectsTheLayersOfACell()
    {
        const auto map = shown();
        QTest::mouseClick(map->plot(), Qt::LeftButton, {}, centreOf(*map, 6, 1));
        QCOMPARE(m_controller.selection().nodes(),
                 std::vector<graph::NodeId>({node(QStringLiteral("/model/layers.6/attn/Softmax")),
                                             node(QStringLiteral("/model/layers.6/attn/Mul"))}));
        QTest::mouseMove(map->plot(), centreOf(*map, 2, 0));
        QTRY_COMPARE(m_controller.selection().hovered(),
                     std::optional(node(QStringLiteral("/model/layers.2/attn/q_proj/MatMul"))));
        QTRY_VERIFY2(map->readOut().startsWith(QStringLiteral("layers.2 \u00b7 attn/q_proj: ")),
                     qPrintable(map->readOut()));
    }

    void withoutFiguresItSaysWhatToDo()
    {
        const auto map = shown();
        QVERIFY(map->emptyText().isEmpty()); // the blocks are there to be selected
        QVERIFY(map->readOut().contains(QStringLiteral("errors")));
        map->setQuantity(BlockMap::Time);
        QVERIFY(map->readOut().contains(QStringLiteral("latency")));
        m_controller.setDocument(test::openSample()); // no blocks
        QVERIFY(map->emptyText().contains(QStringLiteral("blocks")));
        m_controller.setDocument(nullptr);
        QVERIFY(map->emptyText().startsWith(QStringLiteral("Open a model")));
    }
};

QTEST_MAIN(TestBlockMap)
#include "tst_block_map.moc"
