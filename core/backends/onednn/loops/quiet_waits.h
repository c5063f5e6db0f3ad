#pragma once

#include <semaphore>
#include <thread>

namespace halftone::backends::onednn {

/// While one lives, OpenMP's threads sleep soon after they have nothing to do. GCC's spin for milliseconds otherwise, as
/// long as the process has no more of them than there are processors; with pictures being decoded beside the kernels, or
/// another program on the machine, they spin away the very time that the last thread of a kernel waits for.
class QuietWaits
{
public:
    QuietWaits();
    ~QuietWaits();
    QuietWaits(const QuietWaits &) = delete;
    QuietWaits &operator=(const QuietWaits &) = delete;

private:
    std::binary_semaphore m_begun{0};
    std::binary_semaphore m_ended{0};
    std::thread m_holder;
};

} // namespace halftone::backends::onednn
