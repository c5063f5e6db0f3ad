#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/session/in_format.h"
#include "core/tensor/elements.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace halftone;

namespace {

std::vector<double> asReals(const tensor::Tensor &values)
{
    std::vector<double> reals(values.elementCount());
    tensor::widen(values.dtype(), values.bytes().data(), reals.size(), reals.data());
    return reals;
}

} // namespace

/// Models of TensorFlow Lite as ONNX (tests/support/make_tflite_models.py): they give the values that LiteRT gave.
class TestTfliteExport : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asOnnxTheValuesAreTheSame_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *const name : {"layers", "codes", "movement", "half", "recurrent", "variables"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }

    void asOnnxTheValuesAreTheSame()
    {
        QFETCH(QString, name);
        const std::string prefix = HALFTONE_TEST_DATA "/tflite/" + name.toStdString();
        const auto loaded = io::loadModel(prefix + ".tflite");
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without TensorFlow Lite");
        const QTemporaryDir folder;
        const auto output
            = io::ModelOutput::claim(folder.filePath("p.onnx").toStdString(), *io::formatNamed("onnx"));
        QVERIFY(output.ok());
        const auto written = session::inFormatOf(output.value(), loaded.value().model, {}, {});
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
        auto interpreter = interpret::Interpreter::create(
            written.value(), {backends::reference::referenceBackend({1, false})});
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        const auto arrays = io::readNpz(prefix + ".npz").value();
        interpret::Feed feed;
        std::vector<tensor::Tensor> wanted;
        for (const io::NamedTensor &array : arrays) {
            if (array.name.starts_with("in"))
                feed.emplace("x", array.tensor);
            else
                wanted.push_back(array.tensor);
        }
        const auto got = interpreter.value().run(feed);
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
        QCOMPARE(got.value().size(), wanted.size());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            QCOMPARE(got.value()[k].shape(), wanted[k].shape());
            const std::vector<double> ours = asReals(got.value()[k]);
            const std::vector<double> theirs = asReals(wanted[k]);
            const double limit = tensor::isFloat(wanted[k].dtype()) ? 1e-6 : 1; // a code
            for (std::size_t i = 0; i < ours.size(); ++i)
                QVERIFY2(std::abs(ours[i] - theirs[i]) <= limit,
                         qPrintable(QString::number(ours[i] - theirs[i])));
        }
    }
};

QTEST_APPLESS_MAIN(TestTfliteExport)
#include "tst_tflite_export.moc"
