#include "core/io/model_io.h"
#include "core/session/derive.h"

#include <QTest>

#include <algorithm>
#include <vector>

using namespace halftone;

namespace {

const std::string kModel = HALFTONE_SOURCE_DIR "/resources/sample/digits.onnx";
const std::string kExamples = HALFTONE_SOURCE_DIR "/resources/sample/digits-calibration.npz";

/// Int8 with corrected biases: the examples are run twice, and the model is converted twice.
struct Correction
{
    Correction()
    {
        policy.int8Ops = {"Conv", "Gemm", "MatMul"};
        examples.examples.inputs = kExamples;
        examples.examples.examples = 8;
        examples.threads = 1;
    }

    Result<session::Derived> derive(const io::LoadedModel &loaded, const Progress &progress) const
    {
        session::DeriveRequest request{loaded.model, loaded.modelPath, policy};
        request.ranges.calibrate = examples;
        request.correction = examples;
        return session::derive(request, progress);
    }

    policy::Policy policy;
    walks::CalibrateOptions examples;
};

} // namespace

class TestStoppedWork : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void progressNeverGoesBack()
    {
        const auto loaded = io::loadModel(kModel);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        Correction correction;
        std::vector<double> shares;
        std::vector<std::string> texts;
        const Progress progress{{}, [&](double share, std::string_view what) {
                                    shares.push_back(share);
                                    texts.emplace_back(what);
                                }};
        for (const bool hasOwnThreshold : {false, true}) {
            if (hasOwnThreshold)
                correction.policy.thresholds["data"] = {policy::ThresholdMethod::Mse, {}};
            shares = {0};
            texts = {"begun"};
            const auto derived = correction.derive(loaded.value(), progress);
            QVERIFY2(derived.ok(), derived.ok() ? "" : derived.error().message().c_str());
            QVERIFY(derived.value().correctedBiases > 0);
            QVERIFY(shares.size() > 10 && shares.back() <= 1);
            for (std::size_t k = 1; k < shares.size(); ++k)
                QVERIFY2(shares[k] >= shares[k - 1] - 1e-9,
                         qPrintable(QStringLiteral("%1 (%2) after %3 (%4)")
                                        .arg(shares[k])
                                        .arg(QString::fromStdString(texts[k]))
                                        .arg(shares[k - 1])
                                        .arg(QString::fromStdString(texts[k - 1]))));
        }
    }

    void readingAModelCanBeStopped()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto loaded = io::loadModel(kModel, {.stop = stop.get_token()});
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().code, Errc::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestStoppedWork)
#include "tst_stopped_work.moc"
