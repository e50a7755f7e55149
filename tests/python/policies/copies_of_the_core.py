"""Policies of floatgate once more in Python, which must give equal results."""

import floatgate
from floatgate import NONE


@floatgate.victim_policy("greedy-here", order="valid")
class Greedy:
    """The block with the fewest valid pages."""

    def pick(blocks, p):
        if blocks.first == NONE or blocks.valid[blocks.first] == blocks.pages_per_block:
            return NONE
        return blocks.first


@floatgate.victim_policy("fifo-here", order="closing")
class Fifo:
    """The block that was closed first."""

    def pick(blocks, p):
        return blocks.first


@floatgate.victim_policy("cost-benefit-here", order="valid-and-age")
class CostBenefit:
    """Kawaguchi's cost-benefit."""

    def pick(blocks, p):
        if blocks.oldest[0] != NONE:
            return blocks.oldest[0]
        best, top = NONE, -1.0
        for valid in range(1, blocks.pages_per_block):
            block = blocks.oldest[valid]
            if block == NONE:
                continue
            age = float(blocks.now - blocks.closed_at[block] + 1)
            score = float(blocks.pages_per_block - valid) * age / (2.0 * float(valid))
            if score > top:
                best, top = block, score
        return best


@floatgate.separator("dac-here")
class Dac:
    """One region up with every write, one down with every move."""

    classes = floatgate.Param(6, least=2, most=256, doc="streams")
    region = floatgate.State("uint8")

    def streams(p):
        return p.classes

    def write(page, s, p):
        if page.update:
            s.region[page.page] = min(int(s.region[page.page]) + 1, p.classes - 1)
        else:
            s.region[page.page] = 0
        return s.region[page.page]

    def move(page, s, p):
        return max(int(s.region[page.page]) - 1, 0)

    def moved(page, stream, s, p):
        s.region[page.page] = stream


@floatgate.separator("sepbit-here", needs=["ages"])
class SepBit:
    """Six classes: short and long lives of replaced data, and ages of moved pages."""

    lifespan_units = floatgate.Param(16, least=1, most=1 << 20, doc="reclaimed blocks of class 1 in the mean life")
    age_factor = floatgate.Param(4.0, least=1.0, most=1000.0, doc="factor between the bounds of age")
    streams = 6
    bounds = floatgate.State("float64", per=3)
    lives = floatgate.State("uint64", per=2)

    def begin(shape, s, p):
        s.bounds[:] = 2.0**32 - 1

    def write(page, s, p):
        return 0 if page.update and page.age < s.bounds[0] else 1

    def move(page, s, p):
        if page.stream == 0:
            return 2
        return 3 + int(page.age >= s.bounds[1]) + int(page.age >= s.bounds[2])

    def reclaimed(block, s, p):
        if block.stream != 0:
            return
        s.lives[0] += block.now - block.opened_at
        s.lives[1] += 1
        if s.lives[1] == p.lifespan_units:
            mean = float(s.lives[0]) / float(s.lives[1])
            s.bounds[0] = mean
            s.bounds[1] = mean * p.age_factor
            s.bounds[2] = mean * p.age_factor * p.age_factor
            s.lives[:] = 0
