#include "core/walks/fixed_batch.h"

#include "core/backends/backends.h"
#include "core/base/text.h"
#include "core/dialect/bound_axes.h"
#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/interpret/interpreter.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace halftone::walks {
namespace {

/// The first extent that all inputs with examples are bound to; 0 where one is open, or they differ. What MXNet's symbols say is that of
/// training, which binds nobody.
std::size_t declaredBatch(const graph::Model &model, const ExampleSource &source)
{
    std::optional<std::int64_t> declared;
    const std::vector<std::string> cut = source.cutInputs();
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const graph::NodeDef &node = model.graph.node(id);
        if (!node.isVariable() || std::ranges::find(cut, node.name) == cut.end())
            continue;
        const auto axes = dialect::boundAxes(model.graph, node);
        const std::int64_t first = axes && !axes->empty() ? parseInteger(axes->front()).value_or(-1) : -1;
        if (first < 1 || (declared && *declared != first))
            return 0;
        declared = first;
    }
    return static_cast<std::size_t>(declared.value_or(0));
}

/// What a node reads of shapes that are written in the file.
std::vector<tensor::Tensor> writtenInputs(const graph::Model &model, graph::NodeId id,
                                          const dialect::StoredArrays &stored)
{
    constexpr std::size_t kMostAxes = 16;
    std::vector<tensor::Tensor> inputs;
    for (const graph::Entry &entry : model.graph.inputs(id)) {
        const graph::NodeDef &node = model.graph.node(entry.node);
        inputs.emplace_back();
        if (const auto found = stored.find(node.name); node.isVariable() && found != stored.end()) {
            if (found->second->shape.rank() == 1 && found->second->values.elementCount() <= kMostAxes)
                inputs.back() = found->second->values;
        } else if (!node.isVariable()) {
            if (auto constant = dialect::of(model.graph).constantOf(node); constant.ok() && constant.value())
                inputs.back() = *std::move(constant).value();
        }
    }
    return inputs;
}

/// First extents that shapes are written to have, the smallest first.
std::set<std::size_t> writtenBatches(const graph::Model &model)
{
    const dialect::StoredArrays stored = dialect::storedArrays(model);
    std::set<std::size_t> batches;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (model.graph.isVariable(id))
            continue;
        const auto op
            = dialect::of(model.graph).readWith(model.graph.node(id), writtenInputs(model, id, stored));
        if (!op.ok())
            continue;
        if (const auto *const reshape = op.value().getIf<ops::Reshape>();
            reshape != nullptr && !reshape->shape.empty() && reshape->shape[0] > 0)
            batches.insert(static_cast<std::size_t>(reshape->shape[0]));
    }
    return batches;
}

/// What shapes of so many examples come to.
class Trial
{
public:
    Trial(const graph::Model &model, const ExampleSource &source, const std::string &backend)
        : m_graph(model.graph)
        , m_source(source)
    {
        const auto chain = backends::backendChain(backend, 1);
        if (!chain.ok())
            return;
        auto made = interpret::Interpreter::create(model, chain.value());
        if (made.ok())
            m_interpreter.emplace(std::move(made).value());
    }

    /// False: running the model refuses it whatever the batch, and says why.
    bool canTry() const { return m_interpreter.has_value(); }

    /// The first extents of what the heads give; -1 where there is none, or it is not known before it is computed, which it is then where it is
    /// not much. fails: what running the model refuses
    Result<std::vector<std::int64_t>> rowsOf(std::size_t examples)
    {
        const std::size_t there = m_source.count().value_or(0);
        HALFTONE_TRY(const interpret::Feed feed,
                     Batches::filled(std::min(examples, there), examples).feed(m_source, 0));
        HALFTONE_TRY(interpret::Execution run, m_interpreter->start(feed, interpret::Prepare::Once));
        std::vector<std::int64_t> rows;
        bool isOpen = false;
        for (const graph::Entry &head : m_graph.heads()) {
            rows.push_back(-1);
            if (m_graph.isVariable(head.node))
                continue;
            const auto outputs = run.outputsOf(head.node);
            const bool isKnown = head.output < outputs.size() && outputs[head.output].shape.isComplete();
            isOpen = isOpen || !isKnown;
            if (isKnown && outputs[head.output].shape.rank() > 0)
                rows.back() = outputs[head.output].shape[0];
        }
        // What a shape that is a value lets pass is told where it is computed.
        constexpr std::size_t kFew = 16;
        while (isOpen && examples <= kFew && !run.isDone())
            HALFTONE_CHECK(run.step());
        if (isOpen && examples > kFew) {
            HALFTONE_CHECK(rowsOf(2));
        }
        return rows;
    }

    /// Do the heads that count examples give as many rows an example as those of `rows`, of so many?
    bool givesAlike(std::size_t examples, const std::vector<std::int64_t> &rows, std::size_t of)
    {
        const auto own = rowsOf(examples);
        if (!own.ok())
            return false;
        const auto one = static_cast<std::int64_t>(examples);
        const auto all = static_cast<std::int64_t>(of);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const std::int64_t other = own.value()[k];
            const bool counts = rows[k] % all == 0 || (one > 1 && other % one == 0);
            if (rows[k] > 0 && other > 0 && counts && other * all != rows[k] * one)
                return false;
        }
        return true;
    }

    /// May a run be meant for so many? isSaid: somewhere in the model
    bool mayTake(std::size_t examples, bool isSaid)
    {
        const auto rows = rowsOf(examples);
        return rows.ok() && std::ranges::all_of(rows.value(), [&](std::int64_t own) {
                   return own < 0 || (isSaid ? own % static_cast<std::int64_t>(examples) == 0 : own == 1);
               });
    }

private:
    const graph::Graph &m_graph;
    const ExampleSource &m_source;
    std::optional<interpret::Interpreter> m_interpreter;
};

/// The least number that the model may be meant for; 0 where there is none.
std::size_t leastTaken(const graph::Model &model, Trial &trial, bool isOneDeclared)
{
    const std::set<std::size_t> written = writtenBatches(model);
    if (trial.mayTake(1, isOneDeclared || written.contains(1)))
        return 1;
    for (const std::size_t one : written)
        if (one > 1 && trial.mayTake(one, true))
            return one;
    return 0;
}

} // namespace

Result<std::size_t> fixedBatch(const graph::Model &model, const ExampleSource &source,
                               const std::string &backend, std::size_t wanted)
{
    constexpr std::size_t kAny = 0;
    const std::size_t all = source.count().value_or(0);
    if (all == 0 || wanted == 1)
        return kAny;
    const std::size_t declared = declaredBatch(model, source);
    if (declared > 1 && (wanted == 0 || wanted == declared))
        return all == declared && wanted == 0 ? kAny : declared;
    const std::size_t usual = wanted > 0 ? wanted : source.usualBatch() > 0 ? source.usualBatch() : all;
    Trial trial(model, source, backend);
    if (!trial.canTry())
        return kAny;
    const auto rows = trial.rowsOf(std::min(usual, all));
    if (wanted > 0) {
        if (declared > 1 && (!rows.ok() || !trial.givesAlike(declared, rows.value(), wanted)))
            return badCall(Field::Batch, std::to_string(wanted),
                           std::to_string(declared) + ", the batch size that the model declares");
        if (!rows.ok())
            return wanted > all && trial.rowsOf(wanted).ok() ? Result<std::size_t>(wanted) : rows.error();
        const std::size_t taken = std::min(wanted, all);
        return taken == 1 || trial.givesAlike(1, rows.value(), taken) ? kAny : taken;
    }
    if (rows.ok())
        return kAny;
    if (const std::size_t least = leastTaken(model, trial, declared == 1); least > 0)
        return least;
    return all == 1 ? rows.error() : orElse(rows.error(), Field::Batch, "to the batch size of the model");
}

Result<Batches> batchesOf(const graph::Model &model, const ExampleSource &source, const std::string &backend,
                          std::size_t wanted)
{
    HALFTONE_TRY(const std::size_t fixed, fixedBatch(model, source, backend, wanted));
    return fixed == 0 ? Batches::of(source, wanted) : Batches::filled(*source.count(), fixed);
}

std::size_t examplesForShapes(const graph::Model &model, const ExampleSource &source)
{
    if (source.count().value_or(0) == 0)
        return 0;
    if (const std::size_t declared = declaredBatch(model, source); declared > 1)
        return declared;
    if (writtenBatches(model).empty())
        return 1;
    Trial trial(model, source, std::string(backends::kDefaultBackend));
    return trial.canTry() ? std::max<std::size_t>(leastTaken(model, trial, false), 1) : 1;
}

} // namespace halftone::walks
