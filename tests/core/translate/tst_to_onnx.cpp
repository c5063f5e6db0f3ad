#include "core/backends/backends.h"
#include "core/dialect/dialect.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"
#include "core/translate/to_onnx.h"
#include "tests/support/files.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

using namespace halftone;
using tensor::Tensor;

namespace {

std::vector<double> valuesOf(const Tensor &tensor)
{
    std::vector<double> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

/// What is wrong with `got`, or nothing. MXNet adds up in float32, in an order of its own; codes may differ by one where they are
/// rounded from the middle, and it cuts those of a product.
QString difference(const Tensor &got, const Tensor &want)
{
    if (got.shape() != want.shape())
        return QString::fromStdString("shape " + got.shape().toString() + ", expected "
                                      + want.shape().toString());
    const auto g = valuesOf(got);
    const auto w = valuesOf(want);
    const bool isCode = want.dtype() == tensor::DType::I8 || want.dtype() == tensor::DType::U8;
    const double least = isCode ? 1 : 2e-5;
    for (std::size_t i = 0; i < g.size(); ++i)
        if (std::isnan(g[i]) != std::isnan(w[i]) || std::abs(g[i] - w[i]) > least + 2e-4 * std::abs(w[i]))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g[i]).arg(w[i]);
    return {};
}

/// Operators of the goldens that ONNX has no nodes for.
const std::set<std::string> kWithoutCounterpart{"CTCLoss",
                                                "Correlation",
                                                "GridGenerator",
                                                "ROIPooling",
                                                "SequenceMask",
                                                "SpatialTransformer",
                                                "_contrib_DeformableConvolution",
                                                "_contrib_DeformablePSROIPooling",
                                                "_contrib_ModulatedDeformableConvolution",
                                                "_contrib_MultiBoxDetection",
                                                "_contrib_MultiBoxPrior",
                                                "_contrib_MultiBoxTarget",
                                                "_contrib_MultiProposal",
                                                "_contrib_PSROIPooling",
                                                "_contrib_Proposal",
                                                "_contrib_ROIAlign",
                                                "_contrib_RROIAlign",
                                                "_contrib_arange_like",
                                                "_contrib_bipartite_matching",
                                                "_contrib_box_encode",
                                                "_contrib_index_array",
                                                "_contrib_index_copy",
                                                "_contrib_interleaved_matmul_selfatt_qk",
                                                "_contrib_interleaved_matmul_selfatt_valatt",
                                                "_eye",
                                                "_histogram",
                                                "_image_crop",
                                                "_image_flip_left_right",
                                                "_image_flip_top_bottom",
                                                "_image_normalize",
                                                "_image_resize",
                                                "_image_to_tensor",
                                                "_linalg_det",
                                                "_linalg_extractdiag",
                                                "_linalg_extracttrian",
                                                "_linalg_gelqf",
                                                "_linalg_inverse",
                                                "_linalg_makediag",
                                                "_linalg_maketrian",
                                                "_linalg_potrf",
                                                "_linalg_potri",
                                                "_linalg_slogdet",
                                                "_linalg_sumlogdiag",
                                                "_linalg_syevd",
                                                "_linalg_syrk",
                                                "_linalg_trmm",
                                                "_linalg_trsm",
                                                "_linspace",
                                                "_random_pdf_dirichlet",
                                                "_random_pdf_exponential",
                                                "_random_pdf_gamma",
                                                "_random_pdf_generalized_negative_binomial",
                                                "_random_pdf_negative_binomial",
                                                "_random_pdf_normal",
                                                "_random_pdf_poisson",
                                                "_random_pdf_uniform",
                                                "_ravel_multi_index",
                                                "_slice_assign",
                                                "_slice_assign_scalar",
                                                "_unravel_index",
                                                "all_finite",
                                                "diag",
                                                "im2col",
                                                "khatri_rao",
                                                "multi_all_finite",
                                                "softmax_cross_entropy"};

/// Goldens of which a part cannot be said in ONNX, and what the refusal says.
const std::map<std::string, std::string> kRefused{
    {"edge_int8_bias", "_sg_mkldnn_fully_connected"},
    {"edge_mean_int8", "ReduceMean gets types (int8, int64)"},
    {"edge_overflow_prod", "nanprod"},
    {"edge_underflow_prod", "nanprod"},
    {"edge_sigmoid_int8", "Sigmoid gets types (int8)"},
    {"int32_by_reals", "rcbrt"},
    {"int32_fractional_scalars", "Sqrt gets types (int32)"},
    {"pool_lp_signed", "odd powers"},
    {"quantize_v2", "its range is determined at run time; calibrate the model first"},
    {"quantized_add", "output 1 has no counterpart"}, // the range of sums, which are reals in ONNX
    {"quantized_fully_connected", "its weights or their ranges are not parameters"},
    {"quantized_mul", "output 1 has no counterpart"},
    {"requantize", "its range is determined at run time; calibrate the model first"},
    {"pool_outside", "outside the data"},
    {"pool_outside_v1", "outside the data"},
    {"rint_ties", "rint"},
    {"uint8_negative_scalars", "ReduceProd gets types (uint8, int64)"},
};

/// Goldens of values that ONNX defines otherwise, or not.
const std::map<std::string, const char *> kOtherValues{
    {"bilinear_sampler_nan", "at a place that is not a finite number MXNet's sample is NaN, ONNX's is 0"},
    {"edge_bilinear_resize", "MXNet reads beside an infinity"},
    {"edge_overflow_log_softmax",
     "ONNX divides by the temperature first, and is infinite before the largest is taken out"},
    {"elementwise_nan", "MXNet's relu and clip of NaN are their bounds, ONNX's are NaN"},
    {"softmax_nan", "of rows that hold NaN"},
    {"quadratic_beyond_2_24", "reals beyond the range of an integer have no value there"},
    {"smooth_l1_beyond_2_24", "reals beyond the range of an integer have no value there"},
};

bool isEndOfRange(const io::NamedTensor &array)
{
    const std::string &name = array.name;
    return array.tensor.shape() == tensor::Shape{1}
    && (name.starts_with("min_") || name.starts_with("max_") || name == "low" || name == "high"
        || name == "much");
}

/// Labels and the like go out of a translation.
bool isIn(const graph::Graph &graph, const std::string &variable)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.isVariable(id) && graph.node(id).name == variable)
            return true;
    return false;
}

/// Does the refusal name operators of the list alone?
bool isWithoutCounterpart(const std::string &message)
{
    const std::string_view said = "operators that have no counterpart in ONNX: ";
    const std::size_t at = message.find(said);
    if (at == std::string::npos)
        return false;
    const QStringList named
        = QString::fromStdString(message.substr(at + said.size())).split(QStringLiteral(", "));
    return std::ranges::all_of(
        named, [](const QString &op) { return kWithoutCounterpart.contains(op.toStdString()); });
}

} // namespace

class TestToOnnx : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theTranslationComputesWhatMxnetDoes_data();
    void theTranslationComputesWhatMxnetDoes();
    void int8NetworksComputeWhatMxnetDid_data();
    void int8NetworksComputeWhatMxnetDid();
};

void TestToOnnx::theTranslationComputesWhatMxnetDoes_data()
{
    QTest::addColumn<QString>("folder");
    const std::string root = HALFTONE_TEST_DATA "/ops/";
    for (const std::string &name : test::foldersIn(HALFTONE_TEST_DATA "/ops"))
        if (QFile::exists(QString::fromStdString(root + name + "/expected-fp32.npz")))
            QTest::newRow(name.c_str()) << QString::fromStdString(root + name);
}

void TestToOnnx::theTranslationComputesWhatMxnetDoes()
{
    QFETCH(QString, folder);
    const std::string path = folder.toStdString();
    io::LoadedModel loaded = io::loadModel(path + "/model-symbol.json", {{}, true}).value();
    interpret::Feed feed;
    translate::InputFacts facts;
    const auto arrays = io::readNpz(path + "/inputs.npz").value();
    for (const io::NamedTensor &array : arrays) {
        // Parameters of a recurrence, of which ONNX's form is another, and ranges of codes, which ONNX has as scales.
        if (array.name == "p" || isEndOfRange(array)) {
            tensor::Array parameter;
            parameter.name = "arg:" + array.name;
            parameter.shape = array.tensor.shape();
            parameter.values = array.tensor;
            loaded.model.parameters.push_back(std::move(parameter));
            loaded.model.hasParameters = true;
            continue;
        }
        feed.emplace(array.name, array.tensor);
        facts.shapes.emplace(array.name, array.tensor.shape());
        facts.types.emplace(array.name, array.tensor.dtype());
    }
    const auto translated = translate::toOnnx(loaded.model, facts);
    const std::string name = path.substr(path.rfind('/') + 1);
    if (const auto refused = kRefused.find(name); refused != kRefused.end()) {
        QVERIFY(!translated.ok());
        QCOMPARE(translated.error().code, Errc::Unsupported);
        QVERIFY2(translated.error().message().find(refused->second) != std::string::npos,
                 translated.error().message().c_str());
        return;
    }
    if (!translated.ok()) {
        QVERIFY2(isWithoutCounterpart(translated.error().message()), translated.error().message().c_str());
        return;
    }
    if (const auto other = kOtherValues.find(name); other != kOtherValues.end())
        QSKIP(other->second);
    QCOMPARE(dialect::of(translated.value().graph).name(), std::string_view("onnx"));
    const auto chain = backends::backendChain("reference", 1).value();
    QTemporaryDir folderOfFile;
    const std::string file = folderOfFile.filePath(QStringLiteral("translated.onnx")).toStdString();
    QVERIFY(io::saveModel(translated.value(), file, loaded).ok());
    const auto read = io::loadModel(file);
    QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
    std::erase_if(feed, [&](const auto &array) { return !isIn(read.value().model.graph, array.first); });
    auto interpreter = interpret::Interpreter::create(read.value().model, chain);
    QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
    const auto got = interpreter.value().run(feed);
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
    const auto want = io::readNpz(path + "/expected-fp32.npz").value();
    QCOMPARE(got.value().size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
        const QString wrong = difference(got.value()[i], want[i].tensor);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString::fromStdString(want[i].name) + ": " + wrong));
    }
}

void TestToOnnx::int8NetworksComputeWhatMxnetDid_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("variant");
    // Written and run by MXNet: products with what is fused into them, sums and joins of codes, plain operators.
    for (const auto &[model, variant] :
         {std::pair("cbrpf", "onednn_auto_naive"), std::pair("concat", "onednn_auto_naive"),
          std::pair("fcadd", "onednn_auto_naive_full"), std::pair("mlp", "onednn_auto_naive_channelwise"),
          std::pair("mlp", "plain_int8_naive_smart"), std::pair("residual", "onednn_auto_naive"),
          std::pair("sigmoid", "onednn_auto_naive_full"), std::pair("embed", "plain_int8_naive")})
        QTest::addRow("%s %s", model, variant) << QString::fromLatin1(model) << QString::fromLatin1(variant);
}

void TestToOnnx::int8NetworksComputeWhatMxnetDid()
{
    QFETCH(QString, model);
    QFETCH(QString, variant);
    const std::string folder = HALFTONE_TEST_DATA "/int8/" + model.toStdString();
    const std::string base = folder + '/' + variant.toStdString();
    const auto loaded = io::loadModel(base + "-symbol.json");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    interpret::Feed feed;
    translate::InputFacts facts;
    std::optional<Tensor> want;
    for (const io::NamedTensor &array : io::readNpz(folder + "/runs.npz").value()) {
        if (array.name == variant.toStdString() + ":int8_out0")
            want = array.tensor;
        if (array.name.find(':') != std::string::npos)
            continue;
        feed.emplace(array.name, array.tensor);
        facts.shapes.emplace(array.name, array.tensor.shape());
    }
    QVERIFY(want);
    const auto translated = translate::toOnnx(loaded.value().model, facts);
    QVERIFY2(translated.ok(), translated.ok() ? "" : translated.error().message().c_str());
    const graph::Graph &graph = translated.value().graph;
    std::size_t coded = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        coded += graph.node(id).op == "QuantizeLinear" ? 1 : 0;
    QVERIFY(coded > 0);
    const auto chain = backends::backendChain("reference", 1).value();
    auto interpreter = interpret::Interpreter::create(translated.value(), chain);
    QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
    const auto got = interpreter.value().run(feed);
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
    const auto g = valuesOf(got.value()[0]);
    const auto w = valuesOf(*want);
    QCOMPARE(g.size(), w.size());
    double most = 0;
    for (const double value : w)
        most = std::max(most, std::abs(value));
    for (std::size_t i = 0; i < g.size(); ++i) // a code of a layer inside may differ by one
        QVERIFY2(std::abs(g[i] - w[i]) <= 0.02 * most,
                 qPrintable(QStringLiteral("%1: %2, expected %3").arg(i).arg(g[i]).arg(w[i])));
}

QTEST_GUILESS_MAIN(TestToOnnx)
#include "tst_to_onnx.moc"
