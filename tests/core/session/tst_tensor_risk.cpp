#include "core/session/document.h"
#include "core/session/tensor_risk.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using session::riskOf;
using session::TensorRisk;
using tensor::DType;

namespace {

const std::string kSample = HALFTONE_SOURCE_DIR "/resources/sample/";

calibration::CalibratedTensor tensorOf(const std::vector<float> &values)
{
    calibration::Collector collector;
    collector.add(values);
    calibration::CalibratedTensor tensor;
    tensor.statistics = collector.statistics();
    tensor.threshold = calibration::chooseThreshold(tensor.statistics, {});
    return tensor;
}

calibration::ChosenThreshold chosenFor(const calibration::CalibratedTensor &tensor)
{
    calibration::ChosenThreshold chosen;
    chosen.threshold = tensor.threshold;
    chosen.reachableDb = tensor.threshold.sqnrDb;
    return chosen;
}

TensorRisk riskOfValues(const std::vector<float> &values, DType target = DType::F16)
{
    const auto tensor = tensorOf(values);
    return riskOf(tensor, chosenFor(tensor), target);
}

std::vector<float> ramp(float from, float step, int count)
{
    std::vector<float> values;
    for (int k = 0; k < count; ++k)
        values.push_back(from + step * static_cast<float>(k));
    return values;
}

} // namespace

class TstTensorRisk : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<session::Document> m_document;
    walks::CalibrateOutcome m_calibration;

    std::shared_ptr<const session::Snapshot> snapshot() const
    {
        return session::Document::derive(m_document->request(), nullptr).value();
    }

private Q_SLOTS:
    void initTestCase()
    {
        auto opened = session::Document::open(kSample + "digits-symbol.json");
        QVERIFY(opened.ok());
        m_document = std::move(opened).value();
        walks::CalibrateOptions options;
        options.backend = "reference";
        options.examples.inputs = kSample + "digits-test.npz";
        options.examples.examples = 8;
        auto calibrated = m_document->session().calibrate(options);
        QVERIFY(calibrated.ok());
        m_calibration = std::move(calibrated).value();
    }

    void aValueThatFloat16CannotHoldIsAHardRisk()
    {
        QVERIFY(riskOfValues({1, 65520}).isHard());
        QVERIFY(riskOfValues({1, 65520}).words.find("1 of 2 values overflows float16") != std::string::npos);
        QVERIFY(!riskOfValues({1, 65519}).isHard());
        QVERIFY(!riskOfValues({1, 65520}, DType::BF16).isHard());
        QVERIFY(riskOfValues({1, 3.4e38F}, DType::BF16).isHard());
    }

    void theWarningsBeginWhereTheRulesSay()
    {
        // 2 of 100 values below half of float16's least subnormal.
        std::vector<float> values = ramp(0.5F, 0.01F, 98);
        values.insert(values.end(), 2, 1e-9F);
        QVERIFY(riskOfValues(values).words.find("2 % become zero in float16") != std::string::npos);
        values = ramp(0.5F, 0.01F, 100);
        values.push_back(1e-9F);
        QVERIFY(!riskOfValues(values).isWarning()); // 1 of 101
        // Head room: two bits below 65536.
        QVERIFY(riskOfValues(ramp(-16385, 32770, 2)).isWarning());
        QVERIFY(!riskOfValues(ramp(-16384, 32768, 2)).isWarning());
        // Around 2048 float16 has steps of 2; the spread of 0.29 is lost in them.
        QVERIFY(riskOfValues(ramp(2048, 0.01F, 100)).words.find("too coarse") != std::string::npos);
        QVERIFY(!riskOfValues(ramp(2048, 1, 100)).isWarning());
    }

    void codesThatAreWorseAreMoreAtRisk()
    {
        auto tensor = tensorOf(ramp(-1, 0.001F, 2000));
        const auto riskAt = [&](double sqnr, double reachable, session::TensorUse use = {}) {
            calibration::ChosenThreshold chosen = chosenFor(tensor);
            chosen.threshold.sqnrDb = sqnr;
            chosen.reachableDb = reachable;
            return riskOf(tensor, chosen, DType::F16, use);
        };
        QVERIFY(riskAt(10, 30).severity > riskAt(20, 30).severity);
        QVERIFY(riskAt(35, 45).severity > riskAt(35, 35).severity);
        QVERIFY(riskAt(10, 30).words.find("20.0 dB below the best threshold") != std::string::npos);
        QVERIFY(riskAt(50, 60).severity == 0); // good as it is
        QVERIFY(riskAt(-20, 40).severity < 1); // a rule that is broken comes first
        // What moving a threshold cannot mend:
        QVERIFY(riskAt(10, 10).severity == 0);
        QVERIFY(riskAt(10, 30, {true, false}).severity == 0); // no int8 operator has its codes
        tensor.isParameter = true;
        QVERIFY(riskAt(10, 30).severity == 0);
    }

    /// Its convolutions in int8: what they read and give has codes, what lies between operators in float16 has none.
    void onlyTheBorderOfInt8HasCodes()
    {
        while (m_document->canUndo())
            m_document->undo();
        const auto codedIn = [this](const session::Snapshot &now, const std::string &name) {
            const auto uses = session::usesOf(now, m_calibration);
            const auto at
                = std::ranges::find(m_calibration.tensors, name, &calibration::CalibratedTensor::name);
            return uses[static_cast<std::size_t>(at - m_calibration.tensors.begin())].isCoded;
        };
        QVERIFY(codedIn(*snapshot(), "energy_output")); // no operator computes in int8: any could
        QVERIFY(m_document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Int8}).ok());
        auto request = m_document->request();
        request.calibration = std::make_shared<const walks::CalibrateOutcome>(m_calibration);
        const auto now = session::Document::derive(request, nullptr).value();
        QVERIFY2(!now->error, now->error ? now->error->message().c_str() : "");
        QVERIFY(codedIn(*now, "normalized_output"));
        QVERIFY(!codedIn(*now, "energy_output"));
        m_document->undo();
    }

    void valuesThatAreNotFiniteComeFirst()
    {
        QVERIFY(riskOfValues({1, std::numeric_limits<float>::quiet_NaN()}).severity
                > riskOfValues({1, 70000}).severity);
    }

    void theAdviceMendsWhatItIsAbout()
    {
        QVERIFY(m_document
                    ->apply(policy::MoveOperators{{"sum", "square", "_mul_scalar", "_plus_scalar"},
                                                  policy::List::Target})
                    .ok());
        const auto all = session::adviceFor(*snapshot(), m_calibration);
        QVERIFY(!all.empty());
        const session::TensorAdvice &advice = all.front();
        QVERIFY(advice.isHard);
        QCOMPARE(m_calibration.tensors[advice.tensor].name, std::string("energy_output"));
        QVERIFY(advice.text.find("8 of 8 values overflow float16") != std::string::npos);
        QVERIFY(m_document->apply(advice.edit).ok());
        const auto after = snapshot();
        for (const graph::NodeId node : advice.nodes)
            QCOMPARE(after->precisionOf(node), DType::F32);
        for (const session::TensorAdvice &left : session::adviceFor(*after, m_calibration))
            QVERIFY(left.tensor != advice.tensor);
        m_document->undo();
        QCOMPARE(session::adviceFor(*snapshot(), m_calibration).size(), all.size());
    }

    /// As BatchNorm's running mean and variance, whatever type the rest of it is in.
    void aParameterThatIsReadInFloat32NeedsNoAdvice()
    {
        while (m_document->canUndo())
            m_document->undo();
        const auto now = snapshot();
        const graph::Graph &graph = now->graph();
        walks::CalibrateOutcome huge = m_calibration;
        std::vector<std::size_t> variances;
        for (graph::NodeId node = 0; node < graph.nodeCount(); ++node) {
            if (graph.node(node).op != "BatchNorm" || now->precisionOf(node) != DType::F16)
                continue;
            const std::string &name = graph.node(graph.inputs(node)[4].node).name;
            const auto at = std::ranges::find(huge.tensors, name, &calibration::CalibratedTensor::name);
            QVERIFY2(at != huge.tensors.end(), name.c_str());
            at->statistics.fp16.overflow = 1;
            variances.push_back(static_cast<std::size_t>(at - huge.tensors.begin()));
        }
        QVERIFY(!variances.empty());
        for (const session::TensorAdvice &advice : session::adviceFor(*now, huge))
            QVERIFY2(std::ranges::find(variances, advice.tensor) == variances.end(), advice.text.c_str());
    }

    void theBuiltInListsNeedNoHardAdvice()
    {
        while (m_document->canUndo())
            m_document->undo();
        for (const session::TensorAdvice &advice : session::adviceFor(*snapshot(), m_calibration))
            QVERIFY2(!advice.isHard, advice.text.c_str());
    }
};

QTEST_GUILESS_MAIN(TstTensorRisk)
#include "tst_tensor_risk.moc"
