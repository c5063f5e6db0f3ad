#include "app/cli/abnormal_exit.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "core/api/halftone/version.h"
#include "core/base/guarded.h"
#include "core/base/mapped_file.h"
#include "core/base/memory.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

using namespace halftone;

/// A program that starts this one says so with its process number, to have this one killed when it ends (app/mpi/child.cpp).
void endWithStarter()
{
    const char *const starter = std::getenv("HALFTONE_END_WITH");
    if (starter == nullptr)
        return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto number = static_cast<pid_t>(std::strtol(starter, nullptr, 10));
    if (number > 0 && ::kill(number, 0) != 0 && errno == ESRCH) // ended before that
        std::_Exit(1);
}

int exitCodeOf(Errc code)
{
    switch (code) {
    case Errc::BadInput:
        return 1;
    case Errc::BadCall:
        return 2;
    case Errc::Unsupported:
    case Errc::NoMemory:
        return 3;
    case Errc::Cancelled:
        break;
    }
    return 130;
}

int fail(const Error &error) noexcept
{
    try {
        cli::tellError(error);
    } catch (...) { // no memory for the words
        std::fputs("error: out of memory\n", stderr);
    }
    return exitCodeOf(error.code);
}

/// The parser's problem and the help to read, of the command if there is one; the parser does not name an unknown command.
Error explain(const cli::Parser &parser, int argc, char **argv, const std::string &problem)
{
    const std::vector<std::string> known = parser.commandNames();
    const std::vector<std::string_view> names(known.begin(), known.end());
    const bool isCommand = argc > 1 && std::ranges::find(names, argv[1]) != names.end();
    const std::string help
        = std::string("; see 'halftone-cli ") + (isCommand ? argv[1] + std::string(" ") : "") + "--help'";
    if (isCommand || argc < 2 || *argv[1] == '-')
        return badCall({}, problem, help);
    return badCall(
        {}, "unknown command \"" + std::string(argv[1]) + '"' + didYouMean(nearestNames(argv[1], names)),
        help);
}

/// The exit code.
Result<int> run(int argc, char **argv, const std::stop_token &stop)
{
    cli::Parser app("Convert neural networks to float16, bfloat16 and int8, operator by operator.",
                    "halftone-cli", "halftone-cli " HALFTONE_VERSION);
    cli::Action chosen;
    cli::addInfo(app, chosen);
    cli::addLists(app, chosen);
    cli::addConvert(app, chosen);
    cli::addRewrite(app, chosen);
    cli::addRun(app, chosen);
    cli::addProfile(app, chosen);
    cli::addCompare(app, chosen);
    cli::addCalibrate(app, chosen);
    cli::addMerge(app, chosen);
    cli::addQuantize(app, chosen);
    cli::addLayout(app, chosen);
    cli::addVerify(app, chosen);
    cli::addPolicy(app, chosen);
    cli::addReport(app, chosen);
    cli::addBackends(app, chosen);
    cli::addHardware(app, chosen);
    cli::addTune(app, chosen);
    cli::addMcp(app, chosen);
    cli::addCompletion(app, chosen);
    const cli::Parser::Outcome parsed = app.parse(argc, argv);
    if (parsed.problem)
        return explain(app, argc, argv, *parsed.problem);
    if (parsed.answer)
        cli::print(*parsed.answer);
    const Result<void> done = parsed.answer ? Result<void>() : guarded([&] { return chosen(stop); });
    const Result<void> written = cli::writeOutput();
    HALFTONE_CHECK(done);
    HALFTONE_CHECK(written);
    return 0;
}

/// A file that is opened must not come to lie where a stream is that the caller has closed; writing to that fails all the
/// same.
void keepStreamsApart()
{
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0)
            static_cast<void>(::open("/dev/null", O_RDONLY));
    }
}

/// Tensors come and go in the same sizes with every batch. Given back to the system each time, their pages would have to be
/// cleared again, which took a fifth of a calibration.
void keepFreedMemory()
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1); // the other arenas give back whole heaps whatever the thresholds are
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

} // namespace

int main(int argc, char **argv)
{
    endWithStarter();
    keepFreedMemory();
    keepStreamsApart();
    reserveMemory();
    MappedFile::surviveCuts();
    std::signal(SIGPIPE, SIG_IGN); // an output that nobody reads any more is an error like others
    std::signal(SIGXFSZ, SIG_IGN); // and so is a limit on the size of files
    cli::handleAbnormalExit();
    const Result<int> code = guarded([&]() -> Result<int> {
        const cli::Interrupt interrupt;
        return run(argc, argv, interrupt.token());
    });
    cli::expectNormalExit();
    return code.ok() ? code.value() : fail(code.error());
}
