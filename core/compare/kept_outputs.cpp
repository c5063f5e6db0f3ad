#include "core/compare/kept_outputs.h"

#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/compare/kept_plan.h"
#include "core/compare/layer_rows.h"
#include "core/compare/output_rows.h"
#include "core/compare/value_spans.h"
#include "core/compare/value_store.h"
#include "core/dialect/dialect.h"
#include "core/kernels/shared_kernels.h"
#include "core/ops/numerics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <unordered_set>

namespace halftone::compare {
namespace {

using graph::NodeId;
using interpret::Execution;
using interpret::Interpreter;
using interpret::Prepare;
using tensor::Tensor;
using Key = ValueKeys::Key;

constexpr std::uint64_t kRemembered = 2; ///< models back whose outputs are still there

/// 0 to count - 1, so that the first of them, however many, lie evenly among all: numbers with their bits turned round.
std::vector<std::size_t> spreadOrder(std::size_t count)
{
    std::vector<std::size_t> order;
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(count, 1));
    for (std::size_t k = 0; k < size; ++k) {
        std::size_t turned = 0;
        for (std::size_t bit = 1; bit < size; bit <<= 1)
            turned = turned << 1 | ((k & bit) != 0 ? 1 : 0);
        if (turned < count)
            order.push_back(turned);
    }
    return order;
}

/// Costs little next to what it reads: a function of one value, element by element or line by line.
bool isCheap(const graph::Graph &graph, NodeId id)
{
    using ops::NumericalClass;
    const auto op = dialect::of(graph).readKind(graph.node(id));
    const auto data = std::ranges::count_if(
        graph.inputs(id), [&](const graph::Entry &entry) { return !graph.isVariable(entry.node); });
    const NumericalClass its = op.ok() ? ops::numericalClass(op.value()) : NumericalClass::Unknown;
    return data == 1
        && (its == NumericalClass::ElementwiseSafe || its == NumericalClass::RangeSensitive
            || its == NumericalClass::Normalisation || its == NumericalClass::DataMovement);
}

/// By NodeId: nodes whose values are kept. What only a cheap node reads is not: its value stands for both.
std::vector<bool> worthKeeping(const graph::Graph &graph, const KeptPlan &plan)
{
    constexpr NodeId kMany = std::numeric_limits<NodeId>::max(); // or a head
    std::vector<std::optional<NodeId>> reader(graph.nodeCount());
    std::vector<bool> isKept(graph.nodeCount(), false);
    const auto read = [&](NodeId node, NodeId by) { reader[node] = reader[node] ? kMany : by; };
    for (const NodeId id : plan.order)
        for (const graph::Entry &entry : graph.inputs(id))
            read(entry.node, id);
    for (const graph::Entry &head : graph.heads())
        read(head.node, kMany);
    for (const NodeId id : plan.order)
        isKept[id]
            = !graph.isVariable(id) && (!reader[id] || *reader[id] == kMany || !isCheap(graph, *reader[id]));
    return isKept;
}

bool haveSameHeads(const graph::Graph &a, const KeptPlan &ofA, const graph::Graph &b, const KeptPlan &ofB)
{
    return std::ranges::equal(a.heads(), b.heads(), [&](const graph::Entry &x, const graph::Entry &y) {
        return ofA.keys[x.node] == ofB.keys[y.node] && x.output == y.output;
    });
}

/// Squares of errors and of values of one output, by batch.
struct Energies
{
    std::vector<double> noise;
    std::vector<double> signal;
    bool isClean = true;
};

void addEnergies(const Tensor &reference, const Tensor &other, Energies &energies)
{
    tensor::ErrorMetrics metrics;
    const bool isAlike = compare::addErrors(reference, other, metrics).has_value();
    const tensor::ErrorFigures figures = metrics.figures();
    const auto count = static_cast<double>(figures.count);
    const double noise = figures.rmse * figures.rmse * count;
    const double share = figures.relativeL2.value_or(0);
    energies.isClean = energies.isClean && isAlike && figures.nan == 0 && figures.overflow == 0;
    energies.noise.push_back(noise);
    energies.signal.push_back(share > 0 ? noise / (share * share) : 0);
}

/// Of the ratio of both sums over so many of `all`, as a share of itself (Cochran, "Sampling Techniques", 1977, section 6.4);
/// infinite where no batch has an error: then nothing is known.
double relativeStandardError(const Energies &energies, std::size_t all)
{
    const auto count = static_cast<double>(energies.noise.size());
    const double noise = std::reduce(energies.noise.begin(), energies.noise.end());
    const double signal = std::reduce(energies.signal.begin(), energies.signal.end());
    if (!(noise > 0) || !(signal > 0) || count < 2)
        return std::numeric_limits<double>::infinity();
    double squares = 0;
    for (std::size_t k = 0; k < energies.noise.size(); ++k)
        squares += std::pow(energies.noise[k] - noise / signal * energies.signal[k], 2);
    const double left = 1 - count / static_cast<double>(all);
    return std::sqrt(left * squares * count / (count - 1)) / noise;
}

} // namespace

class KeptOutputs::Impl
{
public:
    Impl(graph::Model reference, std::vector<interpret::Feed> batches, const kernels::BackendChain &backends,
         unsigned threads)
        : m_model(std::move(reference))
        , m_batches(std::move(batches))
        , m_threads(
              static_cast<unsigned>(std::clamp<std::size_t>(m_batches.size(), 1, std::max(threads, 1U))))
        , m_order(spreadOrder(m_batches.size()))
        , m_values(m_batches.size())
    {
        for (const interpret::Feed &feed : m_batches)
            m_feedBytes += interpret::feedBytes(feed);
        for (unsigned thread = 0; thread < m_threads; ++thread)
            m_chains.push_back(kernels::withSharedKernels(backends));
    }

    Result<std::optional<KeptCompare::Answer>> compare(const ComparedModels &models, std::size_t memoryLimit,
                                                       const Sample &sample, const Progress &progress);

private:
    struct Run
    {
        const ComparedModels &models;
        const Progress &progress;
        /// Samples are taken again and again of the same batches. To keep the values of all others takes longer than to compute them, since
        /// it is memory that nobody has touched yet.
        bool keepsValues = false;
        std::vector<Interpreter> others{}; ///< by thread
        KeptPlan reference{};
        KeptPlan lowered{};
        std::unordered_set<Key> kept{}; ///< values of the reference that are worth it
        std::unordered_set<Key> shared{}; ///< of these what the other model reads, where anything differs
        std::vector<LayerCompare::Heads> heads{}; ///< by batch
        std::mutex telling{};
        std::size_t done = 0; ///< batches
    };

    Result<void> prepareThreads(Run &run, std::size_t batches);
    Result<bool> plan(Run &run, std::size_t memoryLimit);
    Result<std::vector<Tensor>> headsOf(Interpreter &interpreter, const graph::Graph &graph,
                                        const KeptPlan &plan, const std::unordered_set<Key> *kept,
                                        std::size_t place, const Progress &progress);
    Result<void> computeBatch(Run &run, unsigned thread, std::size_t place);
    Result<void> computeSome(Run &run, std::size_t from, std::size_t to);
    bool isKnown(const Run &run, std::size_t count, double precision) const;
    std::optional<LayerErrors> firstUnclean(const Run &run) const;

    const graph::Model m_model;
    const std::vector<interpret::Feed> m_batches;
    const unsigned m_threads;
    std::vector<kernels::BackendChain>
        m_chains; ///< by thread: what differs from the reference shares the other kernels with it
    interpret::ReadableParameters m_readable; ///< of the reference and what is compared with it
    std::vector<Interpreter> m_references; ///< by thread: one run at a time each
    std::size_t m_feedBytes = 0;
    ValueKeys m_keys;
    const std::vector<std::size_t> m_order; ///< in which batches are taken
    ValueStore m_values; ///< by place in the order
};

/// As many as so many batches keep busy.
Result<void> KeptOutputs::Impl::prepareThreads(Run &run, std::size_t batches)
{
    const std::size_t threads = std::min<std::size_t>(m_threads, batches);
    if (run.others.size() >= threads)
        return {};
    HALFTONE_TRY(const graph::Model other, m_readable.of(run.models.other));
    for (std::size_t thread = run.others.size(); thread < threads; ++thread) {
        if (thread >= m_references.size()) {
            HALFTONE_TRY(const graph::Model reference, m_readable.of(m_model));
            HALFTONE_TRY(Interpreter made, Interpreter::create(reference, m_chains[thread]));
            m_references.push_back(std::move(made));
        }
        HALFTONE_TRY(Interpreter made, Interpreter::create(other, m_chains[thread]));
        run.others.push_back(std::move(made));
    }
    return {};
}

/// Numbers what is computed. False: no room.
Result<bool> KeptOutputs::Impl::plan(Run &run, std::size_t memoryLimit)
{
    HALFTONE_TRY(const Execution reference, m_references[0].start(m_batches[0], Prepare::WhenComputed));
    HALFTONE_TRY(const Execution lowered, run.others[0].start(m_batches[0], Prepare::WhenComputed));
    m_keys.nextGeneration();
    run.reference = keptPlanOf(m_model, reference, m_batches[0], m_keys);
    run.lowered = keptPlanOf(run.models.other, lowered, m_batches[0], m_keys);
    const std::vector<Key> forgotten = m_keys.forgetOlderThan(kRemembered);
    m_values.forget(std::unordered_set<Key>(forgotten.begin(), forgotten.end()));
    m_values.rememberHeads(m_model.graph, run.reference);
    m_values.rememberHeads(run.models.other.graph, run.lowered);
    if (run.reference.isOpen || run.lowered.isOpen)
        return false;
    const std::vector<bool> isKept = worthKeeping(m_model.graph, run.reference);
    std::size_t bytes = 0;
    for (const NodeId id : run.reference.order)
        if (isKept[id] && run.kept.insert(run.reference.keys[id]).second)
            bytes += run.reference.bytes[id];
    // Of values that nobody wants yet there are gigabytes: they are kept when they are computed a second time.
    if (run.keepsValues && !haveSameHeads(m_model.graph, run.reference, run.models.other.graph, run.lowered))
        for (const Key key : run.lowered.keys)
            if (run.kept.contains(key))
                run.shared.insert(key);
    const std::size_t inHand = m_threads
        * (std::max(reference.peakBytes(), lowered.peakBytes())
           + bytesAroundANode(m_model.graph, run.reference));
    const std::size_t heads = m_batches.size() * (run.reference.headBytes + run.lowered.headBytes);
    return m_values.makeRoom(run.kept, bytes, m_feedBytes + inHand + heads, memoryLimit);
}

/// By NodeId: what has to be computed or taken from the values that are there, for the heads to be known.
std::vector<bool> neededNodes(const graph::Graph &graph, const KeptPlan &plan, const KeptValues &values)
{
    std::vector<bool> isNeeded(graph.nodeCount(), false);
    for (const graph::Entry &head : graph.heads())
        isNeeded[head.node] = true;
    for (std::size_t at = plan.order.size(); at-- > 0;) {
        const NodeId id = plan.order[at];
        if (isNeeded[id] && !values.contains(plan.keys[id]))
            for (const graph::Entry &entry : graph.inputs(id))
                isNeeded[entry.node] = true;
    }
    return isNeeded;
}

/// Runs a model to its end, computing only what its heads need that is not kept.
/// kept  what is to be kept from now on; null: nothing
Result<std::vector<Tensor>> KeptOutputs::Impl::headsOf(Interpreter &interpreter, const graph::Graph &graph,
                                                       const KeptPlan &plan,
                                                       const std::unordered_set<Key> *kept, std::size_t place,
                                                       const Progress &progress)
{
    if (m_values.hasHeads(place, graph, plan))
        return m_values.headsOf(place, graph, plan);
    KeptValues &values = m_values.of(place);
    const std::vector<bool> isNeeded = neededNodes(graph, plan, values);
    HALFTONE_TRY(Execution execution, interpreter.start(m_batches[m_order[place]], Prepare::WhenComputed));
    while (!execution.isDone()) {
        const NodeId id = execution.node();
        const auto known = values.find(plan.keys[id]);
        if (!isNeeded[id] || known != values.end()) {
            execution.give(isNeeded[id] ? known->second : std::vector<Tensor>(plan.types[id].size()));
            continue;
        }
        HALFTONE_TRY(const interpret::NodeValue value, execution.step(progress));
        const bool isHead
            = std::ranges::any_of(graph.heads(), [id](const graph::Entry &head) { return head.node == id; });
        if (isHead || (kept && kept->contains(plan.keys[id]) && m_values.keepsAll(place)))
            values.emplace(plan.keys[id], std::vector<Tensor>(value.outputs.begin(), value.outputs.end()));
    }
    return execution.heads();
}

Result<void> KeptOutputs::Impl::computeBatch(Run &run, unsigned thread, std::size_t place)
{
    HALFTONE_CHECK(run.progress.checkStop());
    const Progress quiet{run.progress.stop, {}};
    LayerCompare::Heads &heads = run.heads[m_order[place]];
    HALFTONE_TRY(heads.reference,
                 headsOf(m_references[thread], m_model.graph, run.reference, &run.shared, place, quiet));
    HALFTONE_TRY(heads.other,
                 headsOf(run.others[thread], run.models.other.graph, run.lowered,
                         run.keepsValues ? &run.kept : nullptr, place, quiet));
    const std::scoped_lock guard(run.telling);
    run.progress.tell(static_cast<double>(++run.done) / static_cast<double>(m_batches.size()), "comparing");
    return {};
}

Result<void> KeptOutputs::Impl::computeSome(Run &run, std::size_t from, std::size_t to)
{
    std::vector<Result<void>> results(m_batches.size());
    shareParts(m_threads, to - from, [&](std::size_t part, unsigned thread) {
        const std::size_t place = from + part;
        results[m_order[place]] = guarded([&] { return computeBatch(run, thread, place); });
        m_values.keepOnly(place, run.kept);
        return results[m_order[place]].ok();
    });
    for (const Result<void> &result : results)
        HALFTONE_CHECK(result); // the first in order says why
    return {};
}

/// Do the first so many say what all of them lose, as precisely as is asked for?
bool KeptOutputs::Impl::isKnown(const Run &run, std::size_t count, double precision) const
{
    for (std::size_t output = 0; output < m_model.graph.heads().size(); ++output) {
        Energies energies;
        for (std::size_t place = 0; place < count; ++place) {
            const LayerCompare::Heads &heads = run.heads[m_order[place]];
            addEnergies(heads.reference[output], heads.other[output], energies);
        }
        if (!energies.isClean)
            return true;
        if (!(relativeStandardError(energies, m_batches.size()) <= precision))
            return false;
    }
    return true;
}

/// An output of the reference that is no number: nothing can be held against it.
std::optional<LayerErrors> KeptOutputs::Impl::firstUnclean(const Run &run) const
{
    for (const LayerCompare::Heads &ofBatch : run.heads)
        if (auto unclean = uncleanHead(m_model.graph, ofBatch.reference))
            return unclean;
    return std::nullopt;
}

Result<std::optional<KeptCompare::Answer>> KeptOutputs::Impl::compare(const ComparedModels &models,
                                                                      std::size_t memoryLimit,
                                                                      const Sample &sample,
                                                                      const Progress &progress)
{
    Run run{models, progress, sample.first > 0};
    run.heads.resize(m_batches.size());
    const auto endOfStep = [&](std::size_t done) {
        const std::size_t wanted = sample.first > 0 ? std::max(sample.first, 2 * done) : m_batches.size();
        return std::min(wanted, m_batches.size());
    };
    HALFTONE_CHECK(prepareThreads(run, endOfStep(0)));
    HALFTONE_TRY(const bool hasRoom, plan(run, memoryLimit));
    if (!hasRoom)
        return std::optional<KeptCompare::Answer>();
    std::size_t done = 0;
    do {
        const std::size_t to = endOfStep(done);
        HALFTONE_CHECK(prepareThreads(run, to - done));
        HALFTONE_CHECK(computeSome(run, done, to));
        done = to;
    } while (done < m_batches.size() && !isKnown(run, done, sample.precision));
    if (const auto unclean = firstUnclean(run))
        return std::optional(KeptCompare::Answer{{}, {}, 0, unclean});
    OutputRows outputs(m_model.graph);
    for (std::size_t batch = 0; batch < run.heads.size();
         ++batch) // in order: sums do not depend on who was first
        if (!run.heads[batch].reference.empty())
            outputs.add(run.heads[batch], m_batches[batch]);
    KeptCompare::Answer answer{conclude({}, outputs.outputs(), {}), std::move(run.heads), done, {}};
    answer.comparison.peakBytes = m_feedBytes + m_values.bytes();
    return std::optional(std::move(answer));
}

KeptOutputs::KeptOutputs(graph::Model reference, std::vector<interpret::Feed> batches,
                         const kernels::BackendChain &backends, unsigned threads)
    : m_impl(std::make_unique<Impl>(std::move(reference), std::move(batches), backends, threads))
{
}
KeptOutputs::KeptOutputs(KeptOutputs &&) noexcept = default;
KeptOutputs &KeptOutputs::operator=(KeptOutputs &&) noexcept = default;
KeptOutputs::~KeptOutputs() = default;

Result<std::optional<KeptCompare::Answer>> KeptOutputs::compare(const ComparedModels &models,
                                                                std::size_t memoryLimit, const Sample &sample,
                                                                const Progress &progress)
{
    return m_impl->compare(models, memoryLimit, sample, progress);
}

} // namespace halftone::compare
