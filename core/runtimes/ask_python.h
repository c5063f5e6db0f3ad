#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace halftone::runtimes {

/// Is the program a script, such as one that chooses a Python (pyenv's, asdf's)? Then its place says nothing of where packages are.
bool isScript(const std::string &program);

/// Runs a `python3` to ask for its prefix. Absent: it does not say within the limit.
std::optional<std::string> askedPrefix(const std::string &program,
                                       std::chrono::milliseconds limit = std::chrono::seconds(5));

} // namespace halftone::runtimes
