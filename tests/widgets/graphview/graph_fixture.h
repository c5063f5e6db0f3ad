#pragma once

#include "core/session/document.h"
#include "widgets/common/document_controller.h"
#include "widgets/graphview/graph_view.h"

#include <QFile>
#include <QSignalSpy>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

namespace halftone::test {

/// A residual network of `blocks` times five operators as symbol JSON.
inline QByteArray residualSymbol(int blocks)
{
    QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
    int last = 0;
    const auto add
        = [&](const QString &op, const QString &name, const QList<int> &inputs, const QString &attrs) {
              QStringList ends;
              for (const int input : inputs)
                  ends << QStringLiteral("[%1,0,0]").arg(input);
              nodes << QString::fromLatin1(R"({"op":"%1","name":"%2","attrs":{%3},"inputs":[%4]})")
                           .arg(op, name, attrs, ends.join(','));
              return static_cast<int>(nodes.size()) - 1;
          };
    const QString conv = QString::fromLatin1(
        R"json("kernel":"(3, 3)","pad":"(1, 1)","num_filter":"8","no_bias":"True")json");
    for (int k = 0; k < blocks; ++k) {
        const QString name = QStringLiteral("stage%1_unit%2_").arg(k / 50).arg(k);
        const int w1 = add("null", name + "conv1_weight", {}, {});
        int x = add("Convolution", name + "conv1", {last, w1}, conv);
        x = add("Activation", name + "relu1", {x}, QString::fromLatin1(R"("act_type":"relu")"));
        const int w2 = add("null", name + "conv2_weight", {}, {});
        x = add("Convolution", name + "conv2", {x, w2}, conv);
        x = add("elemwise_add", name + "add", {x, last}, {});
        last = add("softmax", name + "soft", {x}, {});
    }
    return QString::fromLatin1(
               R"({"nodes":[%1],"arg_nodes":[0],"heads":[[%2,0,0]],"attrs":{"mxnet_version":["int",10901]}})")
        .arg(nodes.join(",\n"))
        .arg(last)
        .toUtf8();
}

/// So many chains of so many operators between one start and one end, as symbol JSON.
inline QByteArray wideSymbol(int chains, int length)
{
    QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
    QStringList ends;
    const char *const ops[] = {"exp", "sqrt", "abs", "square", "sin"};
    for (int chain = 0; chain < chains; ++chain) {
        int last = 0;
        for (int k = 0; k < length; ++k) {
            nodes << QString::fromLatin1(R"({"op":"%1","name":"c%2_n%3","inputs":[[%4,0,0]]})")
                         .arg(QLatin1String(ops[k % 5]))
                         .arg(chain)
                         .arg(k)
                         .arg(last);
            last = static_cast<int>(nodes.size()) - 1;
        }
        ends << QStringLiteral("[%1,0,0]").arg(last);
    }
    nodes << QString::fromLatin1(R"({"op":"add_n","name":"all","attrs":{"num_args":"%1"},"inputs":[%2]})")
                 .arg(chains)
                 .arg(ends.join(QLatin1Char(',')));
    return QString::fromLatin1(
               R"({"nodes":[%1],"arg_nodes":[0],"heads":[[%2,0,0]],"attrs":{"mxnet_version":["int",10901]}})")
        .arg(nodes.join(",\n"))
        .arg(nodes.size() - 1)
        .toUtf8();
}

/// A controller with a model, and the view of it in a window of 1600 x 1000 (off screen).
struct OpenedGraph
{
    QTemporaryDir folder;
    widgets::DocumentController controller;
    QWidget window; ///< without a layout: the offscreen platform warns of size hints
    widgets::GraphView *view = nullptr;

    void open(const QString &path)
    {
        auto document = session::Document::open(path.toStdString());
        QVERIFY2(document.ok(), document.ok() ? "" : document.error().message().c_str());
        if (!view) {
            view = new widgets::GraphView(&controller, &window);
            window.resize(1600, 1000);
            view->resize(window.size());
            window.show();
            QVERIFY(QTest::qWaitForWindowExposed(&window));
        }
        controller.setDocument(std::move(document).value());
        QVERIFY(settle());
    }
    void openSample() { open(QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json")); }
    void openResidual(int blocks) { openText("long-symbol.json", residualSymbol(blocks)); }
    void openWide(int chains, int length) { openText("wide-symbol.json", wideSymbol(chains, length)); }
    void openText(const char *name, const QByteArray &symbol)
    {
        const QString path = folder.filePath(QLatin1String(name));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(symbol);
        file.close();
        open(path);
    }
    bool settle()
    {
        return QTest::qWaitFor([this] { return !view->isBusy() && !controller.isDeriving(); }, 20000)
            && view->scene() != nullptr;
    }
    graph::NodeId node(const std::string &name) const
    {
        const graph::Graph &graph = controller.snapshot()->graph();
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
            if (graph.node(id).name == name)
                return id;
        qFatal("no node %s", name.c_str());
    }
};

} // namespace halftone::test
