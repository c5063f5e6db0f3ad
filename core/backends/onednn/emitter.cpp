#include "core/backends/onednn/emitter.h"

#include "core/kernels/buffer.h"

#include <algorithm>
#include <utility>

namespace halftone::backends::onednn {
namespace {

/// The elements where they lie, which may be gigabytes of a table, or aligned ones. An address even where there are none.
Result<std::shared_ptr<const tensor::Tensor>> whereItIs(const tensor::Tensor &constant)
{
    if (constant.byteCount() == 0) {
        HALFTONE_TRY(const kernels::Buffer none, kernels::allocate(kernels::descOf(constant)));
        return std::make_shared<const tensor::Tensor>(none.tensor);
    }
    HALFTONE_TRY(tensor::Tensor held, kernels::readable(constant));
    return std::make_shared<const tensor::Tensor>(std::move(held));
}

} // namespace

Emitter::Emitter(const plan::PlanGraph &graph, kernels::PlanCache *cache, Format format,
                 PackedWeights *packed)
    : m_graph(graph)
    , m_cache(cache)
    , m_packed(packed)
    , m_format(format)
    , m_uses(graph)
    , m_program(std::make_unique<Program>())
    , m_locations(graph.values.size())
    , m_slots(graph.values.size())
    , m_concats(graph.values.size())
    , m_isInPlace(graph.values.size())
{
    planConcats();
}

/// One picture at a time, blocks of channels lie one after the other: whoever computes a part of a concatenation can
/// write it where the whole will be.
void Emitter::planConcats()
{
    for (const plan::PlanNode &node : m_graph.nodes) {
        const auto *concat = node.op.getIf<ops::Concat>();
        if (concat == nullptr)
            continue;
        const tensor::Shape &shape = m_graph.desc(node.outputs[0]).shape;
        const std::int64_t axis
            = concat->axis < 0 ? concat->axis + static_cast<std::int64_t>(shape.rank()) : concat->axis;
        const auto isOfType = [&](plan::ValueId input) {
            return m_graph.desc(input).dtype == m_graph.desc(node.outputs[0]).dtype;
        };
        if (axis != 1 || shape.rank() < 3 || shape.rank() > 5 || shape[0] != 1
            || !tensor::isFloat(m_graph.desc(node.outputs[0]).dtype)
            || !std::ranges::all_of(node.inputs, isOfType))
            continue;
        std::int64_t channel = 0;
        for (const plan::ValueId input : node.inputs) {
            const bool isFree = m_slots[input].whole == plan::kNoValue
                && m_uses.producer[input] != plan::kNoPlanNode && !m_uses.isOutput[input];
            if (isFree)
                m_slots[input] = {node.outputs[0], channel};
            channel += m_graph.desc(input).shape[1];
        }
    }
}

Result<void> Emitter::begin()
{
    for (const plan::ValueId value : m_graph.inputs) {
        const Place place = temporary(plainDescOf(value));
        m_program->keep(place.buffer);
        m_inputs.push_back(place.buffer);
        m_locations[value] = {place, {}, true, true};
    }
    return {};
}

Result<std::unique_ptr<Program>> Emitter::finish(Ports ports)
{
    m_node = m_graph.nodes.size();
    for (const plan::ValueId value : m_graph.outputs) {
        HALFTONE_TRY(const Place place, readPlain(value));
        m_program->keep(place.buffer);
        m_outputs.push_back(place.buffer);
    }
    for (const auto *buffers : {&m_inputs, &m_outputs})
        for (const BufferId buffer : *buffers)
            if (ports == Ports::Outside && !m_program->isConstant(buffer))
                m_program->makeOutside(buffer);
    HALFTONE_CHECK(m_program->finish(ports == Ports::Outside ? Arena::Lent : Arena::Own));
    return std::move(m_program);
}

void Emitter::postpone(plan::ValueId value, const Place &source, std::function<Result<void>()> make)
{
    share(source.buffer);
    m_locations[value].postponed = std::move(make);
    m_locations[value].node = m_node;
}

Result<Place> Emitter::read(plan::ValueId value)
{
    if (const auto make = std::exchange(m_locations[value].postponed, nullptr)) {
        const std::size_t reader = std::exchange(m_node, m_locations[value].node);
        HALFTONE_CHECK(make());
        m_node = reader;
    }
    if (isDeferred(value)) {
        Location &location = m_locations[value];
        const Type type = *dnnlType(m_graph.desc(value).dtype);
        const auto copy = std::ranges::find_if(
            location.copies, [type](const Place &place) { return place.desc.get_data_type() == type; });
        if (copy == location.copies.end()) {
            HALFTONE_TRY(location.place,
                         computeDeferred(value, withType(location.deferred->codes.desc, type)));
        } else {
            location.place = *copy;
        }
        location.isSet = true;
    } else if (!m_locations[value].isSet) {
        if (!m_graph.isConstant(value))
            return unsupported(m_graph.values[value].name, "a value that nothing computes");
        const tensor::Tensor &tensor = *m_graph.values[value].constant;
        HALFTONE_TRY(const auto held, whereItIs(tensor));
        const BufferId buffer = m_program->addConstant(held, held->bytes().data(), held->byteCount());
        m_locations[value] = {{plainDescOf(value), buffer}, {}, true, true};
    }
    return m_locations[value].place;
}

Result<Place> Emitter::packConstant(plan::ValueId value, const Desc &view, const Desc &desc)
{
    return constant(*m_graph.values[value].constant, view, desc);
}

Result<Place> Emitter::constant(const tensor::Tensor &tensor, const Desc &view, const Desc &desc)
{
    std::shared_ptr<const Packed> packed;
    if (m_cache != nullptr) {
        HALFTONE_TRY(packed, m_cache->get<Packed>("pack" + packingName(view, desc), {tensor}, [&] {
            return pack(tensor, view, desc, allocateTogether);
        }));
    } else if (m_packed != nullptr) {
        HALFTONE_TRY(packed, m_packed->get(tensor, view, desc));
    } else {
        HALFTONE_TRY(packed, pack(tensor, view, desc));
    }
    return Place{desc, m_program->addConstant(packed, packed->memory.get(), packed->bytes)};
}

Result<Place> Emitter::constant(const tensor::Tensor &tensor, const std::string &form, const Desc &desc,
                                const std::function<Result<std::shared_ptr<const Packed>>()> &make)
{
    std::shared_ptr<const Packed> packed;
    if (m_cache != nullptr) {
        HALFTONE_TRY(packed, m_cache->get<Packed>(form, {tensor}, make));
    } else {
        HALFTONE_TRY(packed, make());
    }
    return Place{desc, m_program->addConstant(packed, packed->memory.get(), packed->bytes)};
}

Result<Place> Emitter::readAs(plan::ValueId value, const Desc &desc)
{
    for (const Place &copy : m_locations[value].copies)
        if (copy.desc == desc)
            return copy;
    if (m_graph.isConstant(value) && !m_locations[value].isSet) {
        const auto type = dnnlType(m_graph.desc(value).dtype);
        if (!type)
            return unsupported(m_graph.values[value].name,
                               "a constant of " + std::string(tensor::nameOf(m_graph.desc(value).dtype)));
        HALFTONE_TRY(const Place packed, packConstant(value, plainDesc(desc.get_dims(), *type), desc));
        m_locations[value].copies.push_back(packed);
        return packed;
    }
    if (isDeferred(value) && desc.get_dims() == m_locations[value].deferred->codes.desc.get_dims()) {
        // Rounded once, as float32 would be that is cast; what is to be widened is rounded before.
        const tensor::DType own = m_graph.desc(value).dtype;
        if (own == dtypeOf(desc.get_data_type()) || own == tensor::DType::F32) {
            HALFTONE_TRY(const Place copy, computeDeferred(value, desc));
            m_locations[value].copies.push_back(copy);
            return copy;
        }
    }
    HALFTONE_TRY(Place place, read(value));
    if (place.desc == desc)
        return place;
    if (place.desc.get_dims() != desc.get_dims()) { // another view of the elements in their plain order
        HALFTONE_TRY(place, readPlain(value));
        place.desc = plainDesc(desc.get_dims(), place.desc.get_data_type());
        if (place.desc == desc)
            return place;
    }
    const Place copy = temporary(desc);
    const bool isCast = place.desc.get_data_type() != desc.get_data_type();
    HALFTONE_CHECK(reorder(place, copy, isCast ? kernels::StepKind::Cast : kernels::StepKind::Reorder));
    m_locations[value].copies.push_back(copy);
    return copy;
}

Result<Place> Emitter::readPlain(plan::ValueId value)
{
    HALFTONE_TRY(const Place place, read(value));
    const auto type = dnnlType(m_graph.desc(value).dtype);
    return type ? readAs(value, plainDesc(place.desc.get_dims(), *type)) : place;
}

Result<Place> Emitter::readThrough(plan::ValueId value, const Desc &view, const Desc &desc)
{
    if (m_graph.isConstant(value) && !m_locations[value].isSet)
        return packConstant(value, view, desc);
    HALFTONE_TRY(Place place, readPlain(value));
    place.desc = view;
    const Place copy = temporary(desc);
    const bool isCast = view.get_data_type() != desc.get_data_type();
    HALFTONE_CHECK(reorder(place, copy, isCast ? kernels::StepKind::Cast : kernels::StepKind::Reorder));
    return copy;
}

Place Emitter::temporary(const Desc &desc)
{
    return {desc, m_program->addBuffer(desc.get_size())};
}

Place Emitter::write(plan::ValueId value, const Desc &desc)
{
    std::optional<Place> place = writeIntoConcat(value, desc);
    m_isInPlace[value] = place.has_value();
    m_locations[value] = {place ? *place : temporary(desc), {}, place.has_value(), true};
    return m_locations[value].place;
}

Desc Emitter::plainDescOf(plan::ValueId value) const
{
    const kernels::TensorDesc &desc = m_graph.desc(value);
    if (const auto type = dnnlType(desc.dtype))
        return plainDesc(dimsOf(desc.shape), *type);
    const std::int64_t count = desc.shape.elementCount().value_or(0);
    return plainDesc({count * static_cast<std::int64_t>(tensor::sizeOf(desc.dtype))}, Type::u8);
}

Place Emitter::writePlain(plan::ValueId value)
{
    return write(value, plainDescOf(value));
}

Place Emitter::writeOver(plan::ValueId value, const Desc &desc, plan::ValueId source, const Place &place)
{
    if (m_slots[value].whole != plan::kNoValue || desc != place.desc || !mayOverwrite(source, place))
        return write(value, desc);
    replace(value, place);
    return place;
}

void Emitter::alias(plan::ValueId value, Place place)
{
    share(place.buffer);
    m_locations[value] = {std::move(place), {}, true, true};
}

/// Whoever has this memory may not lose it any more.
void Emitter::share(BufferId buffer)
{
    for (Location &location : m_locations)
        if (location.isSet && m_program->wholeOf(location.place.buffer) == m_program->wholeOf(buffer))
            location.isShared = true;
}

void Emitter::replace(plan::ValueId value, Place place)
{
    m_locations[value] = {std::move(place), {}, false, true};
}

std::optional<Place> Emitter::writeIntoConcat(plan::ValueId value, const Desc &desc)
{
    if (m_concats[value] && m_concats[value]->desc == desc)
        return m_concats[value];
    const Format format = formatOf(desc);
    if (m_slots[value].whole == plan::kNoValue || (format != Format::Plain && format != Format::Blocked)
        || desc.get_dims() != dimsOf(m_graph.desc(value).shape))
        return std::nullopt;
    plan::ValueId whole = value;
    std::int64_t channel = 0;
    // Concatenations may nest: all parts go to the outermost one, as long as blocks meet blocks.
    while (m_slots[whole].whole != plan::kNoValue) {
        channel += m_slots[whole].channel;
        whole = m_slots[whole].whole;
        const std::int64_t channels = m_graph.desc(whole).shape[1];
        if (format == Format::Blocked && (channels % channelBlock() != 0 || channel % channelBlock() != 0))
            return std::nullopt;
    }
    const Dims dims = desc.get_dims();
    if (format == Format::Blocked && dims[1] % channelBlock() != 0)
        return std::nullopt;
    const Dims wholeDims = dimsOf(m_graph.desc(whole).shape);
    const auto wholeDesc = descIn(format, wholeDims, desc.get_data_type());
    if (!wholeDesc || desc.get_size() == 0)
        return std::nullopt;
    if (!m_concats[whole])
        m_concats[whole] = temporary(*wholeDesc);
    else if (m_concats[whole]->desc != *wholeDesc)
        return std::nullopt;
    const std::size_t perChannel = desc.get_size() / static_cast<std::size_t>(dims[1]);
    return Place{desc,
                 m_program->addPart(m_concats[whole]->buffer, perChannel * static_cast<std::size_t>(channel),
                                    desc.get_size())};
}

bool Emitter::isInPlace(plan::ValueId part, plan::ValueId whole) const
{
    return m_slots[part].whole == whole && m_isInPlace[part];
}

std::optional<Place> Emitter::writePart(plan::ValueId part, const Desc &desc, plan::ValueId whole,
                                        const Desc &wholeDesc, std::size_t offset)
{
    if (!m_concats[whole])
        m_concats[whole] = temporary(wholeDesc);
    else if (m_concats[whole]->desc != wholeDesc)
        return std::nullopt;
    const BufferId buffer
        = m_program->addPart(m_concats[whole]->buffer, offset, wholeDesc.get_size() - offset);
    m_locations[part] = {{desc, buffer}, {}, true, true};
    return m_locations[part].place;
}

bool Emitter::liesIn(plan::ValueId value, const Place &place) const
{
    return m_locations[value].isSet
        && m_program->wholeOf(m_locations[value].place.buffer) == m_program->wholeOf(place.buffer);
}

std::optional<Place> Emitter::begunConcat(plan::ValueId whole) const
{
    plan::ValueId outermost = whole;
    while (m_slots[outermost].whole != plan::kNoValue)
        outermost = m_slots[outermost].whole;
    return m_concats[outermost];
}

bool Emitter::mayOverwrite(plan::ValueId value, const Place &place) const
{
    const Location &location = m_locations[value];
    if (location.isShared || m_uses.isOutput[value] || m_program->isConstant(place.buffer)
        || location.place.buffer != place.buffer)
        return false;
    return std::ranges::all_of(m_uses.readers[value],
                               [this](std::uint32_t reader) { return reader <= m_node; })
        && std::ranges::count(m_uses.readers[value], static_cast<std::uint32_t>(m_node)) == 1;
}

kernels::PlanStep Emitter::info(const char *kernel, kernels::StepKind kind) const
{
    kernels::PlanStep step;
    step.kernel = kernel;
    step.kind = kind;
    if (m_node < m_graph.nodes.size()) {
        const plan::PlanNode &node = m_graph.nodes[m_node];
        step.nodes = node.members;
        step.op = node.opName;
        const auto *const layer = node.op.getIf<ops::Recurrence>();
        const std::size_t told
            = layer != nullptr && layer->hasCodes ? 1 : 0; // which turns its data into codes
        if (node.inputs.size() > told)
            step.dtype = m_graph.desc(node.inputs[told]).dtype;
        else if (!node.outputs.empty())
            step.dtype = m_graph.desc(node.outputs[0]).dtype;
    } else {
        step.op = "output";
    }
    return step;
}

void Emitter::add(const dnnl::primitive &primitive, const char *kernel, Program::Arguments arguments,
                  const Desc &scratchpad)
{
    m_program->add(info(kernel, kernels::StepKind::Compute), primitive, std::move(arguments), scratchpad);
}

void Emitter::addKernel(std::unique_ptr<kernels::Kernel> kernel, std::vector<BufferId> inputs,
                        std::vector<BufferId> outputs)
{
    kernels::PlanStep step = info("", kernels::StepKind::Compute);
    step.kernel = kernel->name();
    m_program->add(std::move(step), std::move(kernel), std::move(inputs), std::move(outputs));
}

Result<void> Emitter::reorder(const Place &from, const Place &to, kernels::StepKind kind)
{
    dnnl::primitive_attr attributes = userScratchpad();
    const dnnl::reorder::primitive_desc descriptor(cpu(), from.desc, cpu(), to.desc, attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no reorder for this layout");
    HALFTONE_TRY(const dnnl::reorder primitive, attempt("plan", [&] { return dnnl::reorder(descriptor); }));
    kernels::PlanStep step = info(descriptor.impl_info_str(), kind);
    step.dtype = dtypeOf(to.desc.get_data_type());
    m_program->add(std::move(step), primitive, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
                   descriptor.scratchpad_desc());
    return {};
}

} // namespace halftone::backends::onednn
