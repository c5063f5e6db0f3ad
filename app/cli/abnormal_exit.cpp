#include "app/cli/abnormal_exit.h"

#include "core/base/atomic_file.h"
#include "core/base/memory.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace halftone::cli {
namespace {

constexpr int kNoMemory = 3;

std::atomic<bool> s_endsInOrder = false;

void say(std::string_view text)
{
    [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, text.data(), text.size());
}

void say(std::uint64_t number)
{
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    say({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

/// Only what a handler of signals may do, but for the locks that removing takes: nobody holds them who asks for memory.
[[noreturn]] void endForWant(std::uint64_t bytes)
{
    AtomicFile::removeTemporaries();
    say("error: out of memory: ");
    say(bytes);
    say(" bytes requested, ");
    say(availableMemory());
    say(" left\n");
    std::_Exit(kNoMemory);
}

/// Without a refusal before it, this is a defect, and ends as one.
[[noreturn]] void onTerminate()
{
    if (const std::uint64_t bytes = lastRefusal(); bytes > 0)
        endForWant(bytes);
    AtomicFile::removeTemporaries();
    std::abort();
}

[[maybe_unused]] void onFault(int signal, siginfo_t *info, void *)
{
    constexpr std::uintptr_t kNearNull = 1 << 16;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (const std::uint64_t bytes = lastRefusal(); bytes > 0 && address < kNearNull)
        endForWant(bytes);
    std::signal(signal, SIG_DFL); // it comes again, and ends the program
}

/// OpenMP's has said why, in a line of its own.
void onExit()
{
    if (s_endsInOrder)
        return;
    AtomicFile::removeTemporaries();
    std::_Exit(kNoMemory);
}

} // namespace

void handleAbnormalExit()
{
    std::atexit(onExit);
    std::set_terminate(onTerminate);
#ifndef HALFTONE_SANITIZED // which show where it was
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, nullptr);
#endif
}

void expectNormalExit()
{
    s_endsInOrder = true;
}

} // namespace halftone::cli
