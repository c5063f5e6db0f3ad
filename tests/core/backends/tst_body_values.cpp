#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <chrono>
#include <cmath>
#include <thread>

using namespace halftone;
using tensor::Tensor;

namespace {

std::vector<double> valuesOf(const Tensor &tensor)
{
    std::vector<double> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

} // namespace

/// Control flow against recordings of the real MXNet (tests/support/make_body_goldens.py).
class TestBodyValues : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void mxnetGivesTheSame_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"foreach", "foreach_nested", "while", "while_cast", "cond", "cond_cast"})
            QTest::newRow(name) << QString(name);
    }

    void mxnetGivesTheSame()
    {
        QFETCH(QString, name);
        const std::string path = HALFTONE_TEST_DATA "/bodies/" + name.toStdString();
        compare(path + "-symbol.json", {{}, true}, path);
    }

    /// tests/support/make_onnx_fixtures.py recorded it.
    void onnxRuntimeGivesTheSame_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("name");
        QTest::newRow("branch for true") << "choice"
                                         << "choice-true";
        QTest::newRow("branch for false") << "choice"
                                          << "choice-false";
        QTest::newRow("all steps") << "steps"
                                   << "steps-all";
        QTest::newRow("ended by its condition") << "steps"
                                                << "steps-early";
        QTest::newRow("no step") << "steps"
                                 << "steps-none";
        QTest::newRow("rows") << "sums"
                              << "sums";
        QTest::newRow("axes and directions") << "walk"
                                             << "walk";
        QTest::newRow("constants, true") << "constants"
                                         << "constants-true";
        QTest::newRow("constants, false") << "constants"
                                          << "constants-false";
        QTest::newRow("a branch in a loop") << "edges"
                                            << "edges-true";
        QTest::newRow("a loop in a branch in a loop") << "edges"
                                                      << "edges-false";
        QTest::newRow("lists of tensors") << "lists"
                                          << "lists";
        QTest::newRow("a list in a loop") << "list_in_loop"
                                          << "list_in_loop";
    }

    void onnxRuntimeGivesTheSame()
    {
        QFETCH(QString, model);
        QFETCH(QString, name);
        const std::string folder = HALFTONE_TEST_DATA "/onnx/";
        const std::string path = folder + model.toStdString() + ".onnx";
        const auto loaded = io::loadModel(path);
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        compare(path, {}, folder + name.toStdString());
    }

    void aLoopThatTakesHoursCanBeStopped()
    {
        const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/endless.onnx");
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        const interpret::Feed feed{
            {"x", Tensor::owning(tensor::DType::F32, tensor::Shape{2}, std::vector<std::byte>(8))}};
        auto interpreter = interpret::Interpreter::create(
            loaded.value().model, {backends::reference::referenceBackend({1, false})});
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        std::stop_source stop;
        std::jthread later([&stop] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            stop.request_stop();
        });
        interpret::RunOptions options;
        options.progress.stop = stop.get_token();
        const auto got = interpreter.value().run(feed, options);
        QVERIFY(!got.ok());
        QCOMPARE(got.error().code, Errc::Cancelled);
    }

private:
    /// The model's values for the inputs of `prefix`-inputs.npz are those of `prefix`-values.npz.
    static void compare(const std::string &model, const io::LoadOptions &options, const std::string &prefix)
    {
        const auto loaded = io::loadModel(model, options);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        interpret::Feed feed;
        const auto inputs = io::readNpz(prefix + "-inputs.npz").value();
        for (const io::NamedTensor &array : inputs)
            feed.emplace(array.name, array.tensor);
        auto interpreter = interpret::Interpreter::create(
            loaded.value().model, {backends::reference::referenceBackend({1, false})});
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        const auto got = interpreter.value().run(feed);
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
        const auto want = io::readNpz(prefix + "-values.npz").value();
        QCOMPARE(got.value().size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i) {
            QCOMPARE(tensor::nameOf(got.value()[i].dtype()), tensor::nameOf(want[i].tensor.dtype()));
            QCOMPARE(got.value()[i].shape(), want[i].tensor.shape());
            const auto g = valuesOf(got.value()[i]);
            const auto w = valuesOf(want[i].tensor);
            for (std::size_t k = 0; k < w.size(); ++k)
                QVERIFY2(std::abs(g[k] - w[k]) <= 1e-5 * (1 + std::abs(w[k])), want[i].name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestBodyValues)
#include "tst_body_values.moc"
