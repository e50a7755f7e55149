"""Policies of floatgate once more in Python, which must give equal results."""

import importlib.util

import floatgate
from floatgate import COLLECT, NONE


def helper(function):
    """Compile a helper of several functions where Numba is there."""
    if importlib.util.find_spec("numba") is None:
        return function
    import numba

    return numba.njit(function)


@helper
def append(s, block):
    """Put a block behind all others of the list."""
    last = s.ends[1]
    s.before[block], s.after[block] = last, -1
    if last < 0:
        s.ends[0] = block
    else:
        s.after[last] = block
    s.ends[1] = block


@helper
def take(s, block):
    """Take a block from the list."""
    before, after = s.before[block], s.after[block]
    if before < 0:
        s.ends[0] = after
    else:
        s.after[before] = after
    if after < 0:
        s.ends[1] = before
    else:
        s.before[after] = before


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


@floatgate.leveler("gap-here")
class Gap:
    """The least erased block's data move into the most worn free block if erases are far apart."""

    gap_erases = floatgate.Param(40, least=1, most=2**32 - 1, doc="erases that may lie between both")
    cold_drive_writes = floatgate.Param(1.0, least=0.0, most=1e9, doc="host writes that data must outlive")

    def job(wear, s, p):
        block = wear.least_erased
        if NONE in (block, wear.most_worn_free):
            return NONE
        if float(wear.now - wear.closed_at[block]) < p.cold_drive_writes * float(wear.logical_pages):
            return NONE
        if int(wear.most_worn_free) - int(wear.erases[block]) <= p.gap_erases:
            return NONE
        return block

    def lead_max(p):
        return p.gap_erases

    def urgent(wear, block, s, p):
        return int(wear.most_worn_free) - int(wear.erases[block]) > 2 * p.gap_erases


@floatgate.leveler("hot-cold-swap-here")
class HotColdSwap:
    """Worn victims take in the data of blocks that were closed long ago."""

    pe_cycles = floatgate.Param(3000, least=1, most=2**32 - 1, doc="erases in a block's life")
    retirement_age = floatgate.Param(0.85, least=0.0, most=1.0, doc="share of the mean rest below which a block swaps")
    lead_share_min = floatgate.Param(0.01, least=0.0, most=1.0, doc="share of pe_cycles below which a lead is none")
    before = floatgate.State("int64", per="block")
    after = floatgate.State("int64", per="block")
    ends = floatgate.State("int64", per=2)

    def begin(shape, s, p):
        s.ends[:] = -1

    def closed(domain, block, s, p):
        append(s, block)

    def emptying(domain, block, s, p):
        take(s, block)

    def review(wear, victim, s, p):
        erases, mean = float(wear.erases[victim]), wear.mean_erases
        cycles = float(p.pe_cycles)
        average, lead = cycles - mean, erases - mean
        if not (lead > 0.0 and lead >= p.lead_share_min * cycles and average > 0.0):
            return COLLECT
        if not max(cycles - erases, 0.0) / average < p.retirement_age:
            return COLLECT
        pages = wear.blocks * wear.pages_per_block
        valid_min = (wear.logical_pages * wear.pages_per_block + pages - 1) // pages
        for _ in range(8):
            block = s.ends[0]
            if block < 0:
                return COLLECT
            if block != victim and float(wear.erases[block]) <= mean and wear.valid[block] >= valid_min:
                return block
            take(s, block)
            append(s, block)
        return COLLECT


@floatgate.throttle("dynamic-here", needs=["borrowing"])
class Dynamic:
    """Delays by predicted demand (READY, Eq. 4 and 5)."""

    def delay(epoch, s, p):
        demand, capacity = max(epoch.demand_bytes, 0.0), epoch.capacity_bytes
        pages = capacity / epoch.page_write_bytes
        if demand <= 0.0:
            return 0.0
        if capacity <= 0.0 or pages <= 0.0:
            return epoch.last_delay_s
        if demand > capacity:
            return epoch.last_delay_s + epoch.length_s * (demand / capacity - 1.0) / pages
        return max(epoch.last_delay_s - epoch.length_s * (capacity / demand - 1.0) / pages, 0.0)
