// Opens MODEL, converts it to float16 (one of MXNet as MXNet does) and writes it under PREFIX.
#include <halftone/convert.h>

#include <cstdio>

namespace api = halftone::api;

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const auto model = api::open(argv[1]);
    if (!model.ok()) {
        std::fprintf(stderr, "error: %s\n", model.error().message.c_str());
        return 1;
    }
    api::Policy policy;
    policy.target = api::Type::Float16;
    if (model.value().format() == "mxnet")
        policy.mode = api::Mode::Mxnet;
    const auto converted = api::convert(model.value(), policy);
    if (!converted.ok()) {
        std::fprintf(stderr, "error: %s\n", converted.error().message.c_str());
        return 1;
    }
    const auto written = api::save(converted.value().model(), argv[2]);
    if (!written.ok()) {
        std::fprintf(stderr, "error: %s\n", written.error().message.c_str());
        return 1;
    }
    std::printf("%zu nodes became %zu, with %zu casts, in %s\n", model.value().nodeCount(),
                converted.value().model().nodeCount(), converted.value().casts(),
                written.value().front().c_str());
}
