#include "core/graph/traverse.h"
#include "tests/support/build_graph.h"
#include "tests/support/graph_text.h"

#include <QTest>

#include <thread>

using namespace halftone;
using graph::NodeId;

class TestGraph : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void attributesAreSortedAndTheLastOfEqualKeysStays();
    void operatorNamesAreListedOnceInOrderOfAppearance();
    void aCopyOfAGraphSharesItsNodes();
    void postOrderVisitsInputsLeftToRightThenControlDependencies();
    void postOrderLeavesOutWhatNoHeadNeeds();
    void aChainOfAMillionNodesIsWalkedAndDestroyedOnASmallStack();
    void tenThousandDiamondsAreWalkedInLinearTime();
    void referencedOutputsCountTheHighestOneUsed();
    void operatorsAndVariablesOfOneNameAreFoundApart();
    void differenceFindsAChangedAttributeInputHeadAndNode();
};

void TestGraph::attributesAreSortedAndTheLastOfEqualKeysStays()
{
    graph::Attributes attributes(std::vector<graph::Attributes::Item>{{"b", "1"}, {"a", "2"}, {"b", "3"}});
    attributes.set("aa", "4");
    std::string text;
    for (const auto &[key, value] : attributes)
        text += key + value + ' ';
    QCOMPARE(text, std::string("a2 aa4 b3 "));
    QVERIFY(attributes.erase("aa"));
    QVERIFY(!attributes.erase("aa"));
    QVERIFY(attributes.find("aa") == nullptr);
    QCOMPARE(*attributes.find("b"), std::string("3"));
}

void TestGraph::operatorNamesAreListedOnceInOrderOfAppearance()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    const auto a = g.op("exp", "a", {x});
    const auto graph = g.withHeads({g.op("exp", "b", {g.op("log", "c", {a})})});
    QCOMPARE(std::vector<std::string>(graph.operatorNames().begin(), graph.operatorNames().end()),
             (std::vector<std::string>{"null", "exp", "log"}));
    QCOMPARE(graph.operatorNames()[graph.opOf(3)], std::string("exp"));
    QVERIFY(graph.isVariable(0));
    QVERIFY(!graph.isVariable(1));
}

void TestGraph::aCopyOfAGraphSharesItsNodes()
{
    test::GraphBuilder g;
    const auto graph = g.withHeads({g.variable("x")});
    const graph::Graph copy = graph;
    QCOMPARE(copy.sharedNode(0).get(), graph.sharedNode(0).get());
}

void TestGraph::postOrderVisitsInputsLeftToRightThenControlDependencies()
{
    graph::Graph graph;
    const auto add = [&graph](const char *name, std::vector<graph::Entry> inputs,
                              std::vector<NodeId> control = {}) {
        return graph.add(std::make_shared<graph::NodeDef>(
                             graph::NodeDef{inputs.empty() ? "null" : "exp", name, {}, {}, inputs.empty()}),
                         inputs, control);
    };
    const NodeId late = add("late", {});
    const NodeId right = add("right", {});
    const NodeId left = add("left", {});
    const NodeId sum = add("sum", {{left, 0, 0}, {right, 0, 0}}, {late});
    graph.setHeads({{sum, 0, 0}});
    QCOMPARE(graph::postOrder(graph), (std::vector<NodeId>{left, right, late, sum}));
}

void TestGraph::postOrderLeavesOutWhatNoHeadNeeds()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    g.op("exp", "unused", {x});
    QCOMPARE(graph::postOrder(g.withHeads({x})), std::vector<NodeId>{x.node});
}

void TestGraph::aChainOfAMillionNodesIsWalkedAndDestroyedOnASmallStack()
{
    std::size_t visited = 0;
    const auto work = [&visited] {
        test::GraphBuilder g;
        auto tensor = g.variable("x");
        for (int k = 0; k < 1'000'000; ++k)
            tensor = g.op("exp", "n", {tensor});
        visited = graph::postOrder(g.withHeads({tensor})).size();
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    pthread_t thread{};
    auto start = [](void *argument) -> void * {
        (*static_cast<decltype(work) *>(argument))();
        return nullptr;
    };
    QCOMPARE(
        pthread_create(&thread, &attributes, start, const_cast<void *>(static_cast<const void *>(&work))), 0);
    pthread_join(thread, nullptr);
    QCOMPARE(visited, std::size_t{1'000'001});
}

void TestGraph::tenThousandDiamondsAreWalkedInLinearTime()
{
    test::GraphBuilder g;
    auto tensor = g.variable("x");
    for (int k = 0; k < 10'000; ++k)
        tensor = g.op("elemwise_add", "d" + std::to_string(k),
                      {g.op("exp", "l", {tensor}), g.op("log", "r", {tensor})});
    QCOMPARE(graph::postOrder(g.withHeads({tensor})).size(), std::size_t{30'001});
}

void TestGraph::referencedOutputsCountTheHighestOneUsed()
{
    test::GraphBuilder g;
    const auto split = g.op("SliceChannel", "split", {g.variable("x")}, {{"num_outputs", "4"}});
    const auto used = g.op("exp", "e", {{split.node, 2, 0}});
    QCOMPARE(graph::referencedOutputs(g.withHeads({used})), (std::vector<std::uint32_t>{1, 3, 1}));
}

void TestGraph::operatorsAndVariablesOfOneNameAreFoundApart()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    const auto first = g.op("exp", "x", {x});
    const auto graph = g.withHeads({g.op("log", "y", {first}), g.op("exp", "y", {x})});
    QVERIFY(graph::operatorsByName(graph) == (graph::NodesByName{{"x", NodeId{1}}, {"y", NodeId{2}}}));
    QVERIFY(graph::variablesByName(graph) == (graph::NodesByName{{"x", NodeId{0}}}));
}

void TestGraph::differenceFindsAChangedAttributeInputHeadAndNode()
{
    const auto made = [](const char *act, bool swapped, bool otherHead, const char *name) {
        test::GraphBuilder g;
        const auto x = g.variable("x");
        const auto y = g.variable("y");
        const auto a = g.op("Activation", name, {x}, {{"act_type", act}});
        const auto sum = swapped ? g.op("elemwise_add", "s", {y, a}) : g.op("elemwise_add", "s", {a, y});
        return g.withHeads({otherHead ? a : sum});
    };
    const auto base = made("relu", false, false, "a");
    QCOMPARE(test::difference(base, made("relu", false, false, "a")), std::string());
    QVERIFY(!test::difference(base, made("tanh", false, false, "a")).empty());
    QVERIFY(!test::difference(base, made("relu", true, false, "a")).empty());
    QVERIFY(!test::difference(base, made("relu", false, true, "a")).empty());
    QVERIFY(!test::difference(base, made("relu", false, false, "b")).empty());
}

QTEST_APPLESS_MAIN(TestGraph)
#include "tst_graph.moc"
