// What a program needs to use the installed core: opens MODEL, converts it to float16 and writes it under
// PREFIX.
#include "core/session/session.h"

#include <cstdio>

using namespace halftone;

static Result<void> convert(const std::string &model, const std::string &prefix)
{
    HALFTONE_TRY(const session::Session session, session::Session::open(model, {}));
    policy::Policy policy;
    policy.target = tensor::DType::F16;
    policy.mode = policy::Mode::Mxnet;
    HALFTONE_TRY(const auto converted, session.convert(policy, /*strict=*/false));
    HALFTONE_TRY(const auto written, session.write(converted->model, prefix));
    std::printf("%zu nodes became %zu, with %zu casts, in %s\n", session.source().model.graph.nodeCount(),
                converted->model.graph.nodeCount(), converted->conversion.casts.size(),
                written.front().c_str());
    return {};
}

int main(int argc, char **argv)
{
    const Result<void> done
        = argc == 3 ? convert(argv[1], argv[2]) : badCall("consumer", "wrong arguments", "MODEL PREFIX");
    if (!done.ok())
        std::fprintf(stderr, "error: %s\n", done.error().message().c_str());
    return done.ok() ? 0 : 1;
}
