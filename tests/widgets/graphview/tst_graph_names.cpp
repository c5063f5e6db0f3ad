#include "tests/widgets/graphview/graph_fixture.h"
#include "widgets/graphview/find_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QToolButton>

using namespace halftone;
using widgets::ItemIndex;

namespace {

const QString kBegin = QStringLiteral("mobilenetv20_features_");
const QString kEnd = QStringLiteral("_fwd");

} // namespace

/// What the graph's boxes and the find panel call a node.
class TestGraphNames : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void aBoxHasWhatTellsItFromItsNeighbours();
    void namesThatFitStayWhole();
    void titlesThatDoNotFitSayWhichBlock();
    void theFindPanelHasTheWholeNameAtHand();
    void escapeClosesTheFindPanelWhateverElseItWouldStop();
    void severalOfWhatIsFoundAreChosenTogether();

private:
    /// Two stages of so many layers each, named as trainers name them.
    static QByteArray stages(int layers, const QString &begin, const QString &end)
    {
        QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
        for (int stage = 1; stage <= 2; ++stage)
            for (int layer = 0; layer < layers; ++layer)
                nodes << QString::fromLatin1(
                             R"({"op":"relu","name":"%1stage%2_layer%3%4","inputs":[[%5,0,0]]})")
                             .arg(begin)
                             .arg(stage)
                             .arg(layer)
                             .arg(end)
                             .arg(nodes.size() - 1);
        return QStringLiteral(R"({"nodes":[%1],"arg_nodes":[0],"heads":[[%2,0,0]]})")
            .arg(nodes.join(','))
            .arg(nodes.size() - 1)
            .toUtf8();
    }

    void open(const QByteArray &symbol)
    {
        m_opened = std::make_unique<test::OpenedGraph>();
        const QString path = m_opened->folder.filePath(QStringLiteral("named-symbol.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(symbol);
        file.close();
        m_opened->open(path);
        m_opened->view->unfoldAll();
        QVERIFY(m_opened->settle());
    }

    QStringList labels() const
    {
        QStringList all;
        for (const widgets::SceneItem &item : m_opened->view->scene()->items())
            if (!item.ref.isBlock && !item.isVariable)
                all << item.label;
        return all;
    }

    std::unique_ptr<test::OpenedGraph> m_opened;
};

void TestGraphNames::init()
{
    m_opened.reset();
}

void TestGraphNames::aBoxHasWhatTellsItFromItsNeighbours()
{
    open(stages(6, kBegin, kEnd)); // all in one block
    const QStringList beside = labels();
    QCOMPARE(beside.size(), 12);
    for (const char *const label : {"stage1_layer0", "stage1_layer5", "stage2_layer0"})
        QVERIFY2(beside.contains(QLatin1String(label)), qPrintable(beside.join(' ')));
    open(stages(30, kBegin, kEnd)); // blocks, whose titles tell the stage
    const QStringList inBlocks = labels();
    QCOMPARE(inBlocks.size(), 60);
    for (const QString &label : inBlocks)
        QVERIFY2(!label.contains(QLatin1String("mobilenet")) && !label.endsWith(kEnd), qPrintable(label));
}

void TestGraphNames::namesThatFitStayWhole()
{
    open(stages(6, {}, {}));
    QVERIFY(labels().contains(QStringLiteral("stage1_layer0")));
}

void TestGraphNames::titlesThatDoNotFitSayWhichBlock()
{
    const QFontMetricsF metrics(QApplication::font());
    const QString which = QStringLiteral("decoder.layers.17");
    const QString title = which + QString::fromUtf8(" · Transformer block");
    QCOMPARE(widgets::titleWithin(title, metrics.horizontalAdvance(title) + 1, metrics), title);
    for (const double share : {0.95, 0.8, 0.5, 0.35}) {
        const double room = share * metrics.horizontalAdvance(title);
        const QString shown = widgets::titleWithin(title, room, metrics);
        QVERIFY2(shown.contains(QLatin1String("17")), qPrintable(shown));
        QVERIFY(metrics.horizontalAdvance(shown) <= room + 1);
    }
    QVERIFY(widgets::titleWithin(title, metrics.horizontalAdvance(title) - 1, metrics).startsWith(which));
}

void TestGraphNames::theFindPanelHasTheWholeNameAtHand()
{
    open(stages(6, kBegin, kEnd));
    m_opened->view->showFind();
    m_opened->view->findChildren<QLineEdit *>().front()->setText(QStringLiteral("layer3"));
    auto *const list = m_opened->view->findChild<QListView *>();
    QCOMPARE(list->model()->rowCount(), 2);
    const QString whole = QStringLiteral("mobilenetv20_features_stage1_layer3_fwd");
    const QModelIndex first = list->model()->index(0, 0);
    QCOMPARE(first.data(Qt::ToolTipRole).toString(), whole);
    list->setCurrentIndex(first);
    QTest::keyClick(list, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), whole);
}

void TestGraphNames::escapeClosesTheFindPanelWhateverElseItWouldStop()
{
    open(stages(6, {}, {}));
    m_opened->view->showFind();
    auto *const field = m_opened->view->findChildren<QLineEdit *>().front();
    QKeyEvent asked(QEvent::ShortcutOverride, Qt::Key_Escape, Qt::NoModifier);
    asked.ignore();
    QCoreApplication::sendEvent(field, &asked);
    QVERIFY(asked.isAccepted()); // so that it is no shortcut of the window
    QVERIFY(field->isVisible());
    QKeyEvent stop(QEvent::ShortcutOverride, Qt::Key_Escape, Qt::ShiftModifier);
    stop.ignore();
    QCoreApplication::sendEvent(field, &stop);
    QVERIFY(!stop.isAccepted()); // the window stops what computes
    QTest::keyClick(field, Qt::Key_Escape, Qt::ShiftModifier);
    QVERIFY(field->isVisible());
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(!field->isVisible());
}

void TestGraphNames::severalOfWhatIsFoundAreChosenTogether()
{
    open(stages(6, {}, {}));
    m_opened->view->showFind();
    const auto &found = m_opened->view->findPanel()->found();
    const auto &selection = m_opened->controller.selection();
    auto *const field = m_opened->view->findPanel()->findChild<QLineEdit *>();
    auto *const list = m_opened->view->findPanel()->findChild<QListView *>();
    field->setText(QStringLiteral("layer"));
    QVERIFY(found.size() >= 4);
    QTest::keyClick(list, Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(selection.nodes().size(), found.size());
    const auto click = [list](int row, Qt::KeyboardModifiers modifiers) {
        list->scrollTo(list->model()->index(row, 0));
        QTest::mouseClick(list->viewport(), Qt::LeftButton, modifiers,
                          list->visualRect(list->model()->index(row, 0)).center());
    };
    click(0, Qt::NoModifier);
    QCOMPARE(selection.nodes(), std::vector<graph::NodeId>{found[0]});
    click(2, Qt::ShiftModifier);
    QCOMPARE(selection.nodes().size(), std::size_t{3});
    click(1, Qt::ControlModifier);
    QCOMPARE(selection.nodes(),
             (std::vector<graph::NodeId>{std::min(found[0], found[2]), std::max(found[0], found[2])}));
    QTest::keyClick(list, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text().count('\n'), 1);

    // Figures and edits that find the same nodes leave the rows chosen.
    m_opened->view->findPanel()->refresh();
    QCOMPARE(list->selectionModel()->selectedRows().size(), 2);
    for (auto *button : m_opened->view->findPanel()->findChildren<QToolButton *>())
        if (button->text() == QLatin1String("Select All"))
            button->click();
    QCOMPARE(selection.nodes().size(), found.size());
    QSignalSpy menu(m_opened->view, &widgets::GraphView::nodesMenuRequested);
    Q_EMIT list->customContextMenuRequested({1, 1});
    QCOMPARE(menu.count(), 1);
    QCOMPARE(selection.nodes().size(), found.size());
}

QTEST_MAIN(TestGraphNames)
#include "tst_graph_names.moc"
