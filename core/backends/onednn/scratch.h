#pragma once

#include <cstddef>
#include <memory>

namespace halftone::backends::onednn {

/// Memory aligned to a page, in huge pages where the system has them and there is enough of it. Null where there is none.
std::shared_ptr<std::byte> allocatePages(std::size_t bytes);

/// For what is read once a run, each page of it costing a walk of the page table: what is smaller than a huge page lies in one with others,
/// aligned to a cache line, or to a page from 4 KiB on, and goes when these do. Null where there is none. From any thread.
std::shared_ptr<std::byte> allocateTogether(std::size_t bytes);

/// What a kernel needs while it runs and not afterwards. Kernels that run one after another on a thread are lent the same
/// memory, which so stays small and in the caches; it grows to what the neediest asks for and goes with the thread.
class ScratchLease
{
public:
    explicit ScratchLease(std::size_t bytes);
    ~ScratchLease();
    ScratchLease(const ScratchLease &) = delete;
    ScratchLease &operator=(const ScratchLease &) = delete;

    /// Null where there is not so much memory.
    std::byte *data() const { return m_memory.get(); }

private:
    std::shared_ptr<std::byte> m_memory;
    bool *m_lent
        = nullptr; ///< where the thread keeps in mind that it is; null for memory of this lease's own
};

} // namespace halftone::backends::onednn
