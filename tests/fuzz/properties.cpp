#include "tests/fuzz/properties.h"

#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/policy/policy_json.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::fuzz {
namespace {

void require(bool holds, const std::string &what)
{
    if (holds)
        return;
    std::fprintf(stderr, "property violated: %s\n", what.c_str());
    std::abort();
}

std::string_view textOf(std::span<const std::byte> input)
{
    return {reinterpret_cast<const char *>(input.data()), input.size()};
}

void requireOneLine(const Error &error)
{
    const std::string message = error.message();
    require(!message.empty() && message.find('\n') == std::string::npos, "an error is one line");
}

std::vector<std::byte> paramsBytes(const std::vector<tensor::Array> &arrays)
{
    std::vector<std::byte> bytes;
    const auto outcome = io::writeParams(arrays, [&bytes](std::span<const std::byte> part) {
        bytes.insert(bytes.end(), part.begin(), part.end());
        return Result<void>();
    });
    require(outcome.ok(), "parameters that were read can be written");
    return bytes;
}

} // namespace

void checkSymbolJson(std::span<const std::byte> input)
{
    std::vector<std::string> notes;
    const auto graph = io::readSymbol(textOf(input), notes);
    if (!graph.ok())
        return requireOneLine(graph.error());
    const std::string written = io::writeSymbol(graph.value());
    const auto again = io::readSymbol(written, notes);
    require(again.ok(),
            "a written symbol can be read: " + (again.ok() ? std::string() : again.error().message()));
    require(io::writeSymbol(again.value()) == written, "a symbol that was read again writes the same");
}

void checkParams(std::span<const std::byte> input)
{
    const auto owner = std::make_shared<const std::vector<std::byte>>(input.begin(), input.end());
    const auto arrays = io::readParams(*owner, owner);
    if (!arrays.ok())
        return requireOneLine(arrays.error());
    const auto written = std::make_shared<const std::vector<std::byte>>(paramsBytes(arrays.value()));
    const auto again = io::readParams(*written, written);
    require(again.ok(),
            "written parameters can be read: " + (again.ok() ? std::string() : again.error().message()));
    require(again.value().size() == arrays.value().size(), "no array is lost");
    require(paramsBytes(again.value()) == *written, "parameters that were read again write the same");
}

void checkPolicy(std::span<const std::byte> input)
{
    const auto policy = policy::readPolicy(textOf(input));
    if (!policy.ok())
        return requireOneLine(policy.error());
    const auto again = policy::readPolicy(policy::writePolicy(policy.value()));
    require(again.ok(),
            "a written policy can be read: " + (again.ok() ? std::string() : again.error().message()));
    require(again.value() == policy.value(), "a policy that was read again is the same");
}

} // namespace halftone::fuzz
