#include "core/dialect/registry.h"
#include "core/policy/assignment.h"
#include "tests/support/build_graph.h"
#include "tests/support/cpu_clock.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>

using namespace halftone::policy;
using halftone::graph::Attributes;
using halftone::graph::Entry;
using halftone::graph::Graph;
using halftone::graph::NodeDef;
using halftone::graph::NodeId;
using halftone::tensor::DType;
using Json = nlohmann::json;

namespace {

NodeId add(Graph &graph, const char *op, const char *name, Attributes attributes = {})
{
    const std::vector<Entry> inputs(graph.nodeCount() > 0 && op != std::string("null") ? 1 : 0);
    return graph.add(halftone::test::nodeOf(op, name, std::move(attributes)), inputs);
}

/// A chain of these operators after a variable; each is named after its operator and its place.
Graph bodyOf(std::initializer_list<const char *> ops)
{
    Graph body = halftone::test::emptyGraph();
    add(body, "null", "data0");
    for (const char *op : ops)
        add(body, op, (op + std::to_string(body.nodeCount())).c_str());
    return body;
}

NodeId addFused(Graph &graph, const char *op, const char *name, Graph body)
{
    const auto shared = std::make_shared<const Graph>(std::move(body));
    return graph.add(std::make_shared<NodeDef>(NodeDef{op, name, {}, {shared}}), std::vector<Entry>(1));
}

Rules rulesOf(const Policy &policy)
{
    std::vector<Warning> warnings;
    auto rules = resolve(policy, *halftone::dialect::dialectNamed("mxnet"), warnings);
    if (!rules.ok())
        qFatal("%s", rules.error().message().c_str());
    return std::move(rules).value();
}

/// "rule, request, entry" of one node.
std::string said(const Assignment &assignment, NodeId id)
{
    return std::string(nameOf(assignment.rule(id))) + ", " + std::string(nameOf(assignment.requested(id)))
        + ", " + assignment.entry(id);
}

Json readJson(const std::filesystem::path &path)
{
    std::ifstream file(path);
    return Json::parse(file);
}

/// What the reference decides, from its lists as text and nothing else (core/mixed/RULES.md, M-precedence).
class Reference
{
public:
    explicit Reference(const Json &settings)
    {
        const std::string target = settings["target_dtype"];
        m_lists
            = readJson(std::filesystem::path(HALFTONE_SOURCE_DIR) / "resources/oplists" / (target + ".json"));
        for (const char *key : {"target_dtype_ops", "fp32_ops", "conditional_fp32_ops"}) {
            if (settings.contains(key) && !settings[key].is_null())
                m_lists[key] = settings[key];
        }
        m_excluded = settings.value("excluded_sym_names", Json());
    }

    Request decide(const std::string &op, const std::string &name, const Json &attributes) const
    {
        if (op == "null")
            return has(m_excluded, name) ? Request::Fp32 : Request::Nothing;
        if (has(m_lists["fp32_ops"], op) || has(m_excluded, name))
            return Request::Fp32;
        if (has(m_lists["target_dtype_ops"], op))
            return Request::Target;
        if (has(m_lists["widest_dtype_ops"], op))
            return Request::Widest;
        for (const Json &rule : m_lists["conditional_fp32_ops"]) {
            const std::string key = rule[1];
            if (rule[0] == op && attributes.contains(key) && has(rule[2], attributes[key].get<std::string>()))
                return Request::Fp32;
        }
        return Request::Follow;
    }

private:
    static bool has(const Json &list, const std::string &text)
    {
        return list.is_array() && std::find(list.begin(), list.end(), text) != list.end();
    }

    Json m_lists;
    Json m_excluded;
};

Policy policyOf(const Json &settings)
{
    Policy policy;
    policy.target = halftone::tensor::dtypeNamed(settings["target_dtype"].get<std::string>()).value();
    const auto names = [&](const char *key) -> std::optional<std::vector<std::string>> {
        if (!settings.contains(key) || settings[key].is_null())
            return {};
        return settings[key].get<std::vector<std::string>>();
    };
    policy.targetOps = names("target_dtype_ops");
    policy.fp32Ops = names("fp32_ops");
    policy.excludedNames = names("excluded_sym_names").value_or(std::vector<std::string>());
    if (settings.contains("conditional_fp32_ops") && !settings["conditional_fp32_ops"].is_null()) {
        policy.conditionalOps.emplace();
        for (const Json &rule : settings["conditional_fp32_ops"])
            policy.conditionalOps->push_back({rule[0], rule[1], rule[2].get<std::vector<std::string>>()});
    }
    return policy;
}

struct Case
{
    std::string name;
    Json facts;
    Json symbol;
};

std::vector<Case> cases()
{
    std::vector<Case> all;
    for (const auto &folder :
         std::filesystem::directory_iterator(std::filesystem::path(HALFTONE_TEST_DATA) / "amp")) {
        if (std::filesystem::exists(folder.path() / "case.json"))
            all.push_back({folder.path().filename(), readJson(folder.path() / "case.json"),
                           readJson(folder.path() / "model-symbol.json")});
    }
    return all;
}

const Json &attributesOf(const Json &node)
{
    static const Json kNone = Json::object();
    for (const char *key : {"attrs", "param"}) {
        if (node.contains(key))
            return node[key];
    }
    return kNone;
}

Graph graphOf(const Json &symbol)
{
    Graph graph = halftone::test::emptyGraph();
    for (const Json &node : symbol["nodes"]) {
        std::vector<Attributes::Item> attributes;
        for (const auto &[key, value] : attributesOf(node).items())
            attributes.emplace_back(key, value);
        std::vector<Entry> inputs;
        for (const Json &input : node["inputs"])
            inputs.push_back({input[0], input[1], 0});
        graph.add(halftone::test::nodeOf(node["op"], node["name"], Attributes(std::move(attributes))),
                  inputs);
    }
    return graph;
}

} // namespace

class AssignmentTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// But for the cases that must be refused, and those where defaults count (D-conditional-default).
    void decidesAsTheReferenceOnEveryRecordedCase()
    {
        int nodes = 0, widest = 0;
        for (const Case &one : cases()) {
            if (one.name.starts_with("error_") || one.name == "list_conditional_on_default")
                continue;
            const Graph graph = graphOf(one.symbol);
            const Policy policy = policyOf(one.facts["settings"]);
            const Reference reference(one.facts["settings"]);
            std::vector<Warning> warnings;
            const auto named = matchNames(policy, graph, warnings);
            QVERIFY(named.ok());
            const Assignment assignment = assign(graph, rulesOf(policy), named.value());
            for (NodeId id = 0; id < graph.nodeCount(); ++id) {
                const auto &node = graph.node(id);
                const Request expected
                    = reference.decide(node.op, node.name, attributesOf(one.symbol["nodes"][id]));
                QVERIFY2(assignment.requested(id) == expected,
                         (one.name + ": " + node.name + ", " + said(assignment, id)).c_str());
                ++nodes;
                widest += expected == Request::Widest;
            }
        }
        QVERIFY2(nodes > 3000 && widest > 50, std::to_string(nodes).c_str());
    }

    void whatTheReferenceRefusesIsRefused()
    {
        const std::map<std::string, std::string> expected{
            {"error_conditional_and_fp32", "conditional_fp32_ops"},
            {"error_conditional_and_target", "conditional_fp32_ops"},
            {"error_op_in_two_lists", "target_dtype_ops"},
            {"error_unknown_op", "unknown operator \"NoSuchOp\""},
        };
        std::size_t seen = 0;
        for (const Case &one : cases()) {
            if (!expected.contains(one.name))
                continue;
            ++seen;
            std::vector<Warning> warnings;
            const auto rules = resolve(policyOf(one.facts["settings"]),
                                       *halftone::dialect::dialectNamed("mxnet"), warnings);
            QVERIFY2(!rules.ok(), one.name.c_str());
            QVERIFY2(rules.error().message().find(expected.at(one.name)) != std::string::npos,
                     rules.error().message().c_str());
        }
        QCOMPARE(seen, expected.size());
    }

    void aWidestOperatorMayBeMovedAsTheDefectListSays()
    {
        const Json facts
            = readJson(std::filesystem::path(HALFTONE_TEST_DATA) / "amp/error_widest_op_moved/case.json");
        std::vector<Warning> warnings;
        QVERIFY(
            resolve(policyOf(facts["settings"]), *halftone::dialect::dialectNamed("mxnet"), warnings).ok());
    }

    void eachRuleSaysWhatDecided()
    {
        Graph graph = halftone::test::emptyGraph();
        const NodeId data = add(graph, "null", "data"), conv = add(graph, "Convolution", "conv"),
                     soft = add(graph, "softmax", "soft"), sum = add(graph, "elemwise_add", "sum"),
                     elu = add(graph, "LeakyReLU", "elu", {{"act_type", "elu"}}),
                     leaky = add(graph, "LeakyReLU", "leaky"), pool = add(graph, "Pooling", "pool"),
                     own = add(graph, "_my_op", "own"), kept = add(graph, "Convolution", "kept"),
                     forced = add(graph, "softmax", "forced"), pinned = add(graph, "Pooling", "pinned");
        Policy policy;
        policy.excludedNames = {"/^ke/"};
        policy.nodeOverrides = {{"forced", DType::F16}, {"/^pin+ed$/", DType::F32}};
        std::vector<Warning> warnings;
        const Assignment made = assign(graph, rulesOf(policy), matchNames(policy, graph, warnings).value());
        QCOMPARE(said(made, data), std::string("variable, , "));
        QCOMPARE(
            said(made, conv),
            std::string("target-list, target, target_dtype_ops: \"Convolution\" (built-in float16 1.9.1)"));
        QCOMPARE(said(made, soft),
                 std::string("fp32-list, fp32, fp32_ops: \"softmax\" (built-in float16 1.9.1)"));
        QCOMPARE(
            said(made, sum),
            std::string("widest-list, widest, widest_dtype_ops: \"elemwise_add\" (built-in float16 1.9.1)"));
        QCOMPARE(said(made, elu),
                 std::string("conditional, fp32, conditional_fp32_ops: \"LeakyReLU\" act_type=elu, selu "
                             "(built-in float16 1.9.1)"));
        QCOMPARE(said(made, leaky),
                 std::string("condition-unmet, follow, conditional_fp32_ops: \"LeakyReLU\" (built-in float16 "
                             "1.9.1), no condition holds"));
        QCOMPARE(said(made, pool),
                 std::string("neutral-list, follow, fp16_fp32_ops: \"Pooling\" (built-in float16 1.9.1)"));
        QCOMPARE(said(made, own), std::string("unlisted, follow, "));
        QCOMPARE(said(made, kept), std::string("excluded-name, fp32, excluded_sym_names: \"/^ke/\""));
        QCOMPARE(said(made, forced), std::string("override, target, node_overrides: \"forced\" = float16"));
        QCOMPARE(said(made, pinned), std::string("override, fp32, node_overrides: \"/^pin+ed$/\" = float32"));
    }

    void anOverrideBeatsAnExclusionAndBothBeatTheLists()
    {
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        const NodeId conv = add(graph, "Convolution", "conv");
        const Rules rules = rulesOf({});
        QVERIFY(assign(graph, rules, {{{conv, "conv"}}, {}}).rule(conv) == Rule::ExcludedName);
        QVERIFY(assign(graph, rules, {{{conv, "conv"}}, {{conv, DType::F16}}}).rule(conv)
                == Rule::OverrideTarget);
    }

    void anExcludedVariableCountsAsFloat32()
    {
        Graph graph = halftone::test::emptyGraph();
        const NodeId data = add(graph, "null", "data");
        const Assignment made = assign(graph, rulesOf({}), {{{data, "data"}}, {}});
        QVERIFY(made.rule(data) == Rule::ExcludedName && made.requested(data) == Request::Fp32);
    }

    /// D-conditional-default: by meaning, and with the default where nothing is written.
    void conditionsCompareValuesByMeaning_data()
    {
        QTest::addColumn<std::string>("attribute");
        QTest::addColumn<std::string>("written");
        QTest::addColumn<std::string>("value");
        QTest::addColumn<bool>("holds");
        const auto row = [](const char *attribute, const char *written, const char *value, bool holds) {
            QTest::addRow("%s=%s is %s", attribute, written, value)
                << std::string(attribute) << std::string(written) << std::string(value) << holds;
        };
        row("pool_type", "avg", "avg", true);
        row("pool_type", "", "max", true);
        row("pool_type", "", "avg", false);
        row("kernel", "(2, 2)", "[2,2]", true);
        row("kernel", "(2, 3)", "(2, 2)", false);
        row("global_pool", "1", "True", true);
        row("global_pool", "", "False", true);
        row("global_pool", "True", "0", false);
    }

    void conditionsCompareValuesByMeaning()
    {
        QFETCH(std::string, attribute);
        QFETCH(std::string, written);
        QFETCH(std::string, value);
        Policy policy;
        policy.conditionalOps = {{"Pooling", attribute, {"no such value", value}}};
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        const NodeId pool = add(graph, "Pooling", "pool",
                                written.empty() ? Attributes() : Attributes{{attribute, written}});
        const bool holds = assign(graph, rulesOf(policy), {}).rule(pool) == Rule::Conditional;
        QTEST(holds, "holds");
    }

    void operatorsThatMxnetLacksCompareWrittenText()
    {
        Policy policy;
        policy.conditionalOps = {{"_npi_matmul", "mode", {"2"}}};
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        const NodeId same = add(graph, "_npi_matmul", "a", {{"mode", "2"}}),
                     other = add(graph, "_npi_matmul", "b", {{"mode", "2.0"}}),
                     none = add(graph, "_npi_matmul", "c");
        const Assignment made = assign(graph, rulesOf(policy), {});
        QVERIFY(made.rule(same) == Rule::Conditional);
        QVERIFY(made.rule(other) == Rule::ConditionUnmet && made.rule(none) == Rule::ConditionUnmet);
    }

    void aFusedOperatorTakesTheStrictestDecisionOfItsBody()
    {
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        const auto fused = [&graph](const char *name, std::initializer_list<const char *> ops) {
            return addFused(graph, "_sg_onednn_conv", name, bodyOf(ops));
        };
        const NodeId target = fused("a", {"elemwise_add", "Convolution", "Pooling", "Convolution"}),
                     fp32 = fused("b", {"Convolution", "softmax"}),
                     widest = fused("c", {"Pooling", "elemwise_add"}),
                     neutral = fused("d", {"_my_op", "Pooling"}), unlisted = fused("e", {"_my_op"});
        Graph conditional = halftone::test::emptyGraph();
        add(conditional, "null", "data0");
        add(conditional, "Convolution", "conv");
        add(conditional, "LeakyReLU", "elu", {{"act_type", "elu"}});
        const NodeId met = addFused(graph, "_sg_onednn_conv", "f", std::move(conditional));
        const Assignment made = assign(graph, rulesOf({}), {});
        QCOMPARE(said(made, target),
                 std::string(
                     "target-list, target, target_dtype_ops: \"Convolution\" (built-in float16 1.9.1), for "
                     "Convolution2 in its body"));
        QCOMPARE(said(made, fp32),
                 std::string(
                     "fp32-list, fp32, fp32_ops: \"softmax\" (built-in float16 1.9.1), for softmax2 in its "
                     "body"));
        QCOMPARE(said(made, widest),
                 std::string(
                     "widest-list, widest, widest_dtype_ops: \"elemwise_add\" (built-in float16 1.9.1), for "
                     "elemwise_add2 in its body"));
        QCOMPARE(
            said(made, neutral),
            std::string(
                "neutral-list, follow, fp16_fp32_ops: \"Pooling\" (built-in float16 1.9.1), for Pooling2 "
                "in its body"));
        QCOMPARE(said(made, unlisted), std::string("unlisted, follow, "));
        QCOMPARE(
            said(made, met),
            std::string("conditional, fp32, conditional_fp32_ops: \"LeakyReLU\" act_type=elu, selu (built-in "
                        "float16 1.9.1), for elu in its body"));
    }

    void aListThatNamesTheFusedOperatorWins()
    {
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        const NodeId listed = addFused(graph, "_sg_mkldnn_conv", "listed", bodyOf({"Convolution"})),
                     moved = addFused(graph, "_sg_mkldnn_selfatt_qk", "moved", bodyOf({"Convolution"}));
        Policy policy;
        policy.target = DType::BF16;
        policy.moves = {{"_sg_mkldnn_selfatt_qk", Policy::Move::To::Fp32}};
        const Assignment made = assign(graph, rulesOf(policy), {});
        QCOMPARE(said(made, listed),
                 std::string("fp32-list, fp32, fp32_ops: \"_sg_mkldnn_conv\" (built-in bfloat16 1.9.1)"));
        QVERIFY(made.rule(moved) == Rule::Fp32List);
    }

    void fusedOperatorsInFusedOnesAreFollowedAndControlFlowIsNot()
    {
        Graph inner = halftone::test::emptyGraph();
        add(inner, "null", "data0");
        addFused(inner, "_sg_onednn_conv", "inner", bodyOf({"Convolution"}));
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        const NodeId outer = addFused(graph, "_sg_onednn_conv", "outer", std::move(inner)),
                     loop = addFused(graph, "_foreach", "loop", bodyOf({"Convolution"}));
        const Assignment made = assign(graph, rulesOf({}), {});
        QVERIFY(made.rule(outer) == Rule::TargetList);
        QVERIFY(made.rule(loop) != Rule::TargetList);
    }

    void aHundredThousandNodesAreQuick()
    {
        Graph graph = halftone::test::emptyGraph();
        add(graph, "null", "data");
        for (int i = 0; i < 100'000; ++i)
            add(graph,
                std::array{"Convolution", "Activation", "elemwise_add",
                           "Pooling"}[static_cast<std::size_t>(i % 4)],
                "n");
        const Rules rules = rulesOf({});
        const halftone::test::CpuClock clock;
        const Assignment made = assign(graph, rules, {});
        QVERIFY2(clock.elapsed() < halftone::test::instrumented(500),
                 std::to_string(clock.elapsed()).c_str());
        QCOMPARE(made.nodes.size(), std::size_t{100'001});
        QVERIFY(made.entries.size() < 10);
    }
};

QTEST_APPLESS_MAIN(AssignmentTest)
#include "tst_assignment.moc"
