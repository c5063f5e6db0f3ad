#include "tests/window/window_fixture.h"
#include "widgets/graphview/canvas.h"
#include "widgets/oplists/op_list_view.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>

using namespace halftone;
using app::MainWindow;
using widgets::ListId;

namespace {

/// An X server of its own. Its number, or nothing.
QByteArray startServer(QProcess &server)
{
    server.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    server.start(QStringLiteral("Xvfb"),
                 {"-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"});
    if (!server.waitForStarted() || !server.waitForReadyRead(20000))
        return {};
    return server.readLine().trimmed();
}

} // namespace

/// The program as a person uses it: a real window on a real X server, mouse and keys from outside (xdotool).
class TestSystem : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anOperatorIsDraggedToFp32AndEverythingFollows()
    {
        const QTemporaryDir folder;
        MainWindow window;
        window.setGeometry(0, 0, 1500, 950);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));

        const graph::NodeId conv = test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv");
        const auto precision = [&window, conv] { return window.controller().snapshot()->precisionOf(conv); };
        QCOMPARE(precision(), tensor::DType::F16);
        const QImage before = window.graphView().canvas()->grab().toImage();

        drag(placeOf(window, window.lists().model()->indexOf(ListId::Target, "Convolution")),
             placeOf(window, window.lists().model()->listIndex(ListId::Fp32)));
        QTRY_COMPARE_WITH_TIMEOUT(precision(), tensor::DType::F32, 5000);
        QVERIFY(test::settleAfterEdit(window));
        QVERIFY(window.graphView().canvas()->grab().toImage() != before);

        const QString prefix = folder.filePath("dragged");
        QCOMPARE(castsBeforeConvolution(window, prefix), 0);
        keys({"ctrl+z"});
        QTRY_COMPARE_WITH_TIMEOUT(precision(), tensor::DType::F16, 5000);
        keys({"ctrl+shift+z"});
        QTRY_COMPARE_WITH_TIMEOUT(precision(), tensor::DType::F32, 5000);

        const QString session = folder.filePath("a.halftone");
        QVERIFY(window.files().save(session).ok());
        const policy::Policy saved = window.controller().document()->policy();
        window.files().close();
        QVERIFY(!window.controller().isOpen());
        window.open(session);
        QVERIFY(test::settle(window));
        QVERIFY(window.controller().document()->policy() == saved);
        QCOMPARE(precision(), tensor::DType::F32);
    }

    void keysMoveTheChosenOperator()
    {
        MainWindow window;
        window.setGeometry(0, 0, 1500, 950);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        const QPoint place = placeOf(window, window.lists().model()->indexOf(ListId::Target, "sum"));
        run({"mousemove", QString::number(place.x()), QString::number(place.y()), "click", "1"});
        keys({"f"});
        QTRY_VERIFY_WITH_TIMEOUT(
            window.controller().snapshot()->rules->places.at("sum").list == policy::List::Fp32, 5000);
        QVERIFY(test::settleAfterEdit(window));
        QVERIFY(window.suggestionBar().text().isEmpty());
    }

    void nodesAreDraggedFromTheGraphOntoLists()
    {
        MainWindow window;
        window.setGeometry(0, 0, 1500, 950);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        window.graphView().unfoldAll();
        QVERIFY(test::settle(window));
        const graph::Graph &graph = window.controller().snapshot()->graph();
        const graph::NodeId conv = test::nodeNamed(graph, "stem_conv");
        const graph::NodeId other = test::nodeNamed(graph, "stage1_a_conv");
        QVERIFY(other != rewrite::kNoNode);
        window.graphView().showNode(conv);
        QVERIFY(test::settle(window));
        const auto precision
            = [&window](graph::NodeId node) { return window.controller().snapshot()->precisionOf(node); };
        const auto policy = [&window] { return window.controller().document()->policy(); };
        const policy::Policy first = policy();
        QCOMPARE(precision(conv), tensor::DType::F16);

        drag(placeOf(window, conv), placeOf(window, window.lists().model()->listIndex(ListId::Excluded)));
        QTRY_COMPARE_WITH_TIMEOUT(policy().excludedNames, std::vector<std::string>{"stem_conv"}, 5000);
        QTRY_COMPARE_WITH_TIMEOUT(precision(conv), tensor::DType::F32, 5000);
        QCOMPARE(precision(other), tensor::DType::F16);
        QVERIFY(test::settleAfterEdit(window));
        keys({"ctrl+z"});
        QTRY_VERIFY_WITH_TIMEOUT(policy() == first, 5000);
        QVERIFY(test::settleAfterEdit(window));

        drag(placeOf(window, conv), placeOf(window, window.lists().model()->listIndex(ListId::Fp32)));
        QTRY_COMPARE_WITH_TIMEOUT(precision(conv), tensor::DType::F32, 5000);
        QCOMPARE(precision(other), tensor::DType::F16);
        QCOMPARE(policy().nodeOverrides.size(), std::size_t{1});
        QVERIFY(test::settleAfterEdit(window));
        keys({"ctrl+z"});
        QTRY_VERIFY_WITH_TIMEOUT(policy() == first, 5000);
        QVERIFY(test::settleAfterEdit(window));

        const widgets::OpListModel &lists = *window.lists().model();
        drag(placeOf(window, lists.indexOf(ListId::Target, "Convolution")),
             placeOf(window, lists.listIndex(ListId::Fp32)));
        QTRY_COMPARE_WITH_TIMEOUT(precision(other), tensor::DType::F32, 5000);
        QCOMPARE(precision(conv), tensor::DType::F32);
        QCOMPARE(window.controller().snapshot()->rules->places.at("Convolution").list, policy::List::Fp32);
        QVERIFY(test::settleAfterEdit(window));
    }

private:
    static QPoint placeOf(MainWindow &window, graph::NodeId node)
    {
        const auto *const canvas = window.graphView().canvas();
        const auto *const scene = window.graphView().scene();
        const QRectF rect = canvas->camera().toView(scene->items()[scene->itemOf(node)].rect);
        return canvas->mapToGlobal(rect.center().toPoint());
    }

    static QPoint placeOf(MainWindow &window, const QModelIndex &index)
    {
        widgets::OpListView *const view = window.lists().view();
        view->scrollTo(index);
        return view->viewport()->mapToGlobal(view->visualRect(index).center());
    }

    /// xdotool runs beside the program, whose events go on.
    static void run(const QStringList &arguments)
    {
        QProcess tool;
        QSignalSpy finished(&tool, &QProcess::finished);
        tool.start(QStringLiteral("xdotool"), arguments);
        QVERIFY(finished.wait(20000));
        QCOMPARE(tool.exitCode(), 0);
        QTest::qWait(50);
    }

    static void keys(const QStringList &names) { run(QStringList{"key"} + names); }

    static void drag(const QPoint &from, const QPoint &to)
    {
        QStringList steps{
            "mousemove", QString::number(from.x()), QString::number(from.y()), "sleep", "0.1", "mousedown",
            "1"};
        for (int i = 1; i <= 10; ++i) {
            const QPoint at = from + (to - from) * i / 10;
            steps << "mousemove" << QString::number(at.x()) << QString::number(at.y()) << "sleep"
                  << "0.03";
        }
        run(steps + QStringList{"sleep", "0.2", "mouseup", "1"});
    }

    /// Exports, and counts in the symbol the convolutions that read a cast to float16.
    static int castsBeforeConvolution(MainWindow &window, const QString &prefix)
    {
        const auto written = io::saveModel(window.controller().snapshot()->converted->model,
                                           prefix.toStdString(), *window.controller().snapshot()->source);
        if (!written.ok())
            return -1;
        QFile symbol(prefix + "-symbol.json");
        if (!symbol.open(QIODevice::ReadOnly))
            return -1;
        const QJsonArray nodes = QJsonDocument::fromJson(symbol.readAll()).object()["nodes"].toArray();
        int count = 0;
        for (const auto &value : nodes) {
            const QJsonObject node = value.toObject();
            if (node["op"].toString() != "Convolution")
                continue;
            const QJsonObject input = nodes[node["inputs"].toArray()[0].toArray()[0].toInt()].toObject();
            count += input["op"].toString() == "amp_cast"
                    && input["attrs"].toObject()["dtype"].toString() == "float16"
                ? 1
                : 0;
        }
        return count;
    }
};

int main(int argc, char **argv)
{
    const test::PrivateHome home;
    QProcess server;
    const QByteArray display = startServer(server);
    if (display.isEmpty())
        qFatal("Xvfb did not start (package xvfb)");
    qputenv("DISPLAY", ':' + display);
    qputenv("QT_QPA_PLATFORM", "xcb");
    int code = 1;
    {
        QApplication application(argc, argv);
        TestSystem test;
        code = QTest::qExec(&test, argc, argv);
    }
    server.kill();
    server.waitForFinished();
    return code;
}

#include "tst_system.moc"
