#include "core/backends/onednn/coded_post_ops.h"

#include "core/backends/onednn/int8_scales.h"

#include <algorithm>
#include <limits>

namespace halftone::backends::onednn {

using dnnl::algorithm;

void CodedPostOps::linear(double k, double c)
{
    if (k == 1 && c == 0)
        return;
    if (!m_items.empty() && m_items.back().kind == Item::Kind::Linear) {
        m_items.back().a *= k;
        m_items.back().b = m_items.back().b * k + c;
        return;
    }
    if (!m_items.empty() && m_items.back().kind == Item::Kind::Clip && k > 0) { // what is cut is cut later
        const Item cut = m_items.back();
        m_items.pop_back();
        linear(k, c);
        clip(cut.a * k + c, cut.b * k + c);
        return;
    }
    m_items.push_back({Item::Kind::Linear, k, c});
}

void CodedPostOps::clip(double least, double most)
{
    if (!m_items.empty() && m_items.back().kind == Item::Kind::Clip) {
        Item &before = m_items.back();
        before = {Item::Kind::Clip, std::clamp(before.a, least, most), std::clamp(before.b, least, most)};
        return;
    }
    m_items.push_back({Item::Kind::Clip, least, most});
}

void CodedPostOps::function(const ops::ElementFunction &function)
{
    constexpr double kMost = std::numeric_limits<float>::max();
    using Kind = ops::ElementFunction::Kind;
    if (function.isRelu())
        clip(0, kMost);
    else if (function.kind == Kind::Clip)
        clip(std::max(double{function.alpha}, -kMost), std::min(double{function.beta}, kMost));
    else if (function.kind == Kind::Linear)
        linear(double{function.alpha}, double{function.beta});
    else
        m_items.push_back({Item::Kind::Function, 1, 0, eltwiseOf(function)});
}

void CodedPostOps::recode(const ops::CodeScale &scale)
{
    linear(1 / scale.step, scale.zero);
    m_items.push_back({Item::Kind::Function, 1, 0, {algorithm::eltwise_round, 0, 0}});
    clip(scale.least(), scale.most());
    linear(scale.step, -scale.zero * scale.step);
}

Result<void> CodedPostOps::add(Emitter &emitter, plan::ValueId addend, const ops::CodeScale &scale,
                               const Desc &result, bool mayOverwrite)
{
    const auto type = dnnlType(emitter.desc(addend).dtype);
    std::int64_t count = 1;
    for (const auto dim : result.get_dims())
        count *= dim;
    if (!type || emitter.desc(addend).shape.elementCount() != count)
        return unsupported("plan", "codes of an addend of another shape");
    const Desc layout = withType(result, *type);
    HALFTONE_TRY(const Place place, emitter.readAs(addend, layout));
    const bool isFirst
        = std::ranges::none_of(m_items, [](const Item &item) { return item.kind == Item::Kind::Sum; });
    if (mayOverwrite && isFirst && layout.get_size() == result.get_size()
        && emitter.mayOverwrite(addend, place)) {
        m_items.push_back({Item::Kind::Sum, scale.step, 0, {}, place});
        m_sum = place;
        linear(1, -scale.zero * scale.step);
        return {};
    }
    linear(1 / scale.step, 0); // oneDNN adds a tensor as it is
    m_items.push_back({Item::Kind::Binary, 1, 0, {}, place});
    linear(scale.step, -scale.zero * scale.step);
    return {};
}

/// Making codes cuts at the ends of their type.
void CodedPostOps::dropClip(const ops::CodeScale &scale)
{
    constexpr double kHalf = 0.5; // below it ends round to the code itself
    if (m_items.empty() || m_items.back().kind != Item::Kind::Clip)
        return;
    const Item cut = m_items.back();
    if (cut.a < scale.least() + kHalf && cut.b > scale.most() - kHalf && cut.a <= cut.b)
        m_items.pop_back();
}

Result<void> CodedPostOps::take(Emitter &emitter, const plan::PlanNode &node, const ops::CodedChain &chain,
                                const Desc &result, bool mayOverwrite)
{
    std::size_t addend = chain.firstAddend();
    for (const ops::CodedStep &step : chain.steps) {
        switch (step.kind) {
        case ops::CodedStep::Kind::Function:
            function(step.function);
            break;
        case ops::CodedStep::Kind::Recode:
            recode(step.scale);
            break;
        case ops::CodedStep::Kind::Add:
            HALFTONE_CHECK(add(emitter, node.inputs[addend++], step.scale, result, mayOverwrite));
            break;
        }
    }
    if (chain.result) {
        linear(1 / chain.result->step, chain.result->zero);
        dropClip(*chain.result);
    }
    return {};
}

std::pair<double, double> CodedPostOps::takeLeading()
{
    if (m_items.empty() || m_items.front().kind != Item::Kind::Linear)
        return {1, 0};
    const Item first = m_items.front();
    m_items.erase(m_items.begin());
    return {first.a, first.b};
}

void CodedPostOps::leadWith(double offset)
{
    if (offset != 0)
        m_items.insert(m_items.begin(), {Item::Kind::Linear, 1, offset, {}, {}});
}

dnnl::primitive_attr CodedPostOps::attributes() const
{
    dnnl::primitive_attr made = userScratchpad();
    dnnl::post_ops chain;
    for (const Item &item : m_items) {
        const auto a = static_cast<float>(item.a);
        const auto b = static_cast<float>(item.b);
        switch (item.kind) {
        case Item::Kind::Linear:
            chain.append_eltwise(algorithm::eltwise_linear, a, b);
            break;
        case Item::Kind::Clip:
            chain.append_eltwise(algorithm::eltwise_clip, a, b);
            break;
        case Item::Kind::Function:
            chain.append_eltwise(item.function.algorithm, item.function.alpha, item.function.beta);
            break;
        case Item::Kind::Sum:
            chain.append_sum(a, 0, item.place.desc.get_data_type());
            break;
        case Item::Kind::Binary:
            chain.append_binary(algorithm::binary_add, item.place.desc);
            break;
        }
    }
    made.set_post_ops(chain);
    return made;
}

Program::Arguments CodedPostOps::arguments() const
{
    Program::Arguments arguments;
    for (std::size_t k = 0; k < m_items.size(); ++k)
        if (m_items[k].kind == Item::Kind::Binary)
            arguments.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(k)) | DNNL_ARG_SRC_1,
                                   m_items[k].place);
    return arguments;
}

} // namespace halftone::backends::onednn
