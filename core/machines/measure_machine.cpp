#include "core/machines/measure_machine.h"

#include "core/backends/backends.h"
#include "core/dialect/dialect.h"
#include "core/dialect/registry.h"
#include "core/hardware/catalogue.h"
#include "core/hardware/kept_measurement.h"
#include "core/infer/infer_shapes.h"
#include "core/latency/latency.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"
#include "core/machines/local_chips.h"
#include "core/mixed/convert_model.h"

#include <array>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

namespace halftone::machines {
namespace {

using graph::Entry;
using hardware::Unit;
using tensor::DType;
using tensor::Shape;

/// A network of one kind of operators, in float32.
struct Probe
{
    Unit unit = Unit::Conv;
    graph::Model model;
    infer::KnownShapes shapes; ///< of its inputs
};

/// Values of a parameter, none of which matters but that they are no zeros.
tensor::Array parameter(const dialect::Dialect &dialect, const std::string &variable, const Shape &shape)
{
    const auto count = static_cast<std::size_t>(shape.elementCount().value_or(0));
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = (static_cast<float>(k * 7 % 23) - 11) / 256;
    const auto bytes = std::as_bytes(std::span(values));
    tensor::Array array;
    array.name = dialect.arrayName(variable, false);
    array.shape = shape;
    array.values = tensor::Tensor::owning(DType::F32, shape, {bytes.begin(), bytes.end()});
    return array;
}

/// A chain of equal layers.
class Chain
{
public:
    Chain(Unit unit, const dialect::Dialect &dialect)
        : m_dialect(dialect)
    {
        m_probe.unit = unit;
        m_probe.model.graph = graph::Graph(dialect);
        m_probe.model.hasParameters = true;
    }

    Entry input(const std::string &name, const Shape &shape)
    {
        m_probe.shapes.emplace(name, shape);
        graph::NodeDefPtr variable = m_dialect.makeVariable(name);
        if (!m_dialect.infersParameterTypes()) // all types of such a format are declared
            variable = m_dialect.withDeclaredType(variable, DType::F32);
        return add(variable, {});
    }

    Entry weight(const Shape &shape)
    {
        const std::string name = "weight" + std::to_string(m_probe.model.parameters.size());
        m_probe.model.parameters.push_back(parameter(m_dialect, name, shape));
        return add(m_dialect.makeVariable(name), {});
    }

    Result<Entry> layer(const ops::Operator &op, const std::vector<Entry> &inputs)
    {
        HALFTONE_TRY(dialect::OperatorText text, m_dialect.write(op));
        const std::string name = "layer" + std::to_string(m_layers++);
        return add(
            m_dialect.makeOperatorNode(std::move(text), name, static_cast<std::uint32_t>(inputs.size())),
            inputs);
    }

    Probe finish(const Entry &head)
    {
        m_probe.model.graph.setHeads({head});
        return std::move(m_probe);
    }

private:
    Entry add(const graph::NodeDefPtr &def, const std::vector<Entry> &inputs)
    {
        return {m_probe.model.graph.add(def, inputs), 0, 0};
    }

    const dialect::Dialect &m_dialect;
    Probe m_probe;
    int m_layers = 0;
};

/// The format that probes are written in: one with int8 operators of its own if there is one, as these are quantized whole.
Result<const dialect::Dialect *> probeDialect()
{
    const dialect::Dialect *chosen = nullptr;
    for (const dialect::Dialect *const dialect : dialect::allDialects()) {
        const bool canWrite = dialect->write(ops::Binary{ops::BinaryKind::Add, false}).ok();
        if (canWrite && (chosen == nullptr || dialect->quantizedForms() != nullptr))
            chosen = dialect;
    }
    if (chosen == nullptr)
        return unsupported({}, "no format of this build can write the layers to be measured");
    return chosen;
}

constexpr int kLayers = 4;

/// Examples that a probe computes at a time. A GPU has so many units that one example's layer takes less time than its launch.
constexpr std::int64_t kOnCpu = 1;
constexpr std::int64_t kOnGpu = 32;

/// As in the first stage of a ResNet.
Result<Probe> convolutions(const dialect::Dialect &dialect, std::int64_t batch)
{
    Chain chain(Unit::Conv, dialect);
    Entry x = chain.input("data", Shape{batch, 64, 56, 56});
    ops::Conv conv;
    conv.kernel = {3, 3};
    conv.pad = {{1, 1}, {1, 1}};
    conv.outputChannels = 64;
    conv.hasBias = false;
    for (int k = 0; k < kLayers; ++k) {
        HALFTONE_TRY(x, chain.layer(conv, {x, chain.weight(Shape{64, 64, 3, 3})}));
    }
    return chain.finish(x);
}

/// As in a transformer of width 768.
Result<Probe> products(const dialect::Dialect &dialect, std::int64_t batch)
{
    Chain chain(Unit::Gemm, dialect);
    Entry x = chain.input("data", Shape{batch * 64, 768});
    ops::FullyConnected product;
    product.units = 768;
    product.hasBias = false;
    for (int k = 0; k < kLayers; ++k) {
        HALFTONE_TRY(x, chain.layer(product, {x, chain.weight(Shape{768, 768})}));
    }
    return chain.finish(x);
}

/// Larger than caches, so that memory takes part.
Result<Probe> elementwise(const dialect::Dialect &dialect, std::int64_t batch)
{
    Chain chain(Unit::Elementwise, dialect);
    const Shape shape{batch, 64, 112, 112};
    const Entry one = chain.input("one", shape);
    const Entry other = chain.input("other", shape);
    Entry x = one;
    for (int k = 0; k < kLayers; ++k) {
        const ops::BinaryKind kind = k % 2 == 0 ? ops::BinaryKind::Add : ops::BinaryKind::Mul;
        HALFTONE_TRY(x, chain.layer(ops::Binary{kind, false}, {x, k % 2 == 0 ? other : one}));
    }
    return chain.finish(x);
}

/// The policy under which all of the probe computes in the type; parameters and data come in it, too.
policy::Policy policyFor(const Probe &probe, DType type)
{
    policy::Policy policy;
    policy.target = tensor::isHalf(type) ? type : DType::F16;
    policy.castParams = true;
    policy.keepIoTypes = false;
    for (graph::NodeId id = 0; id < probe.model.graph.nodeCount(); ++id) {
        if (!probe.model.graph.isVariable(id))
            policy.nodeOverrides.emplace(probe.model.graph.node(id).name, type);
    }
    return policy;
}

/// Of every value of the probe, as wide as its values may be.
quantize::QuantizedRanges rangesOf(const graph::Graph &graph)
{
    quantize::QuantizedRanges ranges;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        ranges[dialect::of(graph).entryName(graph, {id, 0, 0})] = {-4, 4};
    return ranges;
}

using PlanPtr = std::unique_ptr<kernels::LatencyPlan>;

Result<PlanPtr> planOf(const Probe &probe, DType type, const latency::PlanMaker &maker,
                       const Progress &progress)
{
    const policy::Policy policy = policyFor(probe, type);
    const quantize::QuantizedRanges ranges = rangesOf(probe.model.graph);
    HALFTONE_TRY(const mixed::ConvertedModel converted,
                 mixed::convertModel(probe.model, policy, false, {progress.stop, {}}, nullptr, &ranges));
    HALFTONE_TRY(const infer::TypedModel typed, latency::typedModel(converted.model, probe.shapes, policy));
    return maker.plan(typed);
}

std::string today()
{
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 16> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

/// Does the unit compute in the type, by kernels of its own?
bool isWorthwhile(Unit unit, DType type, const backends::BackendInfo &backend)
{
    const bool isCode = type == DType::I8;
    return backend.support(type) == kernels::Support::Native && !(isCode && !hardware::isProduct(unit));
}

} // namespace

std::optional<double> steadySpeed(const latency::Versus &narrow)
{
    const auto [low, high] = narrow.ci95;
    constexpr double kWidest = 1.25;
    if (!(narrow.ratio > 0) || !(low > 0) || high > low * kWidest)
        return std::nullopt;
    return 1 / narrow.ratio;
}

Result<hardware::Measurement> measureMachine(std::string_view chip, const Progress &progress)
{
    const std::string backend = availableBackend(chip);
    if (backend.empty())
        return unsupported(Field::Hardware, std::string(chip) + " is not available on this machine");
    HALFTONE_TRY(const dialect::Dialect *const dialect, probeDialect());
    HALFTONE_TRY(const latency::PlanMaker maker, latency::PlanMaker::create(backend, 0));
    const bool isGpu = chip == hardware::kThisGpu;
    const std::int64_t batch = isGpu ? kOnGpu : kOnCpu;
    hardware::Measurement found;
    found.machine = hardware::machineOf(chip);
    found.when = today();
    double done = 0;
    for (const auto make : {convolutions, products, elementwise}) {
        HALFTONE_TRY(const Probe probe, make(*dialect, batch));
        HALFTONE_TRY(const PlanPtr wide, planOf(probe, DType::F32, maker, progress));
        for (const DType type : {DType::BF16, DType::F16, DType::I8}) {
            progress.tell(done / 9, "measuring this machine");
            done += 1;
            if (!isWorthwhile(probe.unit, type, maker.backend()))
                continue;
            HALFTONE_TRY(const PlanPtr narrow, planOf(probe, type, maker, progress));
            const latency::LatencySettings settings{.warmup = 2, .repeats = 9, .byDevice = isGpu};
            HALFTONE_TRY(const latency::Versus versus,
                         latency::measureVersus(*narrow, *wide, settings, 1, {progress.stop, {}}));
            // Where the processor has to compute a part there is no clock of the device's, and nothing to compare.
            if (versus.byDevice == isGpu)
                found.of(probe.unit, *hardware::numberOf(type)) = steadySpeed(versus);
        }
    }
    return found;
}

bool isMeasured(std::string_view chip)
{
    return hardware::keptMeasurement(hardware::machineOf(chip)).has_value();
}

Result<void> remeasure(std::string_view chip, const Progress &progress)
{
    HALFTONE_TRY(const hardware::Measurement found, measureMachine(chip, progress));
    HALFTONE_TRY(const auto description, findChip(chip));
    hardware::keepMeasurement(*description, found);
    return {};
}

Result<void> ensureMeasured(std::string_view chip, const Progress &progress)
{
    if (availableBackend(chip).empty() || isMeasured(chip))
        return {};
    auto measured = remeasure(chip, progress);
    if (!measured.ok() && measured.error().code == Errc::Unsupported)
        return {}; // a build without plans has nothing to measure by
    return measured;
}

} // namespace halftone::machines
