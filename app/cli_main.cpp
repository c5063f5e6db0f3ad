#include "app/cli_commands.h"
#include "app/cli_output.h"
#include "core/base/text.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

using namespace halftone;

int exitCodeOf(Errc code)
{
    switch (code) {
    case Errc::BadInput:
        return 1;
    case Errc::BadCall:
        return 2;
    case Errc::Unsupported:
        return 3;
    case Errc::Cancelled:
        break;
    }
    return 130;
}

/// Turns Ctrl-C into a stop request. The signal is blocked in every thread and waited for in one of its own,
/// since next to nothing may be done inside a signal handler.
class Interrupt
{
public:
    Interrupt()
    {
        sigemptyset(&m_signals);
        sigaddset(&m_signals, SIGINT);
        sigaddset(&m_signals, SIGTERM);
        sigaddset(&m_signals, kWake);
        pthread_sigmask(SIG_BLOCK, &m_signals, nullptr);
        m_thread = std::jthread([this](const std::stop_token &ended) { wait(ended); });
    }

    ~Interrupt()
    {
        m_thread.request_stop();
        pthread_kill(m_thread.native_handle(), kWake);
    }

    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    std::stop_token token() const { return m_stop.get_token(); }

private:
    static constexpr int kWake
        = SIGUSR1; ///< from the destructor: nobody waits for a tick at the end of a command

    void wait(const std::stop_token &ended)
    {
        while (!ended.stop_requested()) {
            const int signal = sigwaitinfo(&m_signals, nullptr);
            if (signal != SIGINT && signal != SIGTERM)
                continue;
            if (!m_stop.request_stop()) // asked a second time: what runs now does not listen
                std::_Exit(exitCodeOf(Errc::Cancelled));
        }
    }

    sigset_t m_signals{};
    std::stop_source m_stop;
    std::jthread m_thread;
};

int fail(const Error &error)
{
    cli::tellError(error);
    return exitCodeOf(error.code);
}

/// The parser's own words, except for an unknown command, which it does not name.
std::string explain(const CLI::App &app, int argc, char **argv, const CLI::ParseError &error)
{
    std::vector<std::string_view> names;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
        names.push_back(command->get_name());
    if (argc < 2 || *argv[1] == '-' || std::ranges::find(names, argv[1]) != names.end())
        return error.what();
    return '"' + std::string(argv[1]) + "\" is no command" + didYouMean(nearestNames(argv[1], names));
}

int run(int argc, char **argv)
{
    CLI::App app("Mixed-precision conversion of neural networks: fp16 and bf16, operator by operator.",
                 "halftone-cli");
    app.set_version_flag("--version", "halftone-cli " HALFTONE_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    cli::Action chosen;
    cli::addInfo(app, chosen);
    cli::addLists(app, chosen);
    cli::addConvert(app, chosen);
    cli::addRewrite(app, chosen);
    cli::addRun(app, chosen);
    cli::addProfile(app, chosen);
    cli::addCompare(app, chosen);
    cli::addCalibrate(app, chosen);
    cli::addQuantize(app, chosen);
    cli::addLayout(app, chosen);
    cli::addReport(app, chosen);
    cli::addBackends(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &request) { // --help, --version
        return app.exit(request);
    } catch (const CLI::ParseError &error) {
        return fail(
            badCall({}, explain(app, argc, argv, error), "a call as 'halftone-cli COMMAND --help' shows"));
    }
    const Interrupt interrupt;
    const Result<void> result = chosen(interrupt.token());
    return result.ok() ? 0 : fail(result.error());
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
    keepFreedMemory();
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc &) {
        return fail(unsupported({}, "out of memory", "a smaller model or more memory"));
    } catch (const std::exception &error) {
        return fail(badInput({}, error.what()));
    }
}
