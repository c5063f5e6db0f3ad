#include "core/jobs/batches.h"

#include <cassert>

namespace halftone::jobs {

Batches Batches::ofSize(std::size_t examples, std::size_t size)
{
    return {examples, size, (examples + size - 1) / size};
}

Result<Batches> Batches::of(const ExampleSource &source, std::size_t wanted)
{
    if (!source.count())
        return Batches();
    const std::size_t examples = *source.count();
    if (examples == 0)
        return badInput(Field::Inputs, "no examples", "one or more");
    const std::size_t usual = wanted > 0 ? wanted : source.usualBatch();
    return ofSize(examples, usual > 0 ? std::min(usual, examples) : examples);
}

Batches Batches::halved() const
{
    assert(size > 1);
    return ofSize(examples, (size + 1) / 2);
}

Batches Batches::apart(const Part &part) const
{
    Batches apart = ofSize(part.end(examples) - part.begin(examples), 1);
    apart.begin = part.begin(examples);
    return apart;
}

} // namespace halftone::jobs
