"""How every operator is drawn: {name: function of a Draw that places it}."""
from operators import codes, contrib, control, elementwise, layers, lists, movement, places, reductions, sampling, tabular

ALL = {}
for room in (elementwise, reductions, movement, places, layers, sampling, codes, lists, control, contrib, tabular):
    ALL |= room.OPERATORS
