/// halftone-runtime KIND LIBRARY: loads the library of a runtime and answers requests on its standard input, a socket (core/runtimes/message.h).
/// Halftone starts it; what the library prints goes to standard error.
#include "app/runtime/serve.h"
#include "core/base/guarded.h"

#include <unistd.h>

#include <cstdio>

int main(int argc, char **argv)
{
    using namespace halftone;
    constexpr int kBadCall = 2;
    if (argc != 3) {
        std::fputs("usage: halftone-runtime KIND LIBRARY (started by halftone-cli)\n", stderr);
        return kBadCall;
    }
    const int channel = ::dup(STDIN_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    served::endWithParent(channel);
    const auto engine = guarded([&] { return served::loadEngine(argv[1], argv[2]); });
    if (engine.ok())
        served::serve(*engine.value(), channel);
    else
        served::refuse(engine.error(), channel);
    std::fflush(nullptr);
    ::_exit(0); // without the library's own end, which may take long or crash
}
