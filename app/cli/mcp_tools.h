#pragma once

#include "app/cli/mcp_folders.h"
#include "app/cli/output.h"
#include "app/cli/parser.h"

#include <string>
#include <string_view>
#include <vector>

namespace halftone::cli {

/// The commands that an MCP client may call. A tool has the name of its command; its arguments are `model` and the
/// command's options with underscores, such as `fp32_op` for --fp32-op.
class Tools
{
public:
    Tools(std::vector<CommandOutline> commands, Folders folders);

    Json list() const; ///< as tools/list returns them: name, description, inputSchema
    bool has(std::string_view name) const { return find(name) != nullptr; }
    std::string instructions() const; ///< for the client

    /// What `halftone-cli` is called with. Needs: has(name)
    /// fails: BadCall for an argument that is unknown, of the wrong type or a path outside the folders
    Result<std::vector<std::string>> commandLine(std::string_view name, const Json &arguments) const;

private:
    const CommandOutline *find(std::string_view name) const;

    std::vector<CommandOutline> m_commands;
    Folders m_folders;
};

} // namespace halftone::cli
