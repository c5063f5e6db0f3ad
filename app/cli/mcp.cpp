#include "app/cli/commands.h"
#include "app/cli/mcp_folders.h"
#include "app/cli/mcp_server.h"
#include "app/cli/mcp_tools.h"
#include "core/base/file_descriptor.h"
#include "core/base/file_error.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::cli {
namespace {

/// Until standard input ends; what still runs then is stopped.
Result<void> serve(McpServer &server, const std::stop_token &stop)
{
    const FileDescriptor stopped(::eventfd(0, EFD_CLOEXEC));
    const std::stop_callback wake(stop, [&stopped] { ::eventfd_write(stopped.number(), 1); });
    for (;;) {
        std::array<pollfd, 4> polled{{{STDIN_FILENO, POLLIN, 0},
                                      {stopped.number(), POLLIN, 0},
                                      {server.output(), POLLIN, 0},
                                      {server.errors(), POLLIN, 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
            return fileError("standard input", "wait for", errno);
        if (stop.stop_requested())
            return cancelled();
        if (polled[3].revents != 0)
            HALFTONE_CHECK(server.readErrors());
        else if (polled[2].revents != 0)
            HALFTONE_CHECK(server.readOutput());
        if (polled[0].revents == 0)
            continue;
        std::array<char, 65536> bytes;
        const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count == 0)
            return {};
        if (count < 0 && errno != EINTR && errno != EAGAIN)
            return fileError("standard input", "read", errno);
        if (count > 0)
            HALFTONE_CHECK(server.take(std::string_view(bytes.data(), static_cast<std::size_t>(count))));
    }
}

} // namespace

void addMcp(Parser &app, Action &chosen)
{
    const auto paths = std::make_shared<std::vector<std::string>>();
    Command command
        = app.command("mcp", "Serve the commands to an assistant over the Model Context Protocol (stdio)");
    command.option("FOLDER", paths.get(), "Folders in which files may be read and written")
        .required()
        .type("...");
    command.onChosen([paths, &app, &chosen] {
        chosen = [paths, &app](const std::stop_token &stop) -> Result<void> {
            HALFTONE_TRY(Folders folders, Folders::of(*paths));
            McpServer server(Tools(app.commands(), std::move(folders)));
            return serve(server, stop);
        };
    });
}

} // namespace halftone::cli
