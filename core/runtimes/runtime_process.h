#pragma once

#include "core/base/child_process.h"
#include "core/base/file_descriptor.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/runtimes/message.h"

#include <chrono>
#include <memory>
#include <span>
#include <string>

namespace halftone::runtimes {

/// halftone-runtime with one library in it, which may crash or hang there. It ends with this object. For one thread at a time.
class RuntimeProcess
{
public:
    /// kind     RuntimeKind::name
    /// title    of the runtime, for messages
    /// library  its file
    /// fails: Unsupported if the program is missing or cannot be started
    static Result<std::unique_ptr<RuntimeProcess>> start(std::string_view kind, std::string title,
                                                         const std::string &library);

    /// Sends a request and waits for its answer. After an error of this process (not one that the runtime tells) every further request
    /// fails.
    /// fails: Cancelled; Unsupported where the process crashed (with the signal and its last words), or hung longer than limit()
    Result<Message> ask(const OrderedJson &head, std::span<const std::span<const std::byte>> body = {},
                        const Progress &progress = {});

    const std::string &title() const { return m_title; }

private:
    explicit RuntimeProcess(std::string title)
        : m_title(std::move(title))
    {
    }

    Result<void> open(const std::vector<std::string> &command);
    Result<void> transfer(std::byte *in, const std::byte *out, std::size_t size, const Progress &progress);
    Error ended();
    std::string lastWords() const;

    std::string m_title;
    FileDescriptor m_channel;
    FileDescriptor m_errors; ///< what the process writes to its standard error
    FileDescriptor m_wakes; ///< readable once a stop is requested
    ChildProcess m_child;
    std::chrono::steady_clock::time_point m_deadline;
    bool m_isOver = false;
};

/// After which a request counts as hanging: HALFTONE_RUNTIME_LIMIT in seconds, or 10 minutes.
std::chrono::milliseconds limit();

/// The path of halftone-runtime: HALFTONE_RUNTIME, else beside this program, in the folder above it or in that one's
/// `bin`, or in ../../halftone/bin (where the window's package finds it in the other one), else as PATH has it.
std::string runtimeProgram();

} // namespace halftone::runtimes
