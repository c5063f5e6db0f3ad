#include "tests/widgets/models/decoder_document.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/common/short_names.h"
#include "widgets/common/table_copy.h"
#include "widgets/tables/layers_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLatin1Char>
#include <QLineEdit>
#include <QScrollBar>
#include <QSet>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace halftone;
using namespace halftone::widgets;

class TestLayersTable : public QObject
{
    Q_OBJECT

private:
    struct Shown
    {
        Shown()
            : table(&controller)
        {
            controller.setDocument(test::openSample());
            session::Figures figures;
            figures.nodes.resize(controller.snapshot()->graph().nodeCount());
            figures.comparisonRevision = controller.snapshot()->revision;
            tensor::ErrorFigures error;
            error.sqnrDb = 12.3456789;
            error.relativeL2 = 0.25;
            figures.nodes[node("prob")].cumulative = error;
            controller.setFigures(figures);
            table.resize(1200, 400);
            table.show();
        }
        graph::NodeId node(const char *name) const
        {
            return test::nodeNamed(controller.snapshot()->graph(), name);
        }
        int rowOf(const char *name) const
        {
            return table.proxy()
                ->mapFromSource(table.model()->index(table.model()->rowOf(node(name)), 0))
                .row();
        }

        DocumentController controller;
        LayersTable table;
    };

private Q_SLOTS:
    void init() { test::failOnWarnings(); }

    void constantsAreRowsOnlyWhereTheyAreAskedFor()
    {
        auto decoder = test::openDecoder({.blocks = 1});
        if (!decoder)
            QSKIP("this build has no ONNX");
        Shown shown;
        shown.controller.setDocument(std::move(decoder));
        const graph::Graph &graph = shown.controller.snapshot()->graph();
        int layers = 0;
        int constants = 0;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            layers += graph.isVariable(id) ? 0 : 1;
            constants += graph.node(id).op == "Constant" ? 1 : 0;
        }
        QVERIFY(constants > 20);
        const auto rows = [&] { return shown.table.proxy()->rowCount(); };
        QCOMPARE(rows(), layers - constants);
        shown.table.setFilterText(QStringLiteral("op = Constant"));
        QCOMPARE(rows(), 0);
        shown.controller.selection().set(shown.node("/model/causal_mask")); // of which there is no row
        shown.table.setConstantsShown(true);
        QCOMPARE(rows(), constants);
        QVERIFY(shown.table.view()->selectionModel()->isRowSelected(shown.rowOf("/model/causal_mask")));
        shown.table.setFilterText({});
        QCOMPARE(rows(), layers);
        shown.table.setConstantsShown(false);
        QCOMPARE(rows(), layers - constants);
    }

    void aRowUnderTheMouseIsMarkedEverywhere()
    {
        Shown shown;
        QVERIFY(QTest::qWaitForWindowExposed(&shown.table));
        Selection &selection = shown.controller.selection();
        QTableView *const view = shown.table.view();
        const auto cell = [&](const char *name) {
            return view->visualRect(shown.table.proxy()->index(shown.rowOf(name), LayerTableModel::Name));
        };
        const auto ground = [&](const char *name) {
            return view->viewport()->grab().toImage().pixelColor(cell(name).topRight() + QPoint(-3, 3));
        };
        const QColor plain = ground("stem_conv");
        QTest::mouseMove(view->viewport(), cell("stem_conv").center());
        QTRY_COMPARE(selection.hovered(), std::optional(shown.node("stem_conv")));
        QVERIFY(ground("stem_conv") != plain);
        QVERIFY(selection.nodes().empty());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(view->viewport(), &leave);
        QVERIFY(!selection.hovered());
        QCOMPARE(ground("stem_conv"), plain);
        selection.hover(shown.node("stem_conv"));
        QVERIFY(ground("stem_conv") != plain);
    }

    void namesLoseWhatNearlyAllShare_data()
    {
        QTest::addColumn<QStringList>("names");
        QTest::addColumn<QStringList>("shortened");
        QTest::newRow("MXNet") << QStringList{"mobilenetv20_features_conv0_fwd",
                                              "mobilenetv20_features_batchnorm0_fwd",
                                              "mobilenetv20_features_linearbottleneck0_conv0_fwd",
                                              "mobilenetv20_features_linearbottleneck0_batchnorm0_fwd",
                                              "mobilenetv20_features_linearbottleneck1_batchnorm0_fwd",
                                              "mobilenetv20_output_flatten0_reshape0"}
                               << QStringList{"conv0",
                                              "batchnorm0",
                                              "linearbottleneck0_conv0",
                                              "linearbottleneck0_batchnorm0",
                                              "linearbottleneck1_batchnorm0",
                                              "mobilenetv20_output_flatten0_reshape0"};
        QTest::newRow("ONNX") << QStringList{"/model/layers.3/self_attn/q_proj/MatMul",
                                             "/model/layers.3/self_attn/Softmax",
                                             "/model/layers.4/self_attn/q_proj/MatMul",
                                             "/model/layers.4/mlp/up_proj/MatMul"}
                              << QStringList{"layers.3/self_attn/q_proj/MatMul", "layers.3/self_attn/Softmax",
                                             "layers.4/self_attn/q_proj/MatMul",
                                             "layers.4/mlp/up_proj/MatMul"};
        QTest::newRow("within a block")
            << QStringList{"/model/layers.3/self_attn/q_proj/MatMul",
                           "/model/layers.3/self_attn/k_proj/MatMul", "/model/layers.3/mlp/up_proj/MatMul"}
            << QStringList{"self_attn/q_proj", "self_attn/k_proj", "mlp/up_proj"};
        QTest::newRow("families") << QStringList{"mobilenet0_conv0_fwd",
                                                 "mobilenet0_relu0_fwd",
                                                 "mobilenet0_conv1_fwd",
                                                 "rf_c3_lateral",
                                                 "rf_c3_upsampling",
                                                 "rf_c2_lateral",
                                                 "plus0",
                                                 "plus1"}
                                  << QStringList{"conv0",         "relu0",      "conv1", "c3_lateral",
                                                 "c3_upsampling", "c2_lateral", "plus0", "plus1"};
        QTest::newRow("most end alike")
            << QStringList{"stage1_conv0_fwd", "stage1_conv1_fwd", "stage1_relu0_fwd", "stage1__plus0",
                           "stage2_conv0_fwd", "stage2_conv1_fwd", "stage2_relu0_fwd", "stage2__plus0"}
            << QStringList{"stage1_conv0", "stage1_conv1", "stage1_relu0", "stage1__plus0",
                           "stage2_conv0", "stage2_conv1", "stage2_relu0", "stage2__plus0"};
        QTest::newRow("numbers stay")
            << QStringList{"conv_1", "conv_2", "conv_3"} << QStringList{"conv_1", "conv_2", "conv_3"};
        QTest::newRow("never another's name")
            << QStringList{"net_a", "net_b", "net_c", "a"} << QStringList{"net_a", "b", "c", "a"};
        QTest::newRow("two alone") << QStringList{"net_a_fwd", "net_b_fwd"}
                                   << QStringList{"net_a_fwd", "net_b_fwd"};
        QTest::newRow("nothing shared")
            << QStringList{"x", "", "_", "conv0"} << QStringList{"x", "", "_", "conv0"};
    }

    void namesLoseWhatNearlyAllShare()
    {
        QFETCH(const QStringList, names);
        QFETCH(const QStringList, shortened);
        const ShortNames service(names);
        for (qsizetype k = 0; k < names.size(); ++k)
            QCOMPARE(service.shortened(names[k]), shortened[k]);
    }

    /// Of weights and values in one table, the values' ending tells nothing, though few of all names have it.
    void anEndingOfOneKindIsLeftOut()
    {
        const QStringList values{"stage1_a_conv_output", "stage1_add_output", "stage2_a_conv_output",
                                 "stage2_add_output",    "fc_output",         "data"};
        const QStringList weights{"stage1_a_conv_weight",
                                  "stage2_a_conv_weight",
                                  "stage1_shortcut_gamma",
                                  "stage2_shortcut_gamma",
                                  "fc_weight",
                                  "fc_bias",
                                  "fc"};
        const ShortNames service(values + weights, values);
        QCOMPARE(service.shortened("stage2_a_conv_output"), QStringLiteral("stage2_a_conv"));
        QCOMPARE(service.shortened("stage2_a_conv_weight"), QStringLiteral("stage2_a_conv_weight"));
        QCOMPARE(service.shortened("fc_output"), QStringLiteral("fc_output")); // "fc" is another's
        QCOMPARE(service.shortened("data"), QStringLiteral("data"));
        QCOMPARE(ShortNames(values + weights).shortened("stage2_a_conv_output"),
                 QStringLiteral("stage2_a_conv_output"));
        const QFontMetrics metrics(QGuiApplication::font());
        const int width = metrics.horizontalAdvance("stage2_a_conv_outp");
        QCOMPARE(service.fitted("stage2_a_conv_output", width, metrics), QStringLiteral("stage2_a_conv"));
    }

    /// Whole while the longest fits, so that a column never mixes both; then less what is shared; cut only then.
    void namesAreCutInTheMiddleLast()
    {
        const QString longest = "mobilenetv20_features_linearbottleneck10_batchnorm0_fwd";
        const QString name = "mobilenetv20_features_linearbottleneck1_conv0_fwd";
        const ShortNames service({longest, name, "mobilenetv20_features_conv0_fwd"});
        const QFontMetrics metrics(QGuiApplication::font());
        const int whole = metrics.horizontalAdvance(longest);
        QCOMPARE(service.fitted(name, whole, metrics), name);
        QCOMPARE(service.fitted(name, whole - 1, metrics), QStringLiteral("linearbottleneck1_conv0"));
        const int narrow = metrics.horizontalAdvance("linearbottleneck1_conv0") * 2 / 3;
        const QString cut = service.fitted(name, narrow, metrics);
        QVERIFY(metrics.horizontalAdvance(cut) <= narrow);
        const QStringList ends = cut.split(QChar(0x2026));
        QCOMPARE(ends.size(), 2);
        QVERIFY(QStringLiteral("linearbottleneck1_conv0").startsWith(ends[0]));
        QVERIFY(ends[1].endsWith("_conv0"));
    }

    void cutNamesDoNotReadAlike()
    {
        const QStringList names{"stage1_a_conv_output", "stage2_a_conv_output", "stage1_b_conv_output",
                                "stage2_b_conv_output", "stage1_a_bn_output",   "stage2_a_bn_output",
                                "stage1_add_output",    "stage2_add_output",    "data"};
        const ShortNames service(names);
        const QFontMetrics metrics(QGuiApplication::font());
        const int width = metrics.horizontalAdvance(names[0]) * 9 / 10;
        QSet<QString> seen;
        for (const QString &name : names) {
            const QString cut = service.fitted(name, width, metrics);
            QVERIFY(metrics.horizontalAdvance(cut) <= width);
            QVERIFY2(!seen.contains(cut), qPrintable(cut));
            seen.insert(cut);
        }
    }

    void downLeadsFromTheFilterToTheRows()
    {
        Shown shown;
        auto *const filter = shown.table.findChild<QLineEdit *>();
        filter->setFocus();
        QTRY_VERIFY(filter->hasFocus());
        QTest::keyClick(filter, Qt::Key_Down);
        QVERIFY(shown.table.view()->hasFocus());
        QCOMPARE(shown.table.view()->currentIndex().row(), 0);
    }

    void theNameColumnTakesTheFreeWidth()
    {
        Shown shown;
        const QTableView *const view = shown.table.view();
        const int narrow = view->columnWidth(LayerTableModel::Name);
        QStringList names;
        for (int row = 0; row < shown.table.proxy()->rowCount(); ++row)
            names << shown.table.proxy()->index(row, LayerTableModel::Name).data().toString();
        QVERIFY(!names.isEmpty());
        const auto width
            = [view](const QString &name) { return view->fontMetrics().horizontalAdvance(name); };
        int longest = 0;
        for (const QString &name : names)
            longest = std::max(longest, width(name));
        shown.table.resize(3000, 400);
        QTest::qWait(20);
        // The sample's names are short: their figures stay near them.
        QVERIFY(view->columnWidth(LayerTableModel::Name) <= std::max(narrow, longest + width("MMMMMM")));
        QVERIFY(view->horizontalHeader()->length() < view->viewport()->width());
    }

    void theNameColumnTakesWhatLongNamesNeed()
    {
        QTableView view;
        QStandardItemModel model(1, 3);
        const QString name = QString(200, QLatin1Char('w'));
        model.setItem(0, 0, new QStandardItem(name));
        view.setModel(&model);
        auto *const free = new FreeWidth(&view, 0, 100);
        view.resize(1000, 200);
        view.show();
        free->setLongest(name);
        const auto fills = [&view] { return view.horizontalHeader()->length() == view.viewport()->width(); };
        QTRY_VERIFY(fills());
        view.setColumnHidden(1, true);
        QTRY_VERIFY(fills());
        view.setColumnHidden(1, false);
        QTRY_VERIFY(fills());
        view.resize(120, 200);
        QTRY_COMPARE(view.columnWidth(0), 100);
    }

    void choosingRowsChoosesNodes()
    {
        Shown shown;
        shown.table.view()->selectRow(shown.rowOf("fc"));
        QCOMPARE(shown.controller.selection().nodes(), std::vector{shown.node("fc")});
        QCOMPARE(shown.controller.selection().current().value(), shown.node("fc"));
    }

    void nodesChosenElsewhereAreChosenHere()
    {
        Shown shown;
        shown.controller.selection().set(
            {shown.node("stem_conv"), shown.node("prob"), shown.node("fc_weight")}, shown.node("prob"));
        const QItemSelectionModel *const selection = shown.table.view()->selectionModel();
        QCOMPARE(selection->selectedRows().size(), 2);
        QVERIFY(selection->isRowSelected(shown.rowOf("stem_conv")));
        QCOMPARE(selection->currentIndex().row(), shown.rowOf("prob"));
        // The variable, which has no row, stays chosen.
        QCOMPARE(shown.controller.selection().nodes().size(), std::size_t{3});
    }

    void theSelectionSurvivesSortingAndFiltering()
    {
        Shown shown;
        shown.controller.selection().set(shown.node("prob"));
        shown.table.view()->sortByColumn(LayerTableModel::Sqnr, Qt::DescendingOrder);
        QCOMPARE(shown.rowOf("prob"), 0);
        QVERIFY(shown.table.view()->selectionModel()->isRowSelected(0));
        shown.table.setFilterText(QStringLiteral("conv"));
        QCOMPARE(shown.controller.selection().nodes(), std::vector{shown.node("prob")});
        shown.table.setFilterText({});
        QVERIFY(shown.table.view()->selectionModel()->isRowSelected(shown.rowOf("prob")));
    }

    void aDoubleClickAsksToShowTheNode()
    {
        Shown shown;
        QSignalSpy asked(&shown.controller.selection(), &Selection::shownRequested);
        Q_EMIT shown.table.view()->doubleClicked(shown.table.proxy()->index(shown.rowOf("pool"), 2));
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked.front().front().value<graph::NodeId>(), shown.node("pool"));
    }

    void copyingGivesTheShownColumnsOfTheChosenRows()
    {
        Shown shown;
        shown.table.view()->selectRow(shown.rowOf("prob"));
        shown.table.view()->setFocus();
        shown.table.copy();
        const QStringList lines = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 2);
        QVERIFY2(lines[0].startsWith(QStringLiteral("name\toperator\tprecision\tSQNR dB\t")),
                 qPrintable(lines[0]));
        QVERIFY2(lines[1].startsWith(QStringLiteral("prob\tsoftmax\tf32\t12.3\t")), qPrintable(lines[1]));
        shown.table.view()->setColumnHidden(LayerTableModel::Operator, true);
        QVERIFY(shown.table.tsv().startsWith(QStringLiteral("name\tprecision\t")));
    }

    void copiedNumbersHaveTheMinusOfAscii()
    {
        QStandardItemModel model(1, 1);
        model.setItem(0, 0, new QStandardItem(QString(QChar(0x2212)) + QStringLiteral("0.2")));
        QTableView view;
        view.setModel(&model);
        QCOMPARE(copiedRows(view).section('\n', 1), QStringLiteral("-0.2"));
    }

    void sortingGoesToTheTop()
    {
        Shown shown;
        QTableView *const view = shown.table.view();
        shown.table.resize(800, 160); // a few rows
        shown.table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&shown.table));
        view->selectRow(view->model()->rowCount() - 1);
        view->scrollToBottom();
        QVERIFY(view->verticalScrollBar()->value() > 0);
        view->sortByColumn(LayerTableModel::Name, Qt::AscendingOrder);
        QTRY_COMPARE(view->verticalScrollBar()->value(), 0);
        view->scrollToBottom();
        view->sortByColumn(LayerTableModel::Name, Qt::DescendingOrder);
        QTRY_COMPARE(view->verticalScrollBar()->value(), 0);
    }

    void aTipTellsTheWholeName()
    {
        Shown shown;
        const QModelIndex name
            = shown.table.proxy()->index(shown.rowOf("stage2_shortcut_conv"), LayerTableModel::Name);
        QVERIFY2(name.data(Qt::ToolTipRole).toString().startsWith(QStringLiteral("stage2_shortcut_conv")),
                 qPrintable(name.data(Qt::ToolTipRole).toString()));
    }

    void theExportHasAllShownRowsWithAllDigits()
    {
        Shown shown;
        shown.table.setFilterText(QStringLiteral("prob"));
        const QStringList lines = shown.table.csv().split(QStringLiteral("\r\n"));
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[1].startsWith(QStringLiteral("prob,softmax,f32,12.3456789,,0.25,")));
        QVERIFY(lines[2].isEmpty());
    }

    void pinningShowsTheColumnsOfTheBaseline()
    {
        Shown shown;
        QVERIFY(shown.table.view()->isColumnHidden(LayerTableModel::SqnrChange));
        shown.table.pinBaseline(true);
        QVERIFY(!shown.table.view()->isColumnHidden(LayerTableModel::SqnrChange));
        QVERIFY(shown.controller.apply(policy::ExcludeNames{{"fc"}}));
        QVERIFY(shown.table.model()->hasBaseline());
        shown.controller.setDocument(test::openSample());
        QVERIFY(!shown.table.model()->hasBaseline());
        QVERIFY(shown.table.view()->isColumnHidden(LayerTableModel::SqnrChange));
    }

    void closingEmptiesTheTable()
    {
        Shown shown;
        shown.controller.selection().set(shown.node("prob"));
        shown.controller.setDocument(nullptr);
        QCOMPARE(shown.table.proxy()->rowCount(), 0);
    }
};

QTEST_MAIN(TestLayersTable)
#include "tst_layers_table.moc"
