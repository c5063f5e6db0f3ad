#pragma once

#include "core/base/result.h"

#include <onnx-ml.pb.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

/// Functions of ONNX: what a call of one computes, as a graph of its own.
namespace halftone::io::onnx {

/// The functions of a model, and behind them those that operators of other domains are said by (resources/onnx/functions.json).
/// Of one name that of the model counts.
class Functions
{
public:
    struct Found
    {
        const ::onnx::FunctionProto *function = nullptr; ///< null: the node calls none
        bool isBuiltIn = false;
    };

    explicit Functions(const ::onnx::ModelProto &model);

    Found find(const ::onnx::NodeProto &call) const;

    /// fails  BadInput for one of the model that is there twice, or that calls itself, over others or in bodies too
    static Result<void> check(const ::onnx::ModelProto &model);

    /// All nodes of the model that call the function, those in other functions and in bodies too.
    static void forEachCall(const ::onnx::ModelProto &model, const ::onnx::FunctionProto &function,
                            const std::function<void(const ::onnx::NodeProto &)> &f);

    /// Takes the functions out of `model` that `source` calls, over others too, and the model no longer does.
    static void removeUncalled(const ::onnx::ModelProto &source, ::onnx::ModelProto &model);

private:
    using Name = std::tuple<std::string, std::string, std::string>; ///< domain, name, overload
    static Name nameOf(const ::onnx::NodeProto &call);
    static Name nameOf(const ::onnx::FunctionProto &function);
    static std::set<Name> calledIn(const ::onnx::ModelProto &model);

    std::map<Name, Found> m_functions;
};

/// Of the input of a call with that place.
using IsRealInput = std::function<bool(int)>;

/// What all bodies of a file together may be: calls of calls multiply.
struct BodyBudget
{
    std::size_t nodes = std::size_t{1} << 16;
    std::size_t bytes = std::size_t{1} << 28;
};

/// The graph that `call` of `found` computes: inputs that the call leaves out are left out, attributes are those of the call
/// or their defaults, and calls of functions of the same opset stand there as their nodes. Its inputs are those that the call
/// gives, its outputs those that it has names for, all called as the function calls them. What bodies in it define bears the name of
/// the call's first output before its own.
/// isReal  does the call give real numbers as that input? For a form that depends on it
/// Null where `budget` does not suffice, and for a form of an operator that its built-in function does not say.
///
/// fails  BadInput for a call with more inputs or outputs than a function of the model has
Result<std::unique_ptr<::onnx::GraphProto>> bodyOf(const Functions &functions, const Functions::Found &found,
                                                   const ::onnx::NodeProto &call, const IsRealInput &isReal,
                                                   BodyBudget &budget);

/// Does the function give no more than numbers in the place of what `call` gives (places of texts, scores without their labels)?
bool isOnlyReplaced(const Functions::Found &found, const ::onnx::NodeProto &call);

} // namespace halftone::io::onnx
