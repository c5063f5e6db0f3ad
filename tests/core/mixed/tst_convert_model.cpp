#include "core/dialect/dialect.h"
#include "core/infer/infer_types.h"
#include "core/mixed/convert_model.h"
#include "tests/support/build_graph.h"
#include "tests/support/typed/convert.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace halftone;
using graph::Entry;
using tensor::DType;
using test::convert;
using test::GraphBuilder;

namespace {

const graph::Attributes kDense{{"num_hidden", "4"}, {"no_bias", "True"}};

policy::Policy mxnetPolicy(bool castParams = false)
{
    policy::Policy policy;
    policy.mode = policy::Mode::NodeForNode;
    policy.castParams = castParams;
    return policy;
}

/// A model whose parameters are the given names, four ones each.
graph::Model modelOf(graph::Graph graph, std::initializer_list<const char *> parameters)
{
    graph::Model model{std::move(graph), {}, true};
    for (const char *name : parameters)
        model.parameters.push_back(test::floatArray(std::string("arg:") + name, {1, 1, 1, 1}));
    return model;
}

std::vector<std::string> castNames(const mixed::ConvertedModel &converted)
{
    std::vector<std::string> names;
    for (const rewrite::InsertedCast &cast : converted.conversion.casts)
        names.push_back(converted.model.graph.node(cast.cast).name);
    std::ranges::sort(names);
    return names;
}

DType storedType(const mixed::ConvertedModel &converted, const std::string &name)
{
    const auto found = std::ranges::find(converted.model.parameters, name, &tensor::Array::name);
    return found->values.dtype();
}

bool warns(const mixed::ConvertedModel &converted, const std::string &part)
{
    return std::ranges::any_of(converted.warnings, [&](const policy::Warning &warning) {
        return (warning.entry + ": " + warning.text).find(part) != std::string::npos;
    });
}

} // namespace

class TestConvertModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Seen by running MXNet 1.9.1 (core/mixed/RULES.md, D-bf16-cut and D-bf16-refused).
    void whatMxnetCannotDoInBfloat16IsWarnedOf()
    {
        GraphBuilder g;
        const Entry fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
        const Entry prelu = g.op("LeakyReLU", "slopes", {fc, g.variable("gamma")}, {{"act_type", "prelu"}});
        const Entry sum = g.op("broadcast_add", "sum", {fc, prelu});
        const Entry same = g.op("elemwise_add", "same", {fc, sum}); // oneDNN's, which rounds
        // Wants them in bfloat16; float32 would need fewer casts otherwise.
        const Entry last = g.op("FullyConnected", "last", {same, g.variable("w2")}, kDense);
        policy::Policy policy;
        policy.target = DType::BF16;
        const auto converted = convert(modelOf(g.withHeads({last}), {"w", "w2", "gamma"}), policy);
        const auto textOf = [&](const std::string &entry) {
            const auto found = std::ranges::find(converted.warnings, entry, &policy::Warning::entry);
            return found == converted.warnings.end() ? std::string() : found->text;
        };
        QVERIFY(textOf("node \"slopes\"").find("cannot run in bfloat16") != std::string::npos);
        QVERIFY(textOf("bfloat16").find(": sum;") != std::string::npos);
        QVERIFY(textOf("bfloat16").find("same") == std::string::npos);
        policy.target = DType::F16;
        QVERIFY(convert(modelOf(g.withHeads({last}), {"w", "w2", "gamma"}), policy).warnings.empty());
    }

    void aWeightOfATargetOperatorIsStoredInTheTargetTypeWhenAsked();
    void aParameterThatAnFp32OperatorReadsStaysFloat32();
    void aParameterReadRawByANeutralOperatorIsCastNotRestored();
    void theOrderOfBranchesDoesNotChangeTheCasts();
    void mixedInputsOfANeutralOperatorAreWidened();
    void castsOfEqualNamesGetUniqueOnes();
    void aWidestOperatorThatRefusesSixteenBitStaysFloat32();
    void integerDataAreNeverCast();
    void anOverrideDecidesForOneNode();
    void aConditionHoldsForADefaultValue();
    void valuesThatOverflowAreCountedAndNamed();
    void aBodyThatIsNotAnalysedIsSaid();
    void whatFollowsABodyIsReadAsItIs();
    void aTargetOperatorWhoseRuleRefusesIsAnErrorNamingNodeAndEntry();
    void aStopRequestCancels();
    void theSourceIsLeftAsItWas();
    void fiftyThousandReadersShareOneCast();
    void conflictsOfManyParametersEnd();
};

void TestConvertModel::aWeightOfATargetOperatorIsStoredInTheTargetTypeWhenAsked()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const graph::Model model = modelOf(g.withHeads({fc}), {"w"});
    const auto kept = convert(model, mxnetPolicy());
    QCOMPARE(storedType(kept, "arg:w"), DType::F32);
    QCOMPARE(
        castNames(kept),
        (std::vector<std::string>{"fc_output_amp_cast_float32", "w_amp_cast_float16", "x_amp_cast_float16"}));
    const auto stored = convert(model, mxnetPolicy(true));
    QCOMPARE(storedType(stored, "arg:w"), DType::F16);
    QCOMPARE(castNames(stored),
             (std::vector<std::string>{"fc_output_amp_cast_float32", "x_amp_cast_float16"}));
    QCOMPARE(stored.parameters.size(), std::size_t{1});
}

void TestConvertModel::aParameterThatAnFp32OperatorReadsStaysFloat32()
{
    for (const bool targetFirst : {true, false}) {
        GraphBuilder g;
        const auto x = g.variable("x");
        const auto w = g.variable("w");
        Entry fc;
        Entry norm;
        if (targetFirst) {
            fc = g.op("FullyConnected", "fc", {x, w}, kDense);
            norm = g.op("norm", "n", {w});
        } else {
            norm = g.op("norm", "n", {w});
            fc = g.op("FullyConnected", "fc", {x, w}, kDense);
        }
        const auto converted = convert(
            modelOf(g.withHeads(targetFirst ? std::vector{fc, norm} : std::vector{norm, fc}), {"w"}),
            mxnetPolicy(true));
        QCOMPARE(storedType(converted, "arg:w"), DType::F32);
        const auto names = castNames(converted);
        QVERIFY(std::ranges::find(names, "w_amp_cast_float16") != names.end());
    }
}

void TestConvertModel::aParameterReadRawByANeutralOperatorIsCastNotRestored()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const auto act = g.op("LeakyReLU", "act", {fc, g.variable("gamma")}, {{"act_type", "prelu"}});
    const auto converted = convert(modelOf(g.withHeads({act}), {"w", "gamma"}), mxnetPolicy());
    QCOMPARE(storedType(converted, "arg:gamma"), DType::F32);
    const auto names = castNames(converted);
    QVERIFY(std::ranges::find(names, "gamma_amp_cast_float16") != names.end());
    QCOMPARE(converted.conversion.precisionOf(act.node), DType::F16);
}

void TestConvertModel::theOrderOfBranchesDoesNotChangeTheCasts()
{
    std::set<std::vector<std::string>> outcomes;
    for (const bool plainFirst : {true, false}) {
        GraphBuilder g;
        const auto x = g.variable("x");
        const auto fc = g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense);
        const auto plain = g.op("relu", "plain", {x});
        const auto joined
            = g.op("Concat", "joined", plainFirst ? std::vector{plain, fc} : std::vector{fc, plain},
                   {{"num_args", "2"}});
        auto names = castNames(convert(modelOf(g.withHeads({joined}), {"w"}), mxnetPolicy()));
        for (std::string &name : names) {
            if (name.ends_with("_amp_multicast")) // named after the first input
                name = "multicast";
        }
        std::ranges::sort(names);
        outcomes.insert(names);
    }
    QCOMPARE(outcomes.size(), std::size_t{1});
}

void TestConvertModel::mixedInputsOfANeutralOperatorAreWidened()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto fc = g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense);
    const auto soft = g.op("softmax", "soft", {x});
    const auto crop = g.op("SwapAxis", "swap", {soft});
    const auto mixed = g.op("_contrib_div_sqrt_dim", "low", {fc});
    const auto joined = g.op("Pad", "pad", {crop}, {{"mode", "constant"}, {"pad_width", "(0,0,0,1)"}});
    const auto converted = convert(modelOf(g.withHeads({mixed, joined}), {"w"}), mxnetPolicy());
    QCOMPARE(converted.conversion.precisionOf(mixed.node), DType::F16);
    QCOMPARE(converted.conversion.precisionOf(joined.node), DType::F32);
}

void TestConvertModel::castsOfEqualNamesGetUniqueOnes()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto y = g.variable("y");
    const auto a = g.op("elemwise_add", "a", {x, y});
    const auto b = g.op("elemwise_mul", "b", {x, y});
    const auto converted = convert(modelOf(g.withHeads({a, b}), {}), mxnetPolicy());
    std::set<std::string> names;
    for (graph::NodeId id = 0; id < converted.model.graph.nodeCount(); ++id)
        QVERIFY2(names.insert(converted.model.graph.node(id).name).second,
                 converted.model.graph.node(id).name.c_str());
    QVERIFY(names.contains("x_amp_multicast") && names.contains("x_amp_multicast_1"));
}

void TestConvertModel::aWidestOperatorThatRefusesSixteenBitStaysFloat32()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const auto boxes = g.op("_contrib_MultiBoxPrior", "boxes", {fc});
    policy::Policy policy = mxnetPolicy();
    policy.moves.push_back({"_contrib_MultiBoxPrior", policy::Policy::Move::To::Widest});
    const auto converted = convert(modelOf(g.withHeads({boxes}), {"w"}), policy);
    QCOMPARE(converted.conversion.precisionOf(boxes.node), DType::F32);
    QVERIFY(warns(converted, "boxes"));
}

void TestConvertModel::integerDataAreNeverCast()
{
    GraphBuilder g;
    const auto embedded = g.op("Embedding", "emb", {g.variable("ids"), g.variable("table")},
                               {{"input_dim", "9"}, {"output_dim", "4"}});
    policy::Policy policy = mxnetPolicy();
    policy.inputDtypes["ids"] = DType::I32;
    policy.moves.push_back({"softmax", policy::Policy::Move::To::Target});
    const auto converted = convert(modelOf(g.withHeads({embedded}), {"table"}), policy);
    for (const std::string &name : castNames(converted))
        QVERIFY(!name.starts_with("ids"));
}

void TestConvertModel::anOverrideDecidesForOneNode()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto first = g.op("FullyConnected", "first", {x, g.variable("w1")}, kDense);
    const auto second = g.op("FullyConnected", "second", {first, g.variable("w2")}, kDense);
    const auto soft = g.op("softmax", "soft", {second});
    policy::Policy policy = mxnetPolicy();
    policy.nodeOverrides = {{"first", DType::F32}, {"soft", DType::F16}};
    const auto converted = convert(modelOf(g.withHeads({soft}), {"w1", "w2"}), policy);
    QCOMPARE(converted.conversion.precisionOf(first.node), DType::F32);
    QCOMPARE(converted.conversion.precisionOf(second.node), DType::F16);
    QCOMPARE(converted.conversion.precisionOf(soft.node), DType::F16);
}

void TestConvertModel::aConditionHoldsForADefaultValue()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const auto pool = g.op("Pooling", "pool", {fc}, {{"kernel", "(2, 2)"}}); // pool_type is max by default
    policy::Policy policy = mxnetPolicy();
    policy.addedConditions.push_back({"Pooling", "pool_type", {"max"}});
    const auto converted = convert(modelOf(g.withHeads({pool}), {"w"}), policy);
    QCOMPARE(converted.assignment.rule(pool.node), policy::Rule::Conditional);
    QCOMPARE(converted.conversion.precisionOf(pool.node), DType::F32);
}

void TestConvertModel::valuesThatOverflowAreCountedAndNamed()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    graph::Model model = modelOf(g.withHeads({fc}), {});
    model.parameters.push_back(test::floatArray("arg:w", {70000, 1, -1e6F, 1e-9F}));
    const auto converted = convert(model, mxnetPolicy(true));
    QCOMPARE(converted.parameters.at(0).losses.overflowed, std::uint64_t{2});
    QCOMPARE(converted.parameters.at(0).losses.flushed, std::uint64_t{1});
    QVERIFY(warns(converted, "arg:w") && warns(converted, "2 of 4 values overflow float16"));
    QVERIFY(!mixed::convertModel(model, mxnetPolicy(true), true).ok());
}

void TestConvertModel::aBodyThatIsNotAnalysedIsSaid()
{
    GraphBuilder inner;
    const graph::Graph body = inner.withHeads({inner.op("exp", "e", {inner.variable("v")})});
    graph::Graph graph = test::emptyGraph();
    const auto x = graph.add(test::nodeOf("null", "x"), {});
    const Entry input{x, 0, 0};
    const auto loop = graph.add(std::make_shared<graph::NodeDef>(graph::NodeDef{
                                    "_foreach", "loop", {}, {std::make_shared<const graph::Graph>(body)}}),
                                std::span(&input, 1));
    graph.setHeads({{loop, 0, 0}});
    QVERIFY(warns(convert(modelOf(graph, {}), mxnetPolicy()), "loop"));
}

/// MXNet asks no type rule where nothing was cast; the head is cast behind, since nothing says that it is float32.
void TestConvertModel::whatFollowsABodyIsReadAsItIs()
{
    GraphBuilder inner;
    const graph::Graph body = inner.withHeads({inner.op("exp", "e", {inner.variable("v")})});
    graph::Graph graph = test::emptyGraph();
    const auto x = graph.add(dialect::of(graph).makeVariable("x"), {});
    const Entry input{x, 0, 0};
    const auto loop = graph.add(std::make_shared<graph::NodeDef>(graph::NodeDef{
                                    "_foreach", "loop", {}, {std::make_shared<const graph::Graph>(body)}}),
                                std::span(&input, 1));
    const Entry output{loop, 0, 0};
    const auto swapped
        = graph.add(std::make_shared<graph::NodeDef>(graph::NodeDef{"SwapAxis", "swapped", {}, {}}),
                    std::span(&output, 1));
    graph.setHeads({{swapped, 0, 0}});
    const auto converted = convert(modelOf(graph, {}), mxnetPolicy());
    QVERIFY(!warns(converted, "swapped"));
    const auto lines = test::linesOf(converted.model.graph);
    QCOMPARE(lines.at(2), std::string("SwapAxis swapped(loop)"));
    QCOMPARE(lines.at(3), std::string("amp_cast swapped_output_amp_cast_float32(swapped)"));
}

void TestConvertModel::aTargetOperatorWhoseRuleRefusesIsAnErrorNamingNodeAndEntry()
{
    GraphBuilder g;
    const auto taken = g.op("take", "picked", {g.variable("x"), g.variable("ids")});
    policy::Policy policy = mxnetPolicy();
    policy.moves.push_back({"take", policy::Policy::Move::To::Target});
    const auto converted = mixed::convertModel(modelOf(g.withHeads({taken}), {}), policy, false);
    QVERIFY(!converted.ok());
    QCOMPARE(converted.error().where, std::string("picked"));
    QVERIFY(converted.error().found.find("take") != std::string::npos);
}

void TestConvertModel::aStopRequestCancels()
{
    GraphBuilder g;
    const graph::Model model = modelOf(g.withHeads({g.op("relu", "r", {g.variable("x")})}), {});
    std::stop_source stop;
    stop.request_stop();
    const auto converted = mixed::convertModel(model, mxnetPolicy(), false, {stop.get_token(), {}});
    QVERIFY(!converted.ok());
    QCOMPARE(converted.error().code, Errc::Cancelled);
}

void TestConvertModel::theSourceIsLeftAsItWas()
{
    GraphBuilder g;
    const auto fc
        = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w", {{"__dtype__", "0"}})}, kDense);
    const graph::Model model = modelOf(g.withHeads({fc}), {"w"});
    const auto before = test::linesOf(model.graph);
    convert(model, mxnetPolicy(true));
    QCOMPARE(test::linesOf(model.graph), before);
    QCOMPARE(*model.graph.node(1).attributes.find("__dtype__"), std::string("0"));
    QCOMPARE(model.parameters[0].values.dtype(), DType::F32);
}

void TestConvertModel::fiftyThousandReadersShareOneCast()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto w = g.variable("w");
    std::vector<Entry> heads;
    for (int k = 0; k < 50'000; ++k)
        heads.push_back(g.op("FullyConnected", "fc" + std::to_string(k), {x, w}, kDense));
    const auto converted = convert(modelOf(g.withHeads(heads), {"w"}), mxnetPolicy());
    QCOMPARE(converted.conversion.casts.size(), std::size_t{50'002});
    QCOMPARE(converted.conversion.casts.front().readers.size(), std::size_t{50'000});
}

/// Each parameter is wanted in both types, and each conflict shows only once the one before is settled.
void TestConvertModel::conflictsOfManyParametersEnd()
{
    GraphBuilder g;
    auto tensor = g.variable("x");
    std::vector<Entry> heads;
    graph::Model model;
    for (int k = 0; k < 2'000; ++k) {
        const std::string name = "w" + std::to_string(k);
        const auto w = g.variable(name);
        tensor = g.op("FullyConnected", "fc" + std::to_string(k), {tensor, w}, kDense);
        heads.push_back(g.op("norm", "n" + std::to_string(k), {w}));
        model.parameters.push_back(test::floatArray("arg:" + name, {1}));
    }
    heads.insert(heads.begin(), tensor);
    model.graph = g.withHeads(heads);
    model.hasParameters = true;
    const auto converted = convert(model, mxnetPolicy(true));
    QVERIFY(converted.parameters.empty());
}

QTEST_APPLESS_MAIN(TestConvertModel)
#include "tst_convert_model.moc"
