#pragma once

#include "core/base/result.h"
#include "core/kernels/join.h"
#include "core/walks/examples.h"
#include "core/walks/shard.h"

#include <algorithm>
#include <cstddef>

namespace halftone::walks {

/// How examples are divided into batches. Default: one batch of all examples, unchanged.
struct Batches
{
    std::size_t examples = 0; ///< 0 if the arrays have no axis of examples
    std::size_t size = 0; ///< 0: all at once, unchanged
    std::size_t count = 1;
    std::size_t begin = 0; ///< the first example
    bool isFilled = false; ///< a shorter last batch is padded to `size`, since the model accepts no other

    /// wanted  batch size; 0: the default of the source
    /// fails   BadInput if there are no examples
    static Result<Batches> of(const ExampleSource &source, std::size_t wanted);

    /// Batches of exactly `size`, the last one padded. Needs: examples and size above 0.
    static Batches filled(std::size_t examples, std::size_t size);

    /// Batches of one example each, of a shard of them; with padded batches, that shard of the batches. Needs: size above 0.
    Batches apart(const Shard &shard) const;

    /// Batches of half the size. Needs: size above 1.
    Batches halved() const;

    std::size_t first(std::size_t batch) const { return begin + batch * size; }
    std::size_t number(std::size_t batch) const
    {
        return size == 0 ? 0 : std::min(size, begin + examples - first(batch));
    }
    /// How many results of a batch count.
    kernels::FilledBatch filling(std::size_t batch) const
    {
        return isFilled ? kernels::FilledBatch{number(batch), size} : kernels::FilledBatch();
    }
    bool hasFilling() const { return isFilled && count > 0 && number(count - 1) < size; }
    /// The inputs of a batch, padded if needed.
    Result<interpret::Feed> feed(const ExampleSource &source, std::size_t batch) const;

    bool operator==(const Batches &) const = default;

private:
    static Batches ofSize(std::size_t examples, std::size_t size);
};

} // namespace halftone::walks
