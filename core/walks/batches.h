#pragma once

#include "core/base/result.h"
#include "core/kernels/join.h"
#include "core/walks/examples.h"
#include "core/walks/shard.h"

#include <algorithm>
#include <cstddef>

namespace halftone::walks {

/// How examples fall into batches. By default: what there is, untouched, in one.
struct Batches
{
    std::size_t examples = 0; ///< 0 where the arrays have no axis of examples
    std::size_t size = 0; ///< 0: all at once, untouched
    std::size_t count = 1;
    std::size_t begin = 0; ///< the example that the first batch begins with
    bool isFilled = false; ///< a shorter last batch is filled up to `size`: the model takes no other number

    /// wanted  examples at a time; 0: as the source suggests
    /// fails   BadInput where there are no examples
    static Result<Batches> of(const ExampleSource &source, std::size_t wanted);

    /// `size` at a time, which the model takes and no other number. Needs: examples and size above 0.
    static Batches filled(std::size_t examples, std::size_t size);

    /// One example each, of that shard of them all; of batches that are filled up, that shard of these. Needs: size above 0.
    Batches apart(const Shard &shard) const;

    /// The same in halves. Needs: batches of more than one.
    Batches halved() const;

    std::size_t first(std::size_t batch) const { return begin + batch * size; }
    std::size_t number(std::size_t batch) const
    {
        return size == 0 ? 0 : std::min(size, begin + examples - first(batch));
    }
    /// How much of what a batch's run gives counts.
    kernels::FilledBatch filling(std::size_t batch) const
    {
        return isFilled ? kernels::FilledBatch{number(batch), size} : kernels::FilledBatch();
    }
    bool hasFilling() const { return isFilled && count > 0 && number(count - 1) < size; }
    /// That a batch holds, filled up.
    Result<interpret::Feed> feed(const ExampleSource &source, std::size_t batch) const;

    bool operator==(const Batches &) const = default;

private:
    static Batches ofSize(std::size_t examples, std::size_t size);
};

} // namespace halftone::walks
