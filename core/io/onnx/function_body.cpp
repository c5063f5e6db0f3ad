#include "core/io/onnx/function_body.h"

#include "core/base/text.h"
#include "core/io/onnx/built_in_functions.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/nested_names.h"

#include <algorithm>
#include <unordered_map>

namespace halftone::io::onnx {
namespace {

constexpr int kDeepest = 64; ///< calls in calls
constexpr std::size_t kShown = 80;

/// What the values of a function are called in the graph that its nodes are put into.
struct Names
{
    std::string prefix;
    std::unordered_map<std::string, std::string> known; ///< inputs and outputs of the call; empty: left out

    std::string of(const std::string &name) const
    {
        const auto found = known.find(name);
        return found != known.end() ? found->second : name.empty() ? name : prefix + name;
    }
};

void rename(::onnx::GraphProto &graph, const Names &names);

void rename(::onnx::NodeProto &node, const Names &names)
{
    if (!node.name().empty())
        node.set_name(names.prefix + node.name());
    for (std::string &input : *node.mutable_input())
        input = names.of(input);
    for (std::string &output : *node.mutable_output())
        output = names.of(output);
    for (auto &attribute : *node.mutable_attribute())
        if (attribute.has_g())
            rename(*attribute.mutable_g(), names);
}

void rename(::onnx::GraphProto &graph, const Names &names)
{
    for (auto &input : *graph.mutable_input())
        input.set_name(names.of(input.name()));
    for (auto &tensor : *graph.mutable_initializer())
        tensor.set_name(names.of(tensor.name()));
    for (auto &tensor : *graph.mutable_sparse_initializer())
        tensor.mutable_values()->set_name(names.of(tensor.values().name()));
    for (auto &output : *graph.mutable_output())
        output.set_name(names.of(output.name()));
    for (auto &node : *graph.mutable_node())
        rename(node, names);
}

const ::onnx::AttributeProto *attributeOf(const ::onnx::NodeProto &call,
                                          const ::onnx::FunctionProto &function, std::string_view name)
{
    for (const auto &attribute : call.attribute())
        if (attribute.name() == name)
            return &attribute;
    for (const auto &attribute : function.attribute_proto())
        if (attribute.name() == name)
            return &attribute;
    return nullptr;
}

/// Attributes that refer to one of the function become what the call gives, its default, or are left out.
void giveAttributes(::onnx::NodeProto &node, const ::onnx::NodeProto &call,
                    const ::onnx::FunctionProto &function)
{
    auto &attributes = *node.mutable_attribute();
    for (int k = attributes.size() - 1; k >= 0; --k) {
        ::onnx::AttributeProto &attribute = attributes[k];
        if (attribute.has_g())
            for (auto &inner : *attribute.mutable_g()->mutable_node())
                giveAttributes(inner, call, function);
        if (attribute.ref_attr_name().empty())
            continue;
        const ::onnx::AttributeProto *const value = attributeOf(call, function, attribute.ref_attr_name());
        if (value == nullptr) {
            attributes.DeleteSubrange(k, 1);
            continue;
        }
        const std::string name = attribute.name();
        attribute.CopyFrom(*value);
        attribute.set_name(name);
    }
}

/// "bias": the call gives the input, takes the output, or gives the attribute and not 0; "bits=4" and "opset<13": the
/// attribute is that; "bias=real": the input holds real numbers.
bool holdsFor(std::string_view word, const ::onnx::FunctionProto &function, const ::onnx::NodeProto &call,
              const IsRealInput &isReal)
{
    const std::size_t sign = word.find_first_of("=<");
    const std::string_view name = word.substr(0, sign);
    for (int k = 0; k < function.input_size(); ++k)
        if (function.input(k) == name)
            return k < call.input_size() && !call.input(k).empty()
                && (sign == std::string_view::npos || (isReal && isReal(k)));
    for (int k = 0; k < function.output_size(); ++k)
        if (function.output(k) == name)
            return k < call.output_size() && !call.output(k).empty();
    const ::onnx::AttributeProto *const attribute = attributeOf(call, function, name);
    if (attribute == nullptr)
        return false;
    if (sign == std::string_view::npos)
        return attribute->i() != 0 || attribute->f() != 0 || !attribute->s().empty()
            || attribute->ints_size() > 0 || attribute->floats_size() > 0 || attribute->strings_size() > 0
            || attribute->has_t();
    const std::string_view value = word.substr(sign + 1);
    if (word[sign] == '<')
        return attribute->i() < parseInteger(value).value_or(0);
    return attribute->s().empty() ? std::to_string(attribute->i()) == value : attribute->s() == value;
}

/// Whether all that the node of a built-in function asks of the call holds; a "!" before a word: that it does not.
bool holdsFor(const ::onnx::NodeProto &node, const ::onnx::FunctionProto &function,
              const ::onnx::NodeProto &call, const IsRealInput &isReal = {})
{
    std::string_view words = node.doc_string();
    while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find(' '));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
        const bool isDenied = word.starts_with('!');
        if (holdsFor(word.substr(isDenied ? 1 : 0), function, call, isReal) == isDenied)
            return false;
    }
    return true;
}

bool holdsGraph(const ::onnx::NodeProto &call)
{
    return std::ranges::any_of(call.attribute(), [](const auto &attribute) { return attribute.has_g(); });
}

bool takes(const ::onnx::FunctionProto &function, const ::onnx::NodeProto &call)
{
    return call.input_size() <= function.input_size() && call.output_size() <= function.output_size();
}

Result<void> checkCall(const ::onnx::FunctionProto &function, const ::onnx::NodeProto &call)
{
    const std::string where = "call of the function " + printable(function.name(), kShown);
    if (call.input_size() > function.input_size())
        return badInput(where, std::to_string(call.input_size()) + " inputs",
                        "at most " + std::to_string(function.input_size()));
    if (call.output_size() > function.output_size())
        return badInput(where, std::to_string(call.output_size()) + " outputs",
                        "at most " + std::to_string(function.output_size()));
    return {};
}

/// Puts the nodes of one call and of the calls in it into a graph.
class Expansion
{
public:
    /// isReal  of the inputs of the first call; of those in it nobody knows
    Expansion(const Functions &functions, const IsRealInput &isReal, BodyBudget &budget,
              ::onnx::GraphProto &to)
        : m_functions(functions)
        , m_isReal(isReal)
        , m_budget(budget)
        , m_to(to)
    {
    }

    /// False where the budget does not suffice.
    Result<bool> put(const Functions::Found &found, const ::onnx::NodeProto &call, const Names &names,
                     int depth)
    {
        if (depth > kDeepest)
            return false;
        const ::onnx::FunctionProto &function = *found.function;
        for (const auto &written : function.node()) {
            if (found.isBuiltIn && !holdsFor(written, function, call, depth == 0 ? m_isReal : IsRealInput()))
                continue;
            if (written.op_type() == kNotSaid)
                return false;
            if (written.op_type() == kStandsFor)
                continue;
            const std::size_t size = written.ByteSizeLong();
            if (m_budget.nodes == 0 || m_budget.bytes < size)
                return false;
            --m_budget.nodes;
            m_budget.bytes -= size;
            ::onnx::NodeProto node = written;
            if (found.isBuiltIn)
                node.clear_doc_string();
            giveAttributes(node, call, function);
            rename(node, names);
            HALFTONE_TRY(const bool fits, putNode(found, std::move(node), depth));
            if (!fits)
                return false;
        }
        return true;
    }

private:
    Result<bool> putNode(const Functions::Found &caller, ::onnx::NodeProto node, int depth)
    {
        const Functions::Found inner = m_functions.find(node);
        // Those of the built-in ones that the function's own opset may know are left to the reader.
        const bool isCall = inner.function != nullptr && (!inner.isBuiltIn || caller.isBuiltIn)
            && !(inner.isBuiltIn && node.domain().empty());
        if (isCall && !holdsGraph(node)
            && importedOpset(inner.function->opset_import())
                == importedOpset(caller.function->opset_import()))
            return putCall(inner, node, depth + 1);
        m_to.add_node()->Swap(&node);
        return true;
    }

    Result<bool> putCall(const Functions::Found &inner, const ::onnx::NodeProto &call, int depth)
    {
        const ::onnx::FunctionProto &function = *inner.function;
        if (inner.isBuiltIn && !takes(function, call))
            return false;
        HALFTONE_CHECK(checkCall(function, call));
        Names names;
        names.prefix = function.name() + '#' + std::to_string(m_calls++) + '/';
        for (int k = 0; k < function.input_size(); ++k)
            names.known.emplace(function.input(k), k < call.input_size() ? call.input(k) : std::string());
        std::vector<std::pair<std::string, std::string>> same; // outputs that are another value of the body
        for (int k = 0; k < call.output_size(); ++k) {
            if (call.output(k).empty())
                continue;
            const auto [held, isNew] = names.known.emplace(function.output(k), call.output(k));
            if (!isNew)
                same.emplace_back(held->second, call.output(k));
        }
        HALFTONE_TRY(const bool fits, put(inner, call, names, depth));
        for (const auto &[from, to] : same) {
            ::onnx::NodeProto &node = *m_to.add_node();
            node.set_op_type("Identity");
            node.add_input(from);
            node.add_output(to);
        }
        return fits;
    }

    const Functions &m_functions;
    const IsRealInput &m_isReal;
    BodyBudget &m_budget;
    ::onnx::GraphProto &m_to;
    std::size_t m_calls = 0;
};

/// Of the nodes and of those in their bodies. Protobuf has bounded how deep these are nested.
template <class Nodes, class F>
void forEachNode(const Nodes &nodes, const F &f)
{
    for (const auto &node : nodes) {
        f(node);
        for (const auto &attribute : node.attribute())
            if (attribute.has_g())
                forEachNode(attribute.g().node(), f);
    }
}

} // namespace

Functions::Name Functions::nameOf(const ::onnx::NodeProto &call)
{
    return {domainOf(call.domain()), call.op_type(), call.overload()};
}

Functions::Name Functions::nameOf(const ::onnx::FunctionProto &function)
{
    return {domainOf(function.domain()), function.name(), function.overload()};
}

Functions::Functions(const ::onnx::ModelProto &model)
{
    for (const auto &function : model.functions())
        m_functions.try_emplace(nameOf(function), Found{&function, false});
    for (const auto &function : builtInFunctions())
        m_functions.try_emplace(nameOf(function), Found{&function, true});
}

Functions::Found Functions::find(const ::onnx::NodeProto &call) const
{
    const auto found = m_functions.find(nameOf(call));
    return found == m_functions.end() ? Found() : found->second;
}

Result<void> Functions::check(const ::onnx::ModelProto &model)
{
    std::map<Name, std::set<Name>> calls;
    for (const auto &function : model.functions())
        if (!calls.try_emplace(nameOf(function)).second)
            return badInput("function " + printable(function.name(), kShown), "defined twice",
                            "unique names");
    std::map<Name, std::size_t> callers;
    for (const auto &function : model.functions()) {
        auto &own = calls[nameOf(function)];
        forEachNode(function.node(), [&](const ::onnx::NodeProto &node) {
            if (calls.contains(nameOf(node)) && own.insert(nameOf(node)).second)
                ++callers[nameOf(node)];
        });
    }
    std::vector<Name> free;
    for (const auto &[name, called] : calls)
        if (!callers.contains(name))
            free.push_back(name);
    std::size_t left = calls.size();
    while (!free.empty()) {
        const Name name = free.back();
        free.pop_back();
        --left;
        for (const Name &one : calls.at(name))
            if (--callers[one] == 0)
                free.push_back(one);
    }
    if (left > 0)
        return badInput("functions", "a function calls itself", "functions without recursion");
    return {};
}

bool isOnlyReplaced(const Functions::Found &found, const ::onnx::NodeProto &call)
{
    return found.isBuiltIn && std::ranges::any_of(found.function->node(), [&](const ::onnx::NodeProto &node) {
               return node.op_type() == kStandsFor && holdsFor(node, *found.function, call);
           });
}

std::set<Functions::Name> Functions::calledIn(const ::onnx::ModelProto &model)
{
    std::map<Name, const ::onnx::FunctionProto *> functions;
    for (const auto &function : model.functions())
        functions.emplace(nameOf(function), &function);
    std::set<Name> called;
    std::vector<const ::onnx::FunctionProto *> waiting;
    const auto note = [&](const ::onnx::NodeProto &node) {
        const auto found = functions.find(nameOf(node));
        if (found != functions.end() && called.insert(found->first).second)
            waiting.push_back(found->second);
    };
    forEachNode(model.graph().node(), note);
    while (!waiting.empty()) {
        const ::onnx::FunctionProto *const function = waiting.back();
        waiting.pop_back();
        forEachNode(function->node(), note);
    }
    return called;
}

void Functions::forEachCall(const ::onnx::ModelProto &model, const ::onnx::FunctionProto &function,
                            const std::function<void(const ::onnx::NodeProto &)> &f)
{
    const auto take = [&](const ::onnx::NodeProto &node) {
        if (nameOf(node) == nameOf(function))
            f(node);
    };
    forEachNode(model.graph().node(), take);
    for (const auto &other : model.functions())
        forEachNode(other.node(), take);
}

void Functions::removeUncalled(const ::onnx::ModelProto &source, ::onnx::ModelProto &model)
{
    const std::set<Name> before = calledIn(source);
    const std::set<Name> after = calledIn(model);
    for (int k = model.functions_size() - 1; k >= 0; --k)
        if (const Name name = nameOf(model.functions(k)); before.contains(name) && !after.contains(name))
            model.mutable_functions()->DeleteSubrange(k, 1);
}

Result<std::unique_ptr<::onnx::GraphProto>> bodyOf(const Functions &functions, const Functions::Found &found,
                                                   const ::onnx::NodeProto &call, const IsRealInput &isReal,
                                                   BodyBudget &budget)
{
    const ::onnx::FunctionProto &function = *found.function;
    std::unique_ptr<::onnx::GraphProto> none;
    const auto given = std::ranges::find_if_not(call.output(), &std::string::empty);
    if ((found.isBuiltIn && !takes(function, call)) || given == call.output().end())
        return none;
    HALFTONE_CHECK(checkCall(function, call));
    auto body = std::make_unique<::onnx::GraphProto>();
    body->set_name(function.name());
    Names names;
    for (int k = 0; k < function.input_size(); ++k) {
        const bool isGiven = k < call.input_size() && !call.input(k).empty();
        names.known.emplace(function.input(k), isGiven ? function.input(k) : std::string());
        if (isGiven)
            body->add_input()->set_name(function.input(k));
    }
    // What the call leaves out may be what the function does not give: another output stands there.
    const auto first = static_cast<int>(given - call.output().begin());
    for (int k = 0; k < call.output_size(); ++k)
        body->add_output()->set_name(function.output(call.output(k).empty() ? first : k));
    HALFTONE_TRY(const bool fits, Expansion(functions, isReal, budget, *body).put(found, call, names, 0));
    prefixNested(*body, *given + '/');
    return fits ? std::move(body) : std::move(none);
}

} // namespace halftone::io::onnx
