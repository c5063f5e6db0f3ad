#pragma once

#include "core/base/result.h"
#include "core/jobs/examples.h"
#include "core/jobs/part.h"

#include <algorithm>
#include <cstddef>

namespace halftone::jobs {

/// How examples fall into batches. By default: what there is, untouched, in one.
struct Batches
{
    std::size_t examples = 0; ///< 0 where the arrays have no axis of examples
    std::size_t size = 0; ///< 0: all at once, untouched
    std::size_t count = 1;
    std::size_t begin = 0; ///< the example that the first batch begins with

    /// wanted  examples at a time; 0: as the source suggests
    /// fails   BadInput where there are no examples
    static Result<Batches> of(const ExampleSource &source, std::size_t wanted);

    /// One example each, of that part of them all. Needs: size above 0.
    Batches apart(const Part &part) const;

    /// The same in halves. Needs: batches of more than one.
    Batches halved() const;

    std::size_t first(std::size_t batch) const { return begin + batch * size; }
    std::size_t number(std::size_t batch) const
    {
        return size == 0 ? 0 : std::min(size, begin + examples - first(batch));
    }
    /// That a batch holds.
    Result<interpret::Feed> feed(const ExampleSource &source, std::size_t batch) const
    {
        return source.batch(first(batch), number(batch));
    }

    bool operator==(const Batches &) const = default;

private:
    static Batches ofSize(std::size_t examples, std::size_t size);
};

} // namespace halftone::jobs
