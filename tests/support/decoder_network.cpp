#include "tests/support/decoder_network.h"

#include "tests/support/onnx_builder.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace halftone::test {
namespace {

using graph::Entry;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr float kMasked = -1e9F;
constexpr float kOutlier = 30;
constexpr int kOutlierChannel = 5;

template <class Element>
Tensor tensorOf(DType type, Shape shape, const std::vector<Element> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(Element));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

Tensor integers(const std::vector<std::int64_t> &values)
{
    return tensorOf(DType::I64, Shape{static_cast<std::int64_t>(values.size())}, values);
}

class Decoder
{
public:
    explicit Decoder(const DecoderSize &size)
        : m_size(size)
    {
    }

    graph::Model model()
    {
        const Entry tokens
            = m_graph.input("tokens", "int64", ("[1," + std::to_string(m_size.length) + ']').c_str());
        Entry x = op("Gather", "/model/embed_tokens/Gather", {embedding(), tokens});
        const Entry length = scalarOf("/model/Shape", op("Shape", "/model/Shape", {tokens}), 1);
        m_mask = firstOf("/model/mask", constant("/model/causal_mask", mask()), length, 2);
        m_cosines = firstOf("/model/rotary_cos", constant("/model/cos_cached", angles(true)), length, 0);
        m_sines = firstOf("/model/rotary_sin", constant("/model/sin_cached", angles(false)), length, 0);
        for (int k = 0; k < m_size.blocks; ++k) {
            m_at = "/model/layers." + std::to_string(k);
            x = op("Add", m_at + "/Add", {x, attention(norm("/input_layernorm", x))});
            x = op("Add", m_at + "/Add_1", {x, feedForward(norm("/post_attention_layernorm", x))});
        }
        m_at = "/model";
        x = product("/lm_head", norm("/norm", x), m_size.width, m_size.words, false);
        return {m_graph.withHeads({x}), std::move(m_parameters), true};
    }

private:
    Entry op(const char *kind, const std::string &name, const std::vector<Entry> &inputs,
             graph::Attributes attributes = {})
    {
        return m_graph.op(kind, name.c_str(), std::move(attributes), inputs);
    }
    Entry constant(const std::string &name, Tensor values)
    {
        return m_graph.constant(name.c_str(), std::move(values));
    }
    Entry real(const std::string &name, float value)
    {
        return constant(name, tensorOf<float>(DType::F32, Shape::ofRank(0), {value}));
    }
    Entry parameter(const std::string &name, Shape shape, const std::vector<float> &values)
    {
        std::string dims;
        for (std::size_t k = 0; k < shape.rank(); ++k)
            dims += (k > 0 ? "," : "[") + std::to_string(shape[k]);
        m_parameters.push_back(OnnxBuilder::floats(name.c_str(), std::move(shape), values));
        return m_graph.input(name.c_str(), "float32", (dims + ']').c_str());
    }

    /// Uniform in [-1, 1): Numerical Recipes' linear congruence, whose high bits are used.
    float drawn()
    {
        m_state = m_state * 1664525U + 1013904223U;
        return static_cast<float>(m_state >> 8U) / static_cast<float>(1U << 23U) - 1;
    }
    std::vector<float> drawn(int count, float scale)
    {
        std::vector<float> values(static_cast<std::size_t>(count));
        for (float &value : values)
            value = scale * drawn();
        return values;
    }

    Entry embedding()
    {
        std::vector<float> table = drawn(m_size.words * m_size.width, 1);
        for (int word = 0; word < m_size.words; ++word)
            table[static_cast<std::size_t>(word * m_size.width + kOutlierChannel)] *= kOutlier;
        return parameter("model.embed_tokens.weight", {m_size.words, m_size.width}, table);
    }
    Tensor mask() const
    {
        std::vector<float> values;
        for (int row = 0; row < m_size.places; ++row)
            for (int column = 0; column < m_size.places; ++column)
                values.push_back(column > row ? kMasked : 0);
        return tensorOf(DType::F32, Shape{1, 1, m_size.places, m_size.places}, values);
    }
    /// Su et al. 2021, "RoFormer", section 3.2.2, the halves beside each other.
    Tensor angles(bool cosines) const
    {
        const int head = m_size.width / m_size.heads;
        std::vector<float> values;
        for (int place = 0; place < m_size.places; ++place)
            for (int k = 0; k < head; ++k) {
                const double angle = place * std::pow(10000.0, -2.0 * (k % (head / 2)) / head);
                values.push_back(static_cast<float>(cosines ? std::cos(angle) : std::sin(angle)));
            }
        return tensorOf(DType::F32, Shape{m_size.places, head}, values);
    }

    /// One number of a shape, as a vector of one.
    Entry scalarOf(const std::string &name, const Entry &shape, std::int64_t axis)
    {
        const Entry index
            = constant(name + "/index", tensorOf<std::int64_t>(DType::I64, Shape::ofRank(0), {axis}));
        const Entry one = op("Gather", name + "/Gather", {shape, index}, {{"axis", "0"}});
        return op("Unsqueeze", name + "/Unsqueeze", {one, constant(name + "/axes", integers({0}))});
    }
    /// The first `length` places of a table along an axis, and of the one behind it too for the mask.
    Entry firstOf(const std::string &name, const Entry &table, const Entry &length, std::int64_t axis)
    {
        const Entry zero = constant(name + "/starts", integers({0}));
        Entry taken
            = op("Slice", name + "/Slice", {table, zero, length, constant(name + "/axes", integers({axis}))});
        if (axis == 0)
            return taken;
        return op("Slice", name + "/Slice_1",
                  {taken, zero, length, constant(name + "/axes_1", integers({axis + 1}))});
    }

    Entry norm(const std::string &part, const Entry &x)
    {
        const std::string name = m_at + part;
        const graph::Attributes last{{"axes", "[-1]"}, {"keepdims", "1"}};
        const Entry mean = op("ReduceMean", name + "/ReduceMean", {x}, last);
        const Entry centred = op("Sub", name + "/Sub", {x, mean});
        const Entry squares = op("Pow", name + "/Pow", {centred, real(name + "/exponent", 2)});
        const Entry variance = op("ReduceMean", name + "/ReduceMean_1", {squares}, last);
        const Entry shifted = op("Add", name + "/Add", {variance, real(name + "/epsilon", 1e-5F)});
        const Entry normalised = op("Div", name + "/Div", {centred, op("Sqrt", name + "/Sqrt", {shifted})});
        std::vector<float> gamma = drawn(m_size.width, 0.1F);
        for (float &value : gamma)
            value += 1;
        gamma[kOutlierChannel] *= kOutlier / 4;
        const std::string dotted = dottedOf(name);
        const Entry scaled
            = op("Mul", name + "/Mul", {normalised, parameter(dotted + ".weight", {m_size.width}, gamma)});
        return op("Add", name + "/Add_1",
                  {scaled, parameter(dotted + ".bias", {m_size.width}, drawn(m_size.width, 0.1F))});
    }

    /// "/model/layers.3/self_attn" as "model.layers.3.self_attn".
    static std::string dottedOf(std::string name)
    {
        name.erase(0, 1);
        std::ranges::replace(name, '/', '.');
        return name;
    }

    Entry product(const std::string &part, const Entry &x, int from, int to, bool hasBias = true)
    {
        const std::string name = m_at + part;
        const float scale = 1.5F / std::sqrt(static_cast<float>(from));
        const Entry weight = parameter(dottedOf(name) + ".weight", {from, to}, drawn(from * to, scale));
        const Entry y = op("MatMul", name + "/MatMul", {x, weight});
        if (!hasBias)
            return y;
        const Entry bias = parameter(dottedOf(name) + ".bias", {to}, drawn(to, 0.05F));
        return op("Add", name + "/Add", {bias, y});
    }

    /// [1, length, width] as [1, heads, length, width / heads]; the shape is computed.
    Entry inHeads(const std::string &part, const Entry &x, const std::string &perm)
    {
        const std::string name = m_at + "/self_attn" + part;
        const Entry shape = op("Shape", name + "/Shape", {x});
        const Entry heads = constant(name + "/heads", integers({m_size.heads}));
        const Entry each = constant(name + "/each", integers({m_size.width / m_size.heads}));
        const Entry wanted
            = op("Concat", name + "/Concat",
                 {scalarOf(name + "/batch", shape, 0), scalarOf(name + "/length", shape, 1), heads, each},
                 {{"axis", "0"}});
        const Entry apart = op("Reshape", name + "/Reshape", {x, wanted});
        return op("Transpose", name + "/Transpose", {apart}, {{"perm", perm}});
    }

    Entry rotated(const std::string &part, const Entry &x)
    {
        const std::string name = m_at + "/self_attn/rotary" + part;
        const std::int64_t half = m_size.width / m_size.heads / 2;
        const Entry axis = constant(name + "/axes", integers({3}));
        const auto piece = [&](const char *which, std::int64_t from, std::int64_t to) {
            return op("Slice", name + which,
                      {x, constant(name + which + "/starts", integers({from})),
                       constant(name + which + "/ends", integers({to})), axis});
        };
        const Entry first = piece("/Slice", 0, half);
        const Entry second = piece("/Slice_1", half, 2 * half);
        const Entry turned
            = op("Concat", name + "/Concat", {op("Neg", name + "/Neg", {second}), first}, {{"axis", "-1"}});
        return op("Add", name + "/Add",
                  {op("Mul", name + "/Mul", {x, m_cosines}), op("Mul", name + "/Mul_1", {turned, m_sines})});
    }

    Entry attention(const Entry &x)
    {
        const int width = m_size.width;
        const std::string name = m_at + "/self_attn";
        const std::string front = "[0,2,1,3]";
        const Entry q = rotated("/q", inHeads("/q", product("/self_attn/q_proj", x, width, width), front));
        const Entry k = rotated("/k", inHeads("/k", product("/self_attn/k_proj", x, width, width), front));
        const Entry v = inHeads("/v", product("/self_attn/v_proj", x, width, width), front);
        const Entry turned = op("Transpose", name + "/Transpose", {k}, {{"perm", "[0,1,3,2]"}});
        const Entry scores = op("MatMul", name + "/MatMul", {q, turned});
        const float root = std::sqrt(static_cast<float>(width / m_size.heads));
        const Entry scaled = op("Div", name + "/Div", {scores, real(name + "/root", root)});
        const Entry masked = op("Add", name + "/Add", {scaled, m_mask});
        const Entry weights = op("Softmax", name + "/Softmax", {masked}, {{"axis", "-1"}});
        const Entry mixed = op("MatMul", name + "/MatMul_1", {weights, v});
        const Entry back = op("Transpose", name + "/Transpose_1", {mixed}, {{"perm", front}});
        const Entry joined
            = op("Reshape", name + "/Reshape", {back, constant(name + "/joined", integers({0, 0, width}))});
        return product("/self_attn/o_proj", joined, width, width);
    }

    Entry feedForward(const Entry &x)
    {
        const Entry gate = product("/mlp/gate_proj", x, m_size.width, m_size.hidden, false);
        const Entry up = product("/mlp/up_proj", x, m_size.width, m_size.hidden, false);
        const std::string name = m_at + "/mlp";
        const Entry silu
            = op("Mul", name + "/act_fn/Mul", {gate, op("Sigmoid", name + "/act_fn/Sigmoid", {gate})});
        return product("/mlp/down_proj", op("Mul", name + "/Mul", {silu, up}), m_size.hidden, m_size.width,
                       false);
    }

    const DecoderSize m_size;
    OnnxBuilder m_graph{13};
    std::vector<tensor::Array> m_parameters;
    std::uint32_t m_state = 1;
    std::string m_at; ///< the block, as names begin
    Entry m_mask, m_cosines, m_sines;
};

} // namespace

graph::Model decoderNetwork(const DecoderSize &size)
{
    return Decoder(size).model();
}

} // namespace halftone::test
