#include "core/session/document.h"

#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

using namespace halftone;
using session::Document;

namespace {

const std::string kSample = std::string(HALFTONE_SOURCE_DIR) + "/resources/sample/digits-symbol.json";

std::unique_ptr<Document> sample()
{
    auto document = Document::open(kSample);
    return document.ok() ? std::move(document).value() : nullptr;
}

std::shared_ptr<const session::Snapshot> derived(const Document &document)
{
    return Document::derive(document.request(), nullptr).value();
}

} // namespace

class TestDocument : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void editsAreTakenBackAndDoneAgain()
    {
        const auto document = sample();
        const policy::Policy first = document->policy();
        QVERIFY(!document->canUndo());
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        const policy::Policy second = document->policy();
        QVERIFY(second != first);
        QCOMPARE(document->undoText(), std::string("Convolution to fp32"));
        document->undo();
        QVERIFY(document->policy() == first);
        QCOMPARE(document->redoText(), std::string("Convolution to fp32"));
        document->redo();
        QVERIFY(document->policy() == second);
    }

    /// Counted in the file: of a Loop, of an If in it, of a Scan in that.
    void operatorsOfBodiesAreCountedByWhatTheyComputeIn()
    {
        const auto document = Document::open(std::string(HALFTONE_TEST_DATA) + "/onnx/edges.onnx");
        if (!document.ok() && document.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        QVERIFY(document.ok());
        const auto snapshot = derived(*document.value());
        std::map<std::string, std::size_t> byName;
        std::size_t narrow = 0;
        for (const auto &[type, operators] : snapshot->operatorsInBodies()) {
            for (const auto &[op, count] : operators) {
                byName[op] += count;
                narrow += type == tensor::DType::F16 ? count : 0;
            }
        }
        const std::map<std::string, std::size_t> expected{{"Add", 2},    {"Identity", 1},  {"If", 1},
                                                          {"MatMul", 3}, {"ReduceMax", 1}, {"Relu", 3},
                                                          {"Scan", 1},   {"Tanh", 1}};
        QVERIFY(byName == expected);
        QVERIFY(narrow >= 3); // MatMul is in the list of float16
        QVERIFY(document.value()->apply(policy::MoveOperators{{"MatMul"}, policy::List::Fp32}).ok());
        std::size_t wide = 0;
        for (const auto &[type, operators] : derived(*document.value())->operatorsInBodies())
            if (const auto found = operators.find("MatMul"); found != operators.end())
                wide += type == tensor::DType::F32 ? found->second : 0;
        QCOMPARE(wide, std::size_t{3});
    }

    void whatIsNotConvertedYetSaysSo()
    {
        const auto document = sample();
        const auto awaited = Document::unconverted(document->request(), nullptr, std::nullopt);
        QVERIFY(awaited->isAwaited() && !awaited->converted && !awaited->error);
        QCOMPARE(awaited->revision, document->revision());
        QVERIFY(!awaited->rules->places.empty() && awaited->operatorsInBodies().empty());
        const auto converted = derived(*document);
        QVERIFY(!converted->isAwaited());
        const auto stopped = Document::unconverted(document->request(), converted.get(), cancelled());
        QVERIFY(!stopped->isAwaited() && stopped->error && stopped->converted == converted->converted);
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(Document::derive(document->request(), nullptr, {stop.get_token(), {}}).error().code,
                 Errc::Cancelled);
        QCOMPARE(Document::open(kSample, {}, {stop.get_token(), {}}).error().code, Errc::Cancelled);
    }

    /// The sample's input and parameters are float32, as its file says; an input may be given another type.
    void typesOfTheSourceComeWithTheDocument()
    {
        const auto document = sample();
        const auto types = document->request().sourceTypes;
        const auto snapshot = derived(*document);
        QVERIFY(snapshot->sourceTypes == types);
        for (graph::NodeId id = 0; id < snapshot->graph().nodeCount(); ++id)
            QCOMPARE(types->at(id, 0), tensor::DType::F32);
        policy::Policy policy;
        policy.inputDtypes["data"] = tensor::DType::F64;
        document->setHistory({{{policy, {}}}, 0});
        QVERIFY(document->request().sourceTypes != types);
    }

    void typesOfTheSourceFollowAPolicyThatSetsThem()
    {
        const auto document = sample();
        const graph::Graph &graph = document->session().source().model.graph;
        const auto types = document->request().sourceTypes;
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        QVERIFY(document->request().sourceTypes == types); // not computed again
        policy::Policy policy = document->policy();
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
            if (graph.isVariable(id) && graph.node(id).name.find("_bn_") == std::string::npos)
                policy.inputDtypes[graph.node(id).name] = tensor::DType::F16; // BatchNorm's own stay float32
        const auto typeOfHead = [&] { return document->request().sourceTypes->of(graph.heads()[0]); };
        QVERIFY(document->apply(policy::ReplacePolicy{policy, "Load half.json"}).ok());
        QCOMPARE(typeOfHead(), tensor::DType::F16);
        document->undo();
        QCOMPARE(typeOfHead(), tensor::DType::F32);
        document->redo();
        QCOMPARE(typeOfHead(), tensor::DType::F16);
    }

    void everyStepHasARevisionOfItsOwn()
    {
        const auto document = sample();
        std::set<std::uint64_t> seen{document->revision()};
        QVERIFY(document->apply(policy::ExcludeNames{{"conv0"}}).ok());
        QVERIFY(seen.insert(document->revision()).second);
        document->undo();
        QVERIFY(seen.insert(document->revision()).second);
        document->redo();
        QVERIFY(seen.insert(document->revision()).second);
    }

    void anEditThatChangesNothingIsNoStep()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Target}).ok());
        QVERIFY(!document->canUndo());
    }

    void aRefusedEditLeavesThePolicy()
    {
        const auto document = sample();
        const auto refused = document->apply(policy::MoveOperators{{"NoSuchOperator"}, policy::List::Fp32});
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message().find("NoSuchOperator") != std::string::npos);
        QVERIFY(document->policy() == policy::Policy());
    }

    void anEditAfterAnUndoForgetsWhatCouldBeRedone()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::ExcludeNames{{"conv0"}}).ok());
        document->undo();
        QVERIFY(document->apply(policy::ExcludeNames{{"conv1"}}).ok());
        QVERIFY(!document->canRedo());
        QCOMPARE(document->policy().excludedNames, std::vector<std::string>{"conv1"});
    }

    void aMoveThereAndBackGivesThePolicyOfBefore()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Target}).ok());
        QVERIFY(document->policy() == policy::Policy());
    }

    void theSnapshotShowsWhatTheListsSay()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        const auto snapshot = derived(*document);
        QVERIFY(!snapshot->error);
        for (graph::NodeId id = 0; id < snapshot->graph().nodeCount(); ++id)
            if (snapshot->graph().node(id).op == "Convolution")
                QCOMPARE(snapshot->precisionOf(id), tensor::DType::F32);
    }

    void thePreviewCountsWhatTheEditThenDoes_data()
    {
        QTest::addColumn<int>("list");
        QTest::newRow("fp32") << static_cast<int>(policy::List::Fp32);
        QTest::newRow("target") << static_cast<int>(policy::List::Target);
        QTest::newRow("widest") << static_cast<int>(policy::List::Widest);
        QTest::newRow("neutral") << static_cast<int>(policy::List::Neutral);
    }
    void thePreviewCountsWhatTheEditThenDoes()
    {
        QFETCH(int, list);
        for (const char *op : {"Convolution", "BatchNorm", "sum", "softmax", "FullyConnected"}) {
            const auto document = sample();
            const auto before = derived(*document);
            const policy::Edit edit = policy::MoveOperators{{op}, static_cast<policy::List>(list)};
            const session::EditEffect effect = Document::effectOf(*before, edit);
            // BatchNorm writes to its inputs, which nothing may widen.
            QCOMPARE(effect.error.has_value(), !document->apply(edit).ok());
            QCOMPARE(effect.error.has_value(),
                     std::string(op) == "BatchNorm" && list == static_cast<int>(policy::List::Widest));
            if (effect.error)
                continue;
            const auto after = derived(*document);
            QCOMPARE(effect.castsBefore, before->castCount());
            QCOMPARE(effect.castsAfter, after->castCount());
            std::size_t changed = 0;
            std::size_t named = 0;
            for (graph::NodeId id = 0; id < after->graph().nodeCount(); ++id) {
                if (after->graph().isVariable(id))
                    continue;
                changed += before->precisionOf(id) != after->precisionOf(id) ? 1 : 0;
                named += after->graph().node(id).op == op ? 1 : 0;
            }
            QCOMPARE(effect.nodesChanged, changed);
            QCOMPARE(effect.nodesNamed, named);
        }
    }

    void onlyInt8OperatorsMakeACalibrationAnotherRevision()
    {
        const auto document = sample();
        const auto calibrate = [] { return std::make_shared<const walks::CalibrateOutcome>(); };
        const std::uint64_t before = document->revision();
        QVERIFY(!document->setCalibration(calibrate()));
        QCOMPARE(document->revision(), before);
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Int8}).ok());
        const auto known = calibrate();
        QVERIFY(document->setCalibration(known));
        const std::uint64_t after = document->revision();
        QVERIFY(!document->setCalibration(known));
        QCOMPARE(document->revision(), after);
        const auto snapshot = derived(*document);
        QVERIFY(!snapshot->error);
        QCOMPARE(snapshot->calibration, known);
        // What was chosen once is not searched for again.
        const auto next = Document::derive(document->request(), snapshot.get()).value();
        QCOMPARE(next->ranges, snapshot->ranges);
    }

    void thresholdEditsAreTakenBack()
    {
        const auto document = sample();
        const policy::Policy first = document->policy();
        QVERIFY(document->apply(policy::SetThresholds{{"data"}, policy::ThresholdChoice{{}, 2.5}}).ok());
        QCOMPARE(document->undoText(), std::string("Threshold of data to 2.5"));
        QVERIFY(document->apply(policy::SetThresholdMethod{policy::ThresholdMethod::Entropy}).ok());
        QVERIFY(!document->apply(policy::SetThresholds{{"data"}, policy::ThresholdChoice{{}, 0.0}}).ok());
        QVERIFY(!document->apply(policy::MoveOperators{{"softmax"}, policy::List::Int8}).ok());
        document->undo();
        QVERIFY(document->apply(policy::SetThresholds{{"data"}, std::nullopt}).ok());
        QVERIFY(document->policy() == first);
    }

    void conditionsTakeAnOperatorOutOfItsOtherList()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::SetConditions{"Convolution", {{"Convolution", "num_filter", {"16"}}}})
                    .ok());
        const auto snapshot = derived(*document);
        QVERIFY(!snapshot->error);
        QVERIFY(snapshot->rules->places.at("Convolution").list == policy::List::Conditional);
        QVERIFY(document->apply(policy::SetConditions{"Convolution", {}}).ok());
        QVERIFY(!derived(*document)->error);
    }

    void whoDecidesForANodeTakesASearchsReasonFromIt()
    {
        const auto document = sample();
        policy::Policy tuned = document->policy();
        tuned.nodeOverrides = {{"conv0", tensor::DType::F32}, {"conv1", tensor::DType::F32}};
        tuned.reasons = {{"conv0", "float32: because"}, {"conv1", "float32: because"}};
        QVERIFY(document->apply(policy::ReplacePolicy{tuned, "Adopt"}).ok());
        QVERIFY(document->apply(policy::OverrideNodes{{"conv0"}, tensor::DType::F32}).ok());
        QVERIFY(!document->policy().reasons.contains("conv0"));
        QVERIFY(document->policy().reasons.contains("conv1"));
        QVERIFY(!derived(*document)->error);
    }

    void anotherTargetTakesOverridesAlong()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::OverrideNodes{{"energy"}, tensor::DType::F16}).ok());
        QVERIFY(document->apply(policy::SetTarget{tensor::DType::BF16}).ok());
        QCOMPARE(document->policy().nodeOverrides.at("energy"), tensor::DType::BF16);
        QVERIFY(!derived(*document)->error);
    }

    void aShapeThatContradictsTheModelIsRefusedAndChangesNothing()
    {
        const auto document = sample();
        const std::uint64_t before = document->revision();
        QVERIFY(!document->setInputShape("data", tensor::Shape{1, 7, 8, 8}).ok());
        QVERIFY(!document->setInputShape("nothing", tensor::Shape{1}).ok());
        QCOMPARE(document->revision(), before);
        QVERIFY(document->setInputShape("data", tensor::Shape{5, 1, 8, 8}).ok());
        QVERIFY(document->revision() != before);
    }

    /// How many channels a convolution of ONNX has its weights say, not its attributes.
    void shapesOfAnOnnxModelFollowFromItsWeights()
    {
        auto opened = Document::open(HALFTONE_TEST_DATA "/onnx/network.onnx");
        if (!opened.ok() && opened.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        const auto document = std::move(opened).value();
        const auto shapeOf = [&](std::string_view name) {
            const auto snapshot = derived(*document);
            for (graph::NodeId id = 0; id < snapshot->graph().nodeCount(); ++id)
                if (snapshot->graph().node(id).name == name)
                    return snapshot->shapes->byNode[id][0];
            return tensor::Shape();
        };
        QCOMPARE(shapeOf("conv0"), (tensor::Shape{tensor::Shape::kUnknown, 8, 8, 8})); // as many as are fed
        QVERIFY(document->setInputShape("data", tensor::Shape{3, 1, 8, 8}).ok());
        QCOMPARE(shapeOf("conv0"), (tensor::Shape{3, 8, 8, 8}));
        QCOMPARE(shapeOf("add1"), (tensor::Shape{3, 8, 8, 8}));
        QCOMPARE(shapeOf("softmax"), (tensor::Shape{3, 10}));
    }

    void aHistoryComesBackWhole()
    {
        const auto document = sample();
        QVERIFY(document->apply(policy::ExcludeNames{{"conv0"}}).ok());
        QVERIFY(document->apply(policy::SetMode{policy::Mode::NodeForNode}).ok());
        document->undo();
        const auto other = sample();
        other->setHistory(document->history());
        QVERIFY(other->history() == document->history());
        QVERIFY(other->policy() == document->policy());
        other->redo();
        QVERIFY(other->policy().mode == policy::Mode::NodeForNode);
    }
};

QTEST_APPLESS_MAIN(TestDocument)
#include "tst_document.moc"
