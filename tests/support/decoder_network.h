#pragma once

#include "core/graph/model.h"

namespace halftone::test {

/// What a decoder is made of; about 80 operators a block, constants apart.
struct DecoderSize
{
    int blocks = 24;
    int width = 32;
    int heads = 4;
    int hidden = 64; ///< of the feed-forward part
    int words = 96; ///< of the vocabulary
    int places = 32; ///< longest text
    int length = 16; ///< of the text
};

/// A language model in ONNX (opset 13) as exporters write one: LayerNorm and rotary positions of primitive operators, shapes computed by
/// Shape, Gather and Concat, a causal mask of -1e9 that every block adds to its scores, a gated feed-forward part, and one channel that is
/// 30 times larger than the others. Values come from a generator with a fixed seed.
/// Input: tokens, int64 [1, length], each below `words`. Output: logits, float32 [1, length, words].
graph::Model decoderNetwork(const DecoderSize &size = {});

} // namespace halftone::test
