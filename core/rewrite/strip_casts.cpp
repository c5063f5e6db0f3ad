#include "core/passes/strip_casts.h"

#include "core/dialect/mxnet/dtype_code.h"
#include "core/passes/rebuild.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace halftone::passes {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

bool isAmpCast(const graph::NodeDef &node)
{
    return node.op == "amp_cast" || node.op == "amp_multicast";
}

/// A variable that says it is stored in 16 bit says float32 instead.
graph::NodeDefPtr widened(const graph::NodeDefPtr &variable)
{
    static const std::array kHalfCodes{std::to_string(dialect::mxnet::codeOf(DType::F16)),
                                       std::to_string(dialect::mxnet::codeOf(DType::BF16))};
    const std::string *code = variable->attributes.find("__dtype__");
    if (code == nullptr || std::ranges::find(kHalfCodes, *code) == kHalfCodes.end())
        return variable;
    auto def = std::make_shared<graph::NodeDef>(*variable);
    def->attributes.set("__dtype__", std::to_string(dialect::mxnet::codeOf(DType::F32)));
    return def;
}

Result<std::size_t> widenParameters(std::vector<tensor::Array> &arrays, const Progress &progress)
{
    std::size_t changed = 0;
    for (tensor::Array &array : arrays) {
        if (!tensor::isHalf(array.values.dtype()))
            continue;
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "widening the parameters was cancelled", {}};
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
    // What a cast reads, by source node: for readers of a cast that stays because it is also a head.
    std::vector<std::vector<Entry>> behind(source.nodeCount());
    const auto seenThrough = [&](const Entry &entry) {
        return behind[entry.node].empty() ? rebuild.now(entry) : behind[entry.node][entry.output];
    };
    for (const NodeId id : rebuild.order()) {
        std::vector<Entry> inputs;
        for (const Entry &entry : source.inputs(id))
            inputs.push_back(seenThrough(entry));
        if (!isAmpCast(source.node(id))) {
            const NodeId copy = rebuild.keep(id, std::move(inputs));
            if (source.isVariable(id))
                rebuild.graph().redefine(copy, widened(source.sharedNode(id)));
            continue;
        }
        behind[id] = inputs;
        if (heads.contains(id)) {
            rebuild.keep(id, std::move(inputs));
        } else {
            rebuild.replace(id, std::move(inputs));
            ++result.changed;
        }
    }
    result.model = {rebuild.finish(), model.parameters, model.hasParameters};
    HALFTONE_TRY(const std::size_t widened, widenParameters(result.model.parameters, progress));
    if (widened > 0)
        result.notes.push_back(std::to_string(widened)
                               + " parameters went from 16 bit to float32: their values stay rounded");
    result.changed += widened;
    return result;
}

} // namespace halftone::passes
