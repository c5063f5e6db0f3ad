#include "core/rewrite/strip_casts.h"

#include "core/dialect/dialect.h"
#include "core/rewrite/rebuild.h"
#include "core/tensor/convert.h"

#include <unordered_set>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

/// A variable that says it is stored in 16 bit says float32 instead.
graph::NodeDefPtr widened(const dialect::Dialect &dialect, const graph::NodeDefPtr &variable)
{
    const auto type = dialect.declaredType(*variable);
    return type.ok() && tensor::isHalf(type.value()) ? dialect.withDeclaredType(variable, DType::F32)
                                                     : variable;
}

Result<std::size_t> widenParameters(std::vector<tensor::Array> &arrays, const Progress &progress)
{
    std::size_t changed = 0;
    for (tensor::Array &array : arrays) {
        if (!tensor::isHalf(array.values.dtype()))
            continue;
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_TRY(array.values, tensor::castTo(array.values, DType::F32));
        ++changed;
    }
    return changed;
}

} // namespace

Result<Rewritten> stripCasts(const graph::Model &model, const Progress &progress)
{
    const graph::Graph &source = model.graph;
    std::unordered_set<NodeId> heads;
    for (const Entry &head : source.heads())
        heads.insert(head.node);
    Rebuild rebuild(source);
    Rewritten result;
    std::size_t kept = 0;
    // What a cast reads, by source node: for readers of a cast that stays because it is also a head.
    std::vector<std::vector<Entry>> behind(source.nodeCount());
    const auto seenThrough = [&](const Entry &entry) {
        return behind[entry.node].empty() ? rebuild.now(entry) : behind[entry.node][entry.output];
    };
    for (const NodeId id : rebuild.order()) {
        std::vector<Entry> inputs;
        for (const Entry &entry : source.inputs(id))
            inputs.push_back(seenThrough(entry));
        if (!dialect::isCast(dialect::roleOf(source, id))) {
            const NodeId copy = rebuild.keep(id, std::move(inputs));
            if (source.isVariable(id))
                rebuild.graph().redefine(copy, widened(dialect::of(source), source.sharedNode(id)));
            continue;
        }
        behind[id] = inputs;
        if (heads.contains(id)) {
            rebuild.keep(id, std::move(inputs));
            ++kept;
        } else {
            rebuild.replace(id, std::move(inputs));
            ++result.changed;
        }
    }
    if (kept > 0)
        result.notes.push_back(std::to_string(kept)
                               + (kept == 1 ? " cast is an output and stays" : " casts are outputs and stay")
                               + ": the outputs keep their types and names");
    result.model = {rebuild.finish(), model.parameters, model.hasParameters};
    HALFTONE_TRY(const std::size_t widened, widenParameters(result.model.parameters, progress));
    if (widened > 0)
        result.notes.push_back(std::to_string(widened)
                               + " parameters went from 16 bit to float32: their values stay rounded");
    result.changed += widened;
    return result;
}

} // namespace halftone::rewrite
