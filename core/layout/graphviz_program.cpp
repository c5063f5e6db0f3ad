#include "core/layout/graphviz_program.h"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace halftone::layout {

std::string graphvizProgram()
{
    std::error_code none;
    return graphvizProgram(std::filesystem::read_symlink("/proc/self/exe", none).parent_path());
}

std::string graphvizProgram(const std::filesystem::path &folder)
{
    const char *const named = std::getenv("HALFTONE_DOT");
    if (named != nullptr && *named != '\0')
        return named;
    const std::filesystem::path bundled = folder.parent_path() / "lib" / "halftone" / "dot";
    return !folder.empty() && ::access(bundled.c_str(), X_OK) == 0 ? bundled.string() : "dot";
}

} // namespace halftone::layout
