#pragma once

#include <filesystem>
#include <string>

namespace halftone::layout {

/// The Graphviz program to run: what HALFTONE_DOT names, whether it is there or not; else ../lib/halftone/dot, seen from the folder of
/// the running program, where a package brings its own; else "dot", which is looked up in PATH.
std::string graphvizProgram();

/// The same for a program that lies in `folder`.
std::string graphvizProgram(const std::filesystem::path &folder);

} // namespace halftone::layout
