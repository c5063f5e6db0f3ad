#pragma once

#include "core/backends/cuda/element_kernel.h"
#include "core/backends/cuda/lower_float8.h"
#include "core/backends/cuda/program.h"
#include "core/plan/plan_edit.h"
#include "core/plan/plan_graph.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::backends::cuda {

/// Where a value lies and how.
struct Place
{
    BufferId buffer = 0;
    View view;
};

/// What plans are made for.
struct EmitOptions
{
    bool allowsTf32 = false;
};

/// Makes steps of the nodes of a plan graph, in order, and keeps where each value lies. A function of one element whose only
/// reader is another one gets no step: it is computed where it is read.
class Emitter
{
public:
    Emitter(const plan::PlanGraph &graph, std::shared_ptr<Gpu> gpu, EmitOptions options);

    const plan::PlanGraph &graph() const { return m_graph; }
    Program &program() { return *m_program; }
    const EmitOptions &options() const { return m_options; }
    void enter(std::size_t node) { m_node = node; }
    const plan::PlanNode &node() const { return m_graph.nodes[m_node]; }

    /// fails: Unsupported for a type that kernels do not know
    Result<Place> read(plan::ValueId value);
    /// The same for kernels that convert by themselves: where a cast gives the value to the current node alone, what it casts, as far as
    /// that is left to the node: from 16 bits to a normalisation, to 16 bits before padsChannels(). members  the cast's are added
    Result<Place> readNarrow(plan::ValueId value, std::vector<std::string> &members);
    /// In another layout: a constant is made so here once, other values by a step of their own.
    Result<Place> readAs(plan::ValueId value, Order order);
    /// Dense, in the order that `layout` gives it (dims as the value's): as above. fails: as read()
    Result<Place> readLaidOut(plan::ValueId value, const View &layout);
    /// Row-major without gaps: put in that order by a step of its own where it lies otherwise. fails: as read()
    Result<Place> readPlain(plan::ValueId value);
    /// Plain and in another float type: a constant is made so here, other values by a step of their own. fails: as read()
    Result<Place> readIn(plan::ValueId value, tensor::DType type);
    Place write(plan::ValueId value, Order order = Order::Plain);
    /// A vector that kernels read.
    BufferId constant(std::vector<float> values);
    BufferId constant(std::vector<std::int32_t> values);
    /// Dense row-major, of any type, for kernels of the host.
    Result<BufferId> readRows(plan::ValueId value);
    BufferId writeRows(plan::ValueId value);
    /// `value` is what lies there already.
    void alias(plan::ValueId value, Place place) { m_places[value] = std::move(place); }
    /// In which order a result that is computed element by element from `value` best lies.
    Order orderOf(plan::ValueId value) const;
    bool isDense(const Place &place) const; ///< row-major, without gaps

    bool isAbsorbed(std::size_t node) const { return m_absorbed[node]; }
    /// The current node as a product of codes; null where it is none.
    const Float8Product *float8Product() const
    {
        const auto found = m_float8.find(static_cast<std::uint32_t>(m_node));
        return found == m_float8.end() ? nullptr : &found->second;
    }
    /// A convolution over fewer channels than tensor cores take at once (channel_window.h), which is given more by zeros.
    bool padsChannels(const plan::PlanNode &node) const;
    bool readsOutput(plan::ValueId value) const
    {
        return !m_uses.readers[value].empty() || m_uses.isOutput[value];
    }

    /// A cast that reads `value`, to a type of 16 bits: whoever computes the value writes that, too, in the same layout. Nothing where
    /// there is none; else the cast gets no step.
    struct CastResult
    {
        Place place;
        std::vector<std::string> members;
    };
    std::optional<CastResult> takeCast(plan::ValueId value, Order order);

    kernels::PlanStep stepOf(const plan::PlanNode &node) const;
    /// also  nodes that the kernel computes besides the current one
    void launch(KernelText kernel, std::vector<BufferId> arguments,
                const std::vector<std::string> &also = {});
    /// A kernel of our own that sums products.
    void launchProduct(KernelText kernel, std::vector<BufferId> arguments, const Work &work);

    /// The current node, a function of elements, with those that it takes in.
    Result<void> emitElements();
    /// What the node's post-operations do to `acc`, and the buffers of the operands.
    Result<std::pair<Epilogue, std::vector<BufferId>>> epilogueOf(const plan::PlanNode &node);

    Result<std::unique_ptr<Program>> finish();

private:
    struct Chain;
    Result<std::string> inChain(Chain &chain, const plan::PlanNode &node);
    Result<std::string> argumentOf(Chain &chain, const plan::PlanNode &node, std::size_t input);
    void findAbsorbed();
    bool isWidening(const plan::PlanNode &node) const;
    bool isCastForPadding(const plan::PlanNode &node) const;
    bool decodesForProducts(const plan::PlanNode &node) const;
    Result<Place> place(plan::ValueId value);

    const plan::PlanGraph &m_graph;
    plan::PlanUses m_uses;
    EmitOptions m_options;
    std::unique_ptr<Program> m_program;
    Float8Products m_float8;
    std::vector<std::optional<Place>> m_places; ///< by ValueId
    std::unordered_map<plan::ValueId, Place>
        m_lastChannels; ///< values that were put in that order for readers
    std::vector<bool> m_absorbed; ///< by node
    std::size_t m_node = 0;
};

/// The operation of a node without its post-operations.
kernels::Operation operationOf(const plan::PlanGraph &graph, const plan::PlanNode &node);
/// How input `k` of a function of elements is seen by its result. Needs: isElementwise()
View stretchedInput(const plan::PlanNode &node, std::size_t k, const View &view, const Dims &result);

/// Steps for the emitter's current node. fails: Unsupported, saying why
Result<void> lower(Emitter &emitter);

} // namespace halftone::backends::cuda
