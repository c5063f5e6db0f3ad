#include "core/policy/rules.h"
#include "tests/support/build_graph.h"
#include "tests/support/cpu_clock.h"

#include <QTest>

#include <algorithm>

using namespace halftone::policy;
using halftone::graph::Entry;
using halftone::graph::Graph;
using halftone::graph::NodeDef;
using halftone::graph::NodeId;
using halftone::tensor::DType;

namespace {

/// data, conv0_weight, conv0, relu0, conv1 (reading conv0_weight too), /odd/
Graph smallGraph()
{
    Graph graph = halftone::test::emptyGraph();
    const auto add = [&](const char *op, const char *name, std::vector<NodeId> inputs = {}) {
        std::vector<Entry> entries;
        for (const NodeId id : inputs)
            entries.push_back({id, 0, 0});
        return graph.add(halftone::test::nodeOf(op, name), entries);
    };
    const NodeId data = add("null", "data");
    const NodeId weight = add("null", "conv0_weight");
    const NodeId conv0 = add("Convolution", "conv0", {data, weight});
    const NodeId relu = add("Activation", "relu0", {conv0});
    const NodeId conv1 = add("Convolution", "conv1", {relu, weight});
    add("Flatten", "/odd/", {conv1});
    return graph;
}

struct Matched
{
    std::vector<std::string> excluded; ///< "node by entry"
    std::vector<std::string> overrides; ///< "node type"
    std::string told; ///< the error, or the warnings by line
};

Matched matched(const Policy &policy, const Graph &graph)
{
    Matched result;
    std::vector<Warning> warnings;
    const auto named = matchNames(policy, graph, warnings);
    if (!named.ok()) {
        result.told = named.error().message();
        return result;
    }
    for (const auto &[id, entry] : named.value().excluded)
        result.excluded.push_back(graph.node(id).name + " by " + entry);
    for (const auto &[id, type] : named.value().overrides)
        result.overrides.push_back(graph.node(id).name + ' ' + std::string(nameOf(type)));
    std::ranges::sort(result.excluded);
    std::ranges::sort(result.overrides);
    for (const Warning &warning : warnings)
        result.told += (result.told.empty() ? "" : "\n") + warning.entry + ' ' + warning.text;
    return result;
}

Matched matched(std::vector<std::string> excluded)
{
    Policy policy;
    policy.excludedNames = std::move(excluded);
    return matched(policy, smallGraph());
}

using Names = std::vector<std::string>;

} // namespace

class MatchNamesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aPolicyWithoutNamesNamesNothing()
    {
        const Matched result = matched(Policy(), smallGraph());
        QVERIFY(result.excluded.empty() && result.overrides.empty() && result.told.empty());
    }

    void exactNamesFindTheirNode()
    {
        const Matched result = matched({"conv0", "relu0"});
        QCOMPARE(result.excluded, (Names{"conv0 by conv0", "relu0 by relu0"}));
        QCOMPARE(result.told, std::string());
    }

    void allNodesOfANameAreFound()
    {
        Graph graph = smallGraph();
        graph.add(std::make_shared<NodeDef>(NodeDef{"Flatten", "conv0", {}, {}}),
                  std::vector{Entry{2, 0, 0}});
        Policy policy;
        policy.excludedNames = {"conv0"};
        QCOMPARE(matched(policy, graph).excluded.size(), std::size_t{2});
    }

    void patternsFindOperatorsAndNoVariables()
    {
        const Matched result = matched({"/conv/"});
        QCOMPARE(result.excluded, (Names{"conv0 by /conv/", "conv1 by /conv/"}));
        QCOMPARE(result.told, std::string());
    }

    void theFirstEntryThatFitsIsNamed()
    {
        QCOMPARE(matched({"/^conv[01]$/", "conv1", "/1/"}).excluded,
                 (Names{"conv0 by /^conv[01]$/", "conv1 by conv1"}));
    }

    void aNodeNamedLikeAPatternIsMeantByName()
    {
        QCOMPARE(matched({"/odd/"}).excluded, (Names{"/odd/ by /odd/"}));
        QCOMPARE(matched({"/od+/"}).excluded, (Names{"/odd/ by /od+/"}));
    }

    void unknownNamesAreToldWithNearOnes()
    {
        const Matched result = matched({"conv2", "no_such_node", "/bn/"});
        QVERIFY(result.excluded.empty());
        QCOMPARE(result.told,
                 std::string("excluded_sym_names: \"conv2\" matches no node (did you mean conv0, conv1?)\n"
                             "excluded_sym_names: \"no_such_node\" matches no node\n"
                             "excluded_sym_names: \"/bn/\" matches no operator"));
    }

    /// As the reference: the variable's value then counts as float32.
    void excludedVariablesAreNamedAndTold()
    {
        const Matched result = matched({"data"});
        QCOMPARE(result.excluded, (Names{"data by data"}));
        QCOMPARE(result.told,
                 std::string(
                     "excluded_sym_names: \"data\" is a variable: excluding it has no effect on operators"));
    }

    void badPatternsAreErrorsWithTheirPlace()
    {
        QCOMPARE(matched({"conv0", "/conv(/"}).told,
                 std::string("excluded_sym_names[1], character 5 of the pattern: unmatched '('; "
                             "write '\\(' to match the character itself"));
        QCOMPARE(
            matched({"//"}).told,
            std::string("excluded_sym_names[0]: an empty pattern, expected a pattern between the slashes"));
        QCOMPARE(matched({"/"}).told, std::string("excluded_sym_names: \"/\" matches no node"));
    }

    void overridesFindOperatorsOnly()
    {
        Policy policy;
        policy.nodeOverrides
            = {{"conv0", DType::F32}, {"conv1", DType::F16}, {"data", DType::F16}, {"relu1", DType::F32}};
        policy.excludedNames = {"conv0", "conv1"};
        const Matched result = matched(policy, smallGraph());
        QCOMPARE(result.overrides, (Names{"conv0 float32", "conv1 float16"}));
        QCOMPARE(result.told,
                 std::string("node_overrides: \"conv1\" is also excluded: the override to float16 applies\n"
                             "node_overrides: \"data\" is a variable: only operators can be overridden\n"
                             "node_overrides: \"relu1\" matches no node (did you mean relu0?)"));
    }

    void patternsOverrideWhatNoNameOverrides()
    {
        Policy policy;
        policy.nodeOverrides = {{"/^conv/", DType::F16},
                                {"/^(conv|relu)/", DType::F32}, // before /^conv/ in the order of texts
                                {"conv1", DType::F16},
                                {"/odd/", DType::F16}, // a node's very name
                                {"/^pool/", DType::F32}};
        policy.excludedNames = {"relu0", "conv1"};
        const Matched result = matched(policy, smallGraph());
        QCOMPARE(result.overrides,
                 (Names{"/odd/ float16", "conv0 float32", "conv1 float16", "relu0 float32"}));
        QCOMPARE(
            result.told,
            std::string("node_overrides: \"conv1\" is also excluded: the override to float16 applies\n"
                        "node_overrides: \"/^conv/\" also matches operators that \"/^(conv|relu)/\" sets to "
                        "another type, which applies\n"
                        "node_overrides: \"/^pool/\" matches no operator"));
        policy.nodeOverrides = {{"/^relu/", DType::F16}};
        QCOMPARE(matched(policy, smallGraph()).told,
                 std::string("node_overrides: \"/^relu/\" also matches excluded operators: the override to "
                             "float16 applies"));
        policy.nodeOverrides = {{"/conv(/", DType::F16}};
        QCOMPARE(matched(policy, smallGraph()).told,
                 std::string("node_overrides[\"/conv(/\"], character 5 of the pattern: unmatched '('; write "
                             "'\\(' to match the character itself"));
    }

    void manyUnknownNamesOnALargeGraphStayQuickAndShort()
    {
        Graph graph = halftone::test::emptyGraph();
        NodeId last = graph.add(halftone::test::nodeOf("null", "data"), {});
        for (int i = 0; i < 100'000; ++i)
            last = graph.add(std::make_shared<NodeDef>(
                                 NodeDef{"Flatten", "stage" + std::to_string(i) + "_flatten", {}, {}}),
                             std::vector{Entry{last, 0, 0}});
        Policy policy;
        for (int i = 0; i < 10'000; ++i)
            policy.excludedNames.push_back("stagf" + std::to_string(i) + "_flatten");
        policy.excludedNames.push_back("/(stage1+)+_flatten/");
        std::vector<Warning> warnings;
        const halftone::test::CpuClock clock;
        const auto named = matchNames(policy, graph, warnings);
        QVERIFY2(clock.elapsed() < halftone::test::instrumented(10'000),
                 std::to_string(clock.elapsed()).c_str());
        QVERIFY(named.ok());
        QCOMPARE(named.value().excluded.size(), std::size_t{5}); // stage1, stage11, … stage11111
        QCOMPARE(warnings.size(), std::size_t{51});
        QCOMPARE(warnings.back().text, std::string("9950 more such names"));
    }
};

QTEST_APPLESS_MAIN(MatchNamesTest)
#include "tst_match_names.moc"
