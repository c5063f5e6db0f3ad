#include "core/dialect/dialect.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/output_facts.h"
#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "core/rewrite/restore_parameters.h"
#include "core/rewrite/strip_casts.h"
#include "core/tensor/elements.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

using namespace halftone;
using graph::Entry;
using tensor::DType;
using tensor::Shape;

namespace onnx = dialect::onnx;

Q_DECLARE_METATYPE(halftone::tensor::DType)

namespace {

constexpr std::int64_t kSide = 4;
const Shape kShape{2, kSide, kSide, kSide};

template <class T>
tensor::Tensor tensorOf(DType type, Shape shape, const std::vector<T> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor::Tensor::owning(type, std::move(shape), std::move(bytes));
}

std::string ints(const std::vector<std::int64_t> &values)
{
    return onnx::listText(values);
}

/// Drawn networks of values of one shape, with twins, shared values, outputs amid the graph and operators whose meaning depends on the opset.
class Drawn
{
public:
    Drawn(unsigned seed, int opset)
        : m_random(seed)
        , m_dialect(onnx::onnxDialect(opset))
        , m_graph(m_dialect)
    {
    }

    graph::Model model()
    {
        m_values.push_back(input("x"));
        const int operators = draw(4, 16);
        for (int k = 0; k < operators; ++k)
            m_values.push_back(next(m_values[pick()]));
        std::vector<Entry> heads{m_values.back()};
        for (const std::size_t more : {pick(), pick()})
            if (more > 0 && std::ranges::find(heads, m_values[more]) == heads.end())
                heads.push_back(m_values[more]);
        for (const Entry &twin : m_twins)
            if (draw(0, 1) == 0 && std::ranges::find(heads, twin) == heads.end())
                heads.push_back(twin);
        auto facts = std::make_shared<onnx::OutputFacts>();
        facts->heads.assign(heads.size(), {DType::F32, kShape});
        m_graph.setHeads(std::move(heads));
        m_graph.setFormat(std::move(facts));
        return {m_graph, m_parameters, true};
    }

private:
    int draw(int low, int high) { return std::uniform_int_distribution(low, high)(m_random); }
    /// One of the newest few.
    std::size_t pick()
    {
        const auto last = static_cast<int>(m_values.size()) - 1;
        return static_cast<std::size_t>(draw(std::max(0, last - 4), last));
    }

    Entry input(const std::string &name)
    {
        std::vector<std::int64_t> dims;
        for (std::size_t k = 0; k < kShape.rank(); ++k)
            dims.push_back(kShape[k]);
        return variable(name, DType::F32, ints(dims));
    }
    Entry variable(const std::string &name, DType type, std::string shape)
    {
        auto def = std::make_shared<graph::NodeDef>();
        def->op = onnx::kVariableOp;
        def->name = name;
        def->variable = true;
        def->outputs = {name};
        def->attributes = {{std::string(onnx::kTypeKey), std::string(tensor::nameOf(type))},
                           {std::string(onnx::kShapeKey), std::move(shape)}};
        return {m_graph.add(std::move(def), {}), 0, 0};
    }

    Entry held(tensor::Tensor values, std::vector<std::int64_t> dims)
    {
        const std::string name = "w" + std::to_string(m_graph.nodeCount());
        tensor::Array array;
        array.name = name;
        array.shape = values.shape();
        array.values = std::move(values);
        const DType type = array.values.dtype();
        m_parameters.push_back(std::move(array));
        return variable(name, type, ints(dims));
    }
    Entry weight(std::vector<std::int64_t> dims)
    {
        const Shape shape(dims);
        std::vector<float> values(static_cast<std::size_t>(*shape.elementCount()));
        for (float &value : values)
            value = std::uniform_real_distribution(-0.5F, 0.5F)(m_random);
        return held(tensorOf(DType::F32, shape, values), std::move(dims));
    }
    Entry number(float value) { return held(tensorOf(DType::F32, Shape{1}, std::vector{value}), {1}); }

    Entry op(const std::string &name, std::vector<Entry> inputs, graph::Attributes attributes = {})
    {
        auto def = std::make_shared<graph::NodeDef>();
        def->op = name;
        def->name = "n" + std::to_string(m_graph.nodeCount());
        def->attributes = std::move(attributes);
        def->outputs = {"v" + std::to_string(m_graph.nodeCount())};
        return {m_graph.add(std::move(def), inputs), 0, 0};
    }

    Entry twins(const Entry &x)
    {
        const std::array names{"Relu", "Sigmoid", "Tanh", "Exp"};
        const std::string name = names[static_cast<std::size_t>(draw(0, 3))];
        m_twins.push_back(op(name, {x}));
        return op(name, {x});
    }

    Entry next(const Entry &x)
    {
        const std::string axis = std::to_string(draw(1, 3));
        switch (draw(0, 15)) {
        case 0:
        case 1:
            return op("Conv", {x, weight({kSide, kSide, 3, 3}), weight({kSide})},
                      {{"pads", ints({1, 1, 1, 1})}});
        case 2:
            return op("MatMul", {x, weight({kSide, kSide})});
        case 3:
            return op("Add", {x, m_values[pick()]});
        case 4:
            return op("Mul", {x, weight({1, kSide, 1, 1})});
        case 5:
            return op("Softmax", {x}, {{"axis", axis}});
        case 6:
            return op("LogSoftmax", {x}, {{"axis", axis}});
        case 7:
            return op("Hardmax", {x}, {{"axis", axis}});
        case 8:
            return op("Transpose", {x}, {{"perm", ints({0, 1, 3, 2})}});
        case 9:
            return op(
                "Conv",
                {op("Concat", {x, m_values[pick()]}, {{"axis", "1"}}), weight({kSide, 2 * kSide, 1, 1})});
        case 10:
            return twins(x);
        case 11:
            return op("Div", {x, op("Add", {op("Abs", {x}), number(1)})});
        case 12:
            return op("AveragePool", {x}, {{"kernel_shape", ints({3, 3})}, {"pads", ints({1, 1, 1, 1})}});
        case 13:
            return op("InstanceNormalization", {x, weight({kSide}), weight({kSide})});
        case 14:
            return op("Sub", {x, op("ReduceMean", {x}, {{"axes", ints({2, 3})}, {"keepdims", "1"}})});
        default:
            return op("Relu", {x});
        }
    }

    std::mt19937 m_random;
    const dialect::Dialect &m_dialect;
    graph::Graph m_graph;
    std::vector<tensor::Array> m_parameters;
    std::vector<Entry> m_values;
    std::vector<Entry> m_twins;
};

std::string bytesOf(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

Result<graph::Model> converted(const graph::Model &model, DType target)
{
    graph::Model source = model;
    HALFTONE_TRY(const auto raised, dialect::of(model.graph).raised(model.graph, target, 0));
    if (raised)
        source.graph = raised->graph;
    policy::Policy policy;
    policy.target = target;
    HALFTONE_TRY(mixed::ConvertedModel made, mixed::convertModel(source, policy, false));
    return std::move(made.model);
}

} // namespace

/// What was converted, written and read is found as it is, and gives the source's parameters again.
class TestConvertedTwice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void nothingChangesTheSecondTime_data();
    void nothingChangesTheSecondTime();
    void theSourceComesBack_data() { nothingChangesTheSecondTime_data(); }
    void theSourceComesBack();

private:
    io::LoadedModel load(const graph::Model &model, const char *name) const;
    std::string write(const graph::Model &model, const char *name) const;

    QTemporaryDir m_folder;
};

void TestConvertedTwice::initTestCase()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/heads.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
}

std::string TestConvertedTwice::write(const graph::Model &model, const char *name) const
{
    const std::string path = m_folder.filePath(QString::fromLatin1(name)).toStdString();
    const auto written = io::saveModel(model, path, {});
    if (!written.ok())
        qFatal("%s", written.error().message().c_str());
    return path;
}

io::LoadedModel TestConvertedTwice::load(const graph::Model &model, const char *name) const
{
    auto loaded = io::loadModel(write(model, name));
    if (!loaded.ok())
        qFatal("%s: %s", name, loaded.error().message().c_str());
    return std::move(loaded).value();
}

void TestConvertedTwice::nothingChangesTheSecondTime_data()
{
    QTest::addColumn<int>("opset");
    QTest::addColumn<DType>("target");
    for (const int opset : {11, 12, 13, 17})
        for (const DType target : {DType::F16, DType::BF16})
            QTest::addRow("opset %d, %s", opset, tensor::nameOf(target).data()) << opset << target;
}

void TestConvertedTwice::nothingChangesTheSecondTime()
{
    QFETCH(const int, opset);
    QFETCH(const DType, target);
    constexpr unsigned kNetworks = 30;
    for (unsigned seed = 0; seed < kNetworks; ++seed) {
        const io::LoadedModel source = load(Drawn(seed, opset).model(), "source.onnx");
        const auto once = converted(source.model, target);
        QVERIFY2(once.ok(), once.ok() ? "" : once.error().message().c_str());
        const io::LoadedModel again = load(once.value(), "once.onnx");
        const std::string first = bytesOf(m_folder.filePath(QStringLiteral("once.onnx")).toStdString());
        const auto twice = converted(again.model, target);
        QVERIFY2(twice.ok(), twice.ok() ? "" : twice.error().message().c_str());
        const bool isSame = bytesOf(write(twice.value(), "twice.onnx")) == first;
        m_folder.setAutoRemove(isSame); // else for whoever looks into it
        QVERIFY2(isSame, qPrintable(QStringLiteral("network %1, in %2").arg(seed).arg(m_folder.path())));
    }
}

/// strip-casts with the parameters before they were rounded.
void TestConvertedTwice::theSourceComesBack()
{
    QFETCH(const int, opset);
    QFETCH(const DType, target);
    constexpr unsigned kNetworks = 10;
    for (unsigned seed = 0; seed < kNetworks; ++seed) {
        const io::LoadedModel source = load(Drawn(seed, opset).model(), "source.onnx");
        const auto once = converted(source.model, target);
        QVERIFY2(once.ok(), once.ok() ? "" : once.error().message().c_str());
        const io::LoadedModel again = load(once.value(), "once.onnx");
        const auto restored = rewrite::restoreParameters(again.model, source.model, {});
        QVERIFY2(restored.ok(), restored.ok() ? "" : restored.error().message().c_str());
        const auto stripped = rewrite::stripCasts(restored.value().model, {});
        QVERIFY2(stripped.ok(), stripped.ok() ? "" : stripped.error().message().c_str());
        const auto whole = rewrite::restoreParameters(stripped.value().model, source.model, {});
        QVERIFY2(whole.ok(), whole.ok() ? "" : whole.error().message().c_str());
        const io::LoadedModel read = load(whole.value().model, "stripped.onnx");
        for (const tensor::Array &array : read.model.parameters) {
            const auto original
                = std::ranges::find(source.model.parameters, array.name, &tensor::Array::name);
            if (original == source.model.parameters.end())
                continue; // of a node that the newer opset needs
            QCOMPARE(array.values.dtype(), original->values.dtype());
            QVERIFY(std::ranges::equal(array.values.bytes(), original->values.bytes()));
        }
    }
}

QTEST_GUILESS_MAIN(TestConvertedTwice)
#include "tst_converted_twice.moc"
