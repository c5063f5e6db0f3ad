#pragma once

#include "core/backends/onednn/packed_weights.h"
#include "core/backends/onednn/program.h"
#include "core/plan/plan_edit.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::backends::onednn {

/// Where a program's inputs and outputs lie.
enum class Ports : std::uint8_t
{
    Inside, ///< in its arena
    Outside, ///< where Program::place() says; an output that is a part of an input or a constant stays what it is
};

/// Turns the nodes of a plan graph, in order, into steps of a program, and knows where every value lies at the moment.
/// The lower*() functions work through it.
class Emitter
{
public:
    /// cache   null: constants are packed anew, unless `packed` has them
    /// format  in which convolutions are asked to compute: Blocked or ChannelsLast
    Emitter(const plan::PlanGraph &graph, kernels::PlanCache *cache, Format format,
            PackedWeights *packed = nullptr);

    /// May kernels of our own take convolutions, whose sums have another order than oneDNN's? For latency plans; figures come from
    /// kernels that stay what they are whatever the batch.
    void allowOwnConvolutions() { m_ownConvolutions = true; }
    bool mayUseOwnConvolutions() const { return m_ownConvolutions; }

    const plan::PlanGraph &graph() const { return m_graph; }
    const kernels::TensorDesc &desc(plan::ValueId value) const { return m_graph.desc(value); }
    Format format() const { return m_format; }
    kernels::PlanCache *cache() const { return m_cache; }

    /// Gives the graph's inputs their buffers.
    Result<void> begin();
    /// Brings the outputs into plain layout and finishes the program.
    Result<std::unique_ptr<Program>> finish(Ports ports = Ports::Inside);
    /// The node that the next steps belong to.
    void enter(std::size_t node) { m_node = node; }
    /// All that were added so far.
    std::span<const kernels::PlanStep> steps() const { return m_program->steps(); }

    /// Where `value` lies now. For a constant its plain bytes.
    Result<Place> read(plan::ValueId value);
    /// Where `value` lies in that layout and type: a reorder is added unless there is one already, or done at once for a
    /// constant (and kept in the cache). The dimensions may be others of the same number of elements when `value` is
    /// constant or the layout plain.
    Result<Place> readAs(plan::ValueId value, const Desc &desc);
    Result<Place> readPlain(plan::ValueId value);
    /// The elements of `value` in another order: `view` describes its plain bytes.
    Result<Place> readThrough(plan::ValueId value, const Desc &view, const Desc &desc);
    /// A tensor that is no value of the graph; `view` describes its bytes. Kept in the cache.
    Result<Place> constant(const tensor::Tensor &tensor, const Desc &view, const Desc &desc);
    /// The same for a form that oneDNN does not know; `form` says which.
    Result<Place> constant(const tensor::Tensor &tensor, const std::string &form, const Desc &desc,
                           const std::function<Result<std::shared_ptr<const Packed>>()> &make);
    /// Where `value` is going to be written; part of a concatenation's result where that can be.
    Place write(plan::ValueId value, const Desc &desc);
    /// In plain layout; a type that oneDNN lacks as bytes.
    Place writePlain(plan::ValueId value);
    /// The same, over `source`, an input of the current node that lies in `place`, where nobody misses that afterwards.
    Place writeOver(plan::ValueId value, const Desc &desc, plan::ValueId source, const Place &place);
    /// `value` is what lies there already, beside what lay there before.
    void alias(plan::ValueId value, Place place);
    /// `value` is `factor` times the codes in `place` less `zero`, which an input of the current node are. Whoever reads it makes
    /// the step, from the codes to the layout that it wants; so does each cast of it.
    void defer(plan::ValueId value, const Place &place, double factor, std::int32_t zero = 0);
    /// The same for a cast of `source`. false: that was not deferred, or is computed already
    bool deferCast(plan::ValueId value, plan::ValueId source);
    /// `make` adds the steps that write `value` from what lies in `source`, once somebody reads it. Until then nobody may overwrite that.
    void postpone(plan::ValueId value, const Place &source, std::function<Result<void>()> make);
    bool isPostponed(plan::ValueId value) const { return m_locations[value].postponed != nullptr; }
    /// `value` takes the place of a value that nobody reads any more: see mayOverwrite().
    void replace(plan::ValueId value, Place place);
    const plan::PlanUses &uses() const { return m_uses; }
    /// Does any node or output read `value`?
    bool isRead(plan::ValueId value) const
    {
        return !m_uses.readers[value].empty() || m_uses.isOutput[value];
    }
    /// May a step of the current node overwrite `value`, which lies in `place`?
    bool mayOverwrite(plan::ValueId value, const Place &place) const;
    /// Is `value` written where the whole will be that it is a part of, if its layout lets it?
    bool isPartOfConcat(plan::ValueId value) const { return m_slots[value].whole != plan::kNoValue; }
    /// Is `value` read by matrix products alone, views and transpositions between? These take any strides.
    bool feedsProductsOnly(plan::ValueId value) const;
    /// In which layout `value` must be written so that its one reader, a transposition, has nothing to move. Nothing where it
    /// has another reader, or where rows would not stay together.
    std::optional<Desc> descBeforeTranspose(plan::ValueId value, Type type) const;
    /// Memory for a part of a step alone.
    Place temporary(const Desc &desc);

    /// A step of the current node.
    void add(const dnnl::primitive &primitive, const char *kernel, Program::Arguments arguments,
             const Desc &scratchpad);
    void addKernel(std::unique_ptr<kernels::Kernel> kernel, std::vector<BufferId> inputs,
                   std::vector<BufferId> outputs);
    Result<void> reorder(const Place &from, const Place &to, kernels::StepKind kind);

    /// Where value `part` of a concatenation's result lies, if it was written there: see write().
    bool isInPlace(plan::ValueId part, plan::ValueId whole) const;
    /// The same for a kernel that writes rows of any pitch: `part` of `whole`, which will lie as `wholeDesc` says, from that byte
    /// on. Nothing where the whole was begun in another layout.
    std::optional<Place> writePart(plan::ValueId part, const Desc &desc, plan::ValueId whole,
                                   const Desc &wholeDesc, std::size_t offset);
    /// Was `value` written into the memory of `place`?
    bool liesIn(plan::ValueId value, const Place &place) const;
    /// The place of a concatenation's result of which parts were written already.
    std::optional<Place> begunConcat(plan::ValueId whole) const;

    BufferId inputBuffer(std::size_t k) const { return m_inputs[k]; }
    BufferId outputBuffer(std::size_t k) const { return m_outputs[k]; }

private:
    struct Deferred
    {
        Place codes;
        double factor = 1;
        std::int32_t zero = 0;
        std::size_t node = 0;
    };

    struct Location
    {
        Place place;
        std::vector<Place> copies; ///< in other layouts
        bool isShared = false; ///< its memory is another value's too
        bool isSet = false;
        std::optional<Deferred> deferred{};
        std::function<Result<void>()> postponed{};
        std::size_t node = 0; ///< which postponed it
    };

    /// A value that is to be written into the result of a concatenation along the channels.
    struct Slot
    {
        plan::ValueId whole = plan::kNoValue;
        std::int64_t channel = 0;
    };

    void planConcats();
    /// Row-major; a type that oneDNN lacks is carried as bytes, which only kernels read.
    Desc plainDescOf(plan::ValueId value) const;
    std::optional<Place> writeIntoConcat(plan::ValueId value, const Desc &desc);
    bool isDeferred(plan::ValueId value) const
    {
        return m_locations[value].deferred && !m_locations[value].isSet;
    }
    void share(BufferId buffer);
    Result<Place> computeDeferred(plan::ValueId value, const Desc &desc);
    Result<Place> packConstant(plan::ValueId value, const Desc &view, const Desc &desc);
    kernels::PlanStep info(const char *kernel, kernels::StepKind kind) const;

    const plan::PlanGraph &m_graph;
    kernels::PlanCache *m_cache;
    PackedWeights *m_packed;
    Format m_format;
    plan::PlanUses m_uses;
    std::unique_ptr<Program> m_program;
    std::vector<Location> m_locations; ///< by ValueId
    std::vector<Slot> m_slots; ///< by ValueId
    std::vector<std::optional<Place>> m_concats; ///< by ValueId of an outermost concatenation's result
    std::vector<bool> m_isInPlace; ///< by ValueId
    std::vector<BufferId> m_inputs;
    std::vector<BufferId> m_outputs;
    std::size_t m_node = 0;
    bool m_ownConvolutions = false;
};

} // namespace halftone::backends::onednn
