// Runs MODEL on arrays of its own and from DATA, and says what a conversion to bfloat16 does to single nodes and to its speed.
#include <halftone/profile.h>
#include <halftone/run.h>
#include <halftone/version.h>

#include <algorithm>
#include <cstdio>

namespace api = halftone::api;

namespace {

int fail(const api::Error &error)
{
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    api::OpenOptions how;
    const api::Shape shape{1, 1, 8, 8};
    how.shapes["data"] = shape;
    const auto model = api::open(argv[1], how);
    if (!model.ok())
        return fail(model.error());
    const auto outputs
        = api::run(model.value(), {api::Array::of("data", shape, std::vector<float>(64, 0.5F))});
    if (!outputs.ok())
        return fail(outputs.error());
    api::Data data;
    data.inputs = argv[2];
    const auto all = api::run(model.value(), data);
    if (!all.ok())
        return fail(all.error());

    api::Policy policy;
    policy.target = api::Type::BFloat16;
    policy.toFloat32 = {model.value().format() == "mxnet" ? "FullyConnected" : "Gemm"};
    const auto converted = api::convert(model.value(), policy);
    if (!converted.ok())
        return fail(converted.error());
    const auto nodes = converted.value().nodes();
    const auto low = std::count_if(nodes.begin(), nodes.end(), [](const api::ConvertedNode &node) {
        return node.type == api::Type::BFloat16;
    });
    api::ProfileOptions few;
    few.repeats = 2;
    const auto profiled = api::profile(converted.value(), few);
    const bool isMeasured = profiled.ok() && profiled.value().latency.medianMs > 0;
    if (!isMeasured && (profiled.ok() || profiled.error().kind != api::ErrorKind::Unsupported))
        return 5;
    std::printf("Halftone %s: %zu values; %zu examples, %.3f right; %td of %zu nodes in bfloat16\n",
                std::string(api::version()).c_str(), outputs.value().front().floats().size(),
                all.value().accuracy->examples, all.value().accuracy->top1, low, nodes.size());
}
