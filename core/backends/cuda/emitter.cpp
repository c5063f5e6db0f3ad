#include "core/backends/cuda/emitter.h"

#include "core/backends/cuda/channel_window.h"
#include "core/backends/cuda/element_text.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace halftone::backends::cuda {

using plan::PlanNode;
using plan::ValueId;

namespace {

std::size_t bytesOf(const kernels::TensorDesc &desc)
{
    return static_cast<std::size_t>(desc.shape.elementCount().value_or(0)) * tensor::sizeOf(desc.dtype);
}

bool isElements(const plan::PlanGraph &graph, const PlanNode &node)
{
    return isElementwise(operationOf(graph, node));
}

/// A normalisation of rows that has a kernel: its factors have no more axes than its data.
bool isRowNorm(const plan::PlanGraph &graph, const PlanNode &node)
{
    return node.op.is<ops::LayerNormalization>()
        && std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](plan::ValueId input) {
               return graph.desc(input).shape.rank() <= graph.desc(node.inputs[0]).shape.rank();
           });
}

} // namespace

kernels::Operation operationOf(const plan::PlanGraph &graph, const PlanNode &node)
{
    kernels::Operation operation{node.op, node.opName, {}, {}};
    for (const ValueId value : node.inputs)
        operation.inputs.push_back(graph.desc(value));
    for (const ValueId value : node.outputs)
        operation.outputs.push_back(graph.desc(value));
    return operation;
}

View stretchedInput(const PlanNode &node, std::size_t k, const View &view, const Dims &result)
{
    const auto alongAxis = [&](std::size_t axis) {
        View along{view.dtype, result, Dims(result.size(), 0), view.offset};
        along.strides[axis] = view.strides[0];
        return along;
    };
    const auto *code = node.op.getIf<ops::QuantizeLinear>();
    const auto *decode = node.op.getIf<ops::DequantizeLinear>();
    if ((code || decode) && k > 0)
        return countOf(view.dims) > 1 ? alongAxis(fromFront(code ? code->axis : decode->axis, result.size()))
                                      : View{view.dtype, result, Dims(result.size(), 0), view.offset};
    if (const auto *norm = node.op.getIf<ops::BatchNormalization>(); norm && k > 0)
        return alongAxis(fromFront(norm->axis, result.size()));
    const auto *leaky = node.op.getIf<ops::LeakyRelu>();
    if (leaky && k == 1 && !leaky->stretches) {
        return countOf(view.dims) > 1 ? alongAxis(result.size() > 1 ? 1 : 0)
                                      : View{view.dtype, result, Dims(result.size(), 0), view.offset};
    }
    return stretched(view, result);
}

Emitter::Emitter(const plan::PlanGraph &graph, std::shared_ptr<Gpu> gpu, EmitOptions options)
    : m_graph(graph)
    , m_uses(graph)
    , m_options(options)
    , m_program(std::make_unique<Program>(std::move(gpu)))
    , m_float8(float8Products(graph, m_uses, m_program->gpu()))
    , m_places(graph.values.size())
    , m_absorbed(graph.nodes.size())
{
    findAbsorbed();
    for (const ValueId value : graph.inputs)
        m_program->addInput(graph.values[value].name, write(value).buffer);
}

/// A cast from 16 bits whose only reader is a normalisation that has a kernel: that widens by itself.
bool Emitter::isWidening(const PlanNode &node) const
{
    if (!node.op.is<ops::Cast>() || !node.post.empty() || !m_uses.hasOneReader(node.outputs[0])
        || !tensor::isHalf(m_graph.desc(node.inputs[0]).dtype)
        || m_graph.desc(node.outputs[0]).dtype != tensor::DType::F32)
        return false;
    const PlanNode &reader = m_graph.nodes[m_uses.readers[node.outputs[0]][0]];
    const tensor::Shape &shape = m_graph.desc(node.outputs[0]).shape;
    return isRowNorm(m_graph, reader) && reader.post.empty() && reader.inputs[0] == node.outputs[0]
        && shape.rank() >= 2 && shape.elementCount().value_or(0) > 0
        && shape.elementCount().value_or(0) <= kMostBlocks
        && std::none_of(reader.outputs.begin() + 1, reader.outputs.end(),
                        [this](ValueId id) { return readsOutput(id); });
}

bool Emitter::padsChannels(const PlanNode &node) const
{
    const auto *conv = node.op.getIf<ops::Conv>();
    if (conv == nullptr || !m_program->gpu().hasLibraries() || conv->layout != ops::Layout::ChannelsFirst
        || conv->groups != 1 || !m_graph.isConstant(node.inputs[1]))
        return false;
    const kernels::TensorDesc &data = m_graph.desc(node.inputs[0]);
    return data.shape.rank() == 4 && data.shape[1] < kChannelsTogether && tensor::isHalf(data.dtype)
        && m_graph.desc(node.inputs[1]).dtype == data.dtype;
}

/// A cast of floats whose only reader pads what it gives: that casts by itself.
bool Emitter::isCastForPadding(const PlanNode &node) const
{
    if (!node.op.is<ops::Cast>() || !node.post.empty() || !m_uses.hasOneReader(node.outputs[0])
        || m_graph.desc(node.inputs[0]).dtype != tensor::DType::F32)
        return false;
    const PlanNode &reader = m_graph.nodes[m_uses.readers[node.outputs[0]][0]];
    return reader.inputs[0] == node.outputs[0] && std::ranges::count(reader.inputs, node.outputs[0]) == 1
        && padsChannels(reader);
}

/// Do products of its codes alone read it?
bool Emitter::decodesForProducts(const PlanNode &node) const
{
    const auto isProductOf = [&](std::uint32_t reader) {
        const auto found = m_float8.find(reader);
        return found != m_float8.end() && found->second.data == node.inputs[0]
            && std::ranges::count(m_graph.nodes[reader].inputs, node.outputs[0]) == 1
            && std::ranges::none_of(m_graph.nodes[reader].post, [&](const plan::PostOp &post) {
                   return post.operand == node.outputs[0];
               });
    };
    return node.op.is<ops::DequantizeLinear>() && !m_uses.isOutput[node.outputs[0]]
        && !m_uses.readers[node.outputs[0]].empty()
        && std::ranges::all_of(m_uses.readers[node.outputs[0]], isProductOf);
}

void Emitter::findAbsorbed()
{
    std::vector<bool> isMultiplied(m_graph.values.size()); // codes that stand in memory for products
    for (const auto &[node, product] : m_float8)
        isMultiplied[product.data] = true;
    for (std::size_t k = 0; k < m_graph.nodes.size(); ++k) {
        const PlanNode &node = m_graph.nodes[k];
        m_absorbed[k] = isWidening(node) || isCastForPadding(node) || decodesForProducts(node);
        if (m_absorbed[k] || node.outputs.empty() || !m_uses.hasOneReader(node.outputs[0])
            || isMultiplied[node.outputs[0]] || !isElements(m_graph, node))
            continue;
        const std::uint32_t reader = m_uses.readers[node.outputs[0]][0];
        const PlanNode &next = m_graph.nodes[reader];
        const bool isArgument = std::ranges::find(next.inputs, node.outputs[0]) != next.inputs.end();
        const bool readsMore = std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                                           [this](ValueId id) { return readsOutput(id); });
        m_absorbed[k] = isArgument && !readsMore && isElements(m_graph, next)
            && m_graph.desc(next.outputs[0]).shape == m_graph.desc(node.outputs[0]).shape;
    }
}

Result<Place> Emitter::read(ValueId value)
{
    const kernels::TensorDesc &desc = m_graph.desc(value);
    if (typeName(desc.dtype).empty())
        return unsupported("plan", "values of type " + std::string(tensor::nameOf(desc.dtype)));
    return place(value);
}

Result<Place> Emitter::readNarrow(ValueId value, std::vector<std::string> &members)
{
    const std::uint32_t producer = m_uses.producer[value];
    if (m_places[value] || producer == plan::kNoPlanNode || !m_absorbed[producer])
        return read(value);
    const PlanNode &cast = m_graph.nodes[producer];
    members.insert(members.end(), cast.members.begin(), cast.members.end());
    return read(cast.inputs[0]);
}

Result<Place> Emitter::place(ValueId value)
{
    const kernels::TensorDesc &desc = m_graph.desc(value);
    if (m_places[value])
        return *m_places[value];
    const auto &constant = m_graph.values[value].constant;
    if (!constant)
        return unsupported("plan", "a value that nobody computes");
    auto owner = std::make_shared<tensor::Tensor>(*constant);
    const BufferId buffer = m_program->addConstant(owner->bytes(), owner);
    m_places[value] = Place{buffer, viewOf(desc)};
    return *m_places[value];
}

Result<Place> Emitter::readAs(ValueId value, Order order)
{
    if (order == Order::Plain || m_graph.desc(value).shape.rank() < 3)
        return read(value);
    if (const auto known = m_lastChannels.find(value); known != m_lastChannels.end())
        return known->second;
    HALFTONE_TRY(const Place place, readLaidOut(value, viewOf(m_graph.desc(value), order)));
    m_lastChannels.emplace(value, place);
    return place;
}

Result<Place> Emitter::readLaidOut(ValueId value, const View &layout)
{
    if (!m_graph.isConstant(value)) {
        HALFTONE_TRY(const Place given, read(value));
        if (given.view == layout)
            return given;
        const Place place{m_program->addBuffer(bytesOf(m_graph.desc(value))), layout};
        kernels::PlanStep step{
            {m_graph.values[value].name}, "reorder", layout.dtype, {}, kernels::StepKind::Reorder};
        m_program->addKernel(std::move(step),
                             elementwise(std::vector<View>{given.view}, layout, {}, "x0", "reorder"),
                             {given.buffer, place.buffer});
        return place;
    }
    const tensor::Tensor &constant = *m_graph.values[value].constant;
    auto bytes = std::make_shared<std::vector<std::byte>>(constant.bytes().size());
    copyElements(viewOf(m_graph.desc(value)), constant.bytes(), layout, *bytes);
    return Place{m_program->addConstant(*bytes, bytes), layout};
}

namespace {

template <class T>
BufferId addVector(Program &program, std::vector<T> values)
{
    const auto owner = std::make_shared<std::vector<T>>(std::move(values));
    return program.addConstant(std::as_bytes(std::span(*owner)), owner);
}

} // namespace

BufferId Emitter::constant(std::vector<float> values)
{
    return addVector(*m_program, std::move(values));
}

BufferId Emitter::constant(std::vector<std::int32_t> values)
{
    return addVector(*m_program, std::move(values));
}

Result<BufferId> Emitter::readRows(ValueId value)
{
    HALFTONE_TRY(const Place from, place(value));
    if (isDense(from))
        return from.buffer;
    const View plain = viewOf(m_graph.desc(value));
    const BufferId buffer = m_program->addBuffer(bytesOf(m_graph.desc(value)));
    kernels::PlanStep step{
        {m_graph.values[value].name}, "reorder", plain.dtype, {}, kernels::StepKind::Reorder};
    m_program->addKernel(std::move(step),
                         elementwise(std::vector<View>{from.view}, plain, {}, "x0", "reorder"),
                         {from.buffer, buffer});
    return buffer;
}

Result<Place> Emitter::readPlain(ValueId value)
{
    HALFTONE_TRY(const Place from, read(value));
    HALFTONE_TRY(const BufferId buffer, readRows(value));
    return Place{buffer, viewOf(m_graph.desc(value))};
}

Result<Place> Emitter::readIn(ValueId value, tensor::DType type)
{
    const kernels::TensorDesc desc{type, m_graph.desc(value).shape};
    if (m_graph.desc(value).dtype == type)
        return readPlain(value);
    if (m_graph.isConstant(value)) {
        HALFTONE_TRY(const tensor::Tensor cast, tensor::castTo(*m_graph.values[value].constant, type));
        const auto owner = std::make_shared<tensor::Tensor>(cast);
        return Place{m_program->addConstant(owner->bytes(), owner), viewOf(desc)};
    }
    HALFTONE_TRY(const Place from, readPlain(value));
    const Place to{m_program->addBuffer(bytesOf(desc)), viewOf(desc)};
    kernels::PlanStep step{
        {m_graph.values[value].name}, "cast", from.view.dtype, {}, kernels::StepKind::Cast};
    m_program->addKernel(std::move(step),
                         elementwise(std::vector<View>{from.view}, to.view, {}, "x0", "cast"),
                         {from.buffer, to.buffer});
    return to;
}

BufferId Emitter::writeRows(ValueId value)
{
    return write(value).buffer;
}

Place Emitter::write(ValueId value, Order order)
{
    if (m_places[value]) // a view of something larger, made before
        return *m_places[value];
    const kernels::TensorDesc &desc = m_graph.desc(value);
    m_places[value] = Place{m_program->addBuffer(bytesOf(desc)), viewOf(desc, order)};
    return *m_places[value];
}

Order Emitter::orderOf(ValueId value) const
{
    if (!m_places[value] || m_graph.desc(value).shape.rank() < 3)
        return Order::Plain;
    const bool isLast
        = m_places[value]->view.strides == viewOf(m_graph.desc(value), Order::ChannelsLast).strides
        && m_places[value]->view.strides != viewOf(m_graph.desc(value)).strides;
    return isLast ? Order::ChannelsLast : Order::Plain;
}

bool Emitter::isDense(const Place &place) const
{
    View dense = place.view;
    std::int64_t stride = 1;
    for (std::size_t axis = dense.dims.size(); axis-- > 0;) {
        if (dense.dims[axis] != 1 && dense.strides[axis] != stride)
            return false;
        stride *= dense.dims[axis];
    }
    return place.view.offset == 0;
}

kernels::PlanStep Emitter::stepOf(const PlanNode &node) const
{
    if (const Float8Product *product = &node == &this->node() ? float8Product() : nullptr) {
        kernels::PlanStep step{
            node.members, node.opName, m_graph.desc(product->data).dtype, {}, kernels::StepKind::Compute};
        step.nodes.insert(step.nodes.begin(), product->decoder.begin(), product->decoder.end());
        return step;
    }
    const bool isCast = node.op.is<ops::Cast>() && node.members.size() == 1;
    return {node.members,
            node.opName,
            node.inputs.empty() ? m_graph.desc(node.outputs[0]).dtype : m_graph.desc(node.inputs[0]).dtype,
            {},
            isCast ? kernels::StepKind::Cast : kernels::StepKind::Compute};
}

void Emitter::launch(KernelText kernel, std::vector<BufferId> arguments, const std::vector<std::string> &also)
{
    kernels::PlanStep step = stepOf(node());
    step.nodes.insert(step.nodes.end(), also.begin(), also.end());
    m_program->addKernel(std::move(step), std::move(kernel), std::move(arguments));
}

void Emitter::launchProduct(KernelText kernel, std::vector<BufferId> arguments, const Work &work)
{
    m_program->addKernel(withWork(stepOf(node()), work), std::move(kernel), std::move(arguments));
}

std::optional<Emitter::CastResult> Emitter::takeCast(ValueId value, Order order)
{
    if (m_graph.desc(value).dtype != tensor::DType::F32)
        return std::nullopt;
    for (const std::uint32_t reader : m_uses.readers[value]) {
        const PlanNode &cast = m_graph.nodes[reader];
        const auto *op = cast.op.getIf<ops::Cast>();
        if (op == nullptr || m_absorbed[reader] || !cast.post.empty()
            || !tensor::isHalf(m_graph.desc(cast.outputs[0]).dtype))
            continue;
        m_absorbed[reader] = true;
        return CastResult{write(cast.outputs[0], order), cast.members};
    }
    return std::nullopt;
}

Result<std::unique_ptr<Program>> Emitter::finish()
{
    for (std::size_t k = 0; k < m_graph.outputs.size(); ++k) {
        const ValueId value = m_graph.outputs[k];
        HALFTONE_TRY(const BufferId buffer, readRows(value)); // readers outside know one layout
        m_program->addOutput(
            m_graph.outputNames.size() > k ? m_graph.outputNames[k] : m_graph.values[value].name, buffer);
    }
    HALFTONE_CHECK(m_program->finish());
    return std::move(m_program);
}

} // namespace halftone::backends::cuda
