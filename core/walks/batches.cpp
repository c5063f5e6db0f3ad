#include "core/walks/batches.h"

#include <cassert>

namespace halftone::walks {

Batches Batches::ofSize(std::size_t examples, std::size_t size)
{
    return {examples, size, (examples + size - 1) / size};
}

Batches Batches::filled(std::size_t examples, std::size_t size)
{
    Batches batches = ofSize(examples, size);
    batches.isFilled = true;
    return batches;
}

Result<Batches> Batches::of(const ExampleSource &source, std::size_t wanted)
{
    if (!source.count())
        return Batches();
    const std::size_t examples = *source.count();
    if (examples == 0)
        return badInput(Field::Inputs, "no examples", "at least one");
    const std::size_t usual = wanted > 0 ? wanted : source.usualBatch();
    return ofSize(examples, usual > 0 ? std::min(usual, examples) : examples);
}

Batches Batches::halved() const
{
    assert(size > 1);
    return ofSize(examples, (size + 1) / 2);
}

Batches Batches::apart(const Shard &shard) const
{
    const std::size_t each = isFilled ? size : 1;
    const std::size_t all = isFilled ? count : examples;
    const std::size_t from = std::min(shard.begin(all) * each, examples);
    Batches apart = ofSize(std::min(shard.end(all) * each, examples) - from, each);
    apart.begin = from;
    apart.isFilled = isFilled;
    return apart;
}

Result<interpret::Feed> Batches::feed(const ExampleSource &source, std::size_t batch) const
{
    HALFTONE_TRY(interpret::Feed feed, source.batch(first(batch), number(batch)));
    if (!filling(batch).isFilled())
        return feed;
    for (const std::string &name : source.cutInputs()) {
        HALFTONE_TRY(feed[name], kernels::filledUp(feed[name], size));
    }
    return feed;
}

} // namespace halftone::walks
