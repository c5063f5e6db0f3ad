"""How every operator is drawn: {name: function of a Draw that places it}."""
from operators import algebra, control, elementwise, layers, movement, quantized, reductions, regions

ALL = {}
for room in (elementwise, reductions, movement, layers, regions, algebra, quantized, control):
    ALL |= room.OPERATORS
