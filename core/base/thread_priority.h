#pragma once

namespace halftone {

/// Lets the calling thread, and those that it starts from now on, take what processors the threads before them leave. There is no way
/// back. Elsewhere than on Linux, where a priority is the whole process's, it does nothing.
/// steps  of setpriority(2): three leave half of the weight, ten a tenth
void lowerPriority(int steps);

} // namespace halftone
