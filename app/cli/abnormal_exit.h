#pragma once

namespace halftone::cli {

/// Libraries end the program for want of memory or of threads in ways that nobody can catch: OpenMP's by exit(), the standard
/// one by std::terminate() out of a function that may not throw, oneDNN by touching what it did not get. From here on such
/// an end, too, leaves no temporary file, says so in one line and gives the exit code of Errc::NoMemory.
void handleAbnormalExit();

/// The program ends by itself: what comes now is an ordinary end.
void expectNormalExit();

} // namespace halftone::cli
