"""Shares of the content model that give a wanted written ratio of compressed chunks (docs/reduce.md).

A chunk takes whole pages, so its written ratio is larger than the mean compressed size of its pages. This draws sizes
as the content model does (``crates/trace/src/content.rs``) and looks for the ``compressed_share`` that gives the wanted
ratio: for a given ``incompressible_share``, or for a given mean size of the pages that do compress.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

PAGE_BYTES = 4096
CHUNKS = 200_000
"""Chunks drawn for one ratio: its standard error is below 0.0006."""
STEPS = 30


def sizes(draws: np.ndarray, mean: float, incompressible: float) -> np.ndarray:
    """Compute compressed bytes of pages; ``draws`` has three uniform numbers for each along its last axis."""
    spread = min(mean, 1.0 - mean)
    shares = mean + spread * (draws[..., 1] + draws[..., 2] - 1.0)
    compressed = np.clip(np.rint(shares * PAGE_BYTES), 1, PAGE_BYTES)
    return np.where(draws[..., 0] < incompressible, PAGE_BYTES, compressed)


def written_ratio(draws: np.ndarray, mean: float, incompressible: float) -> float:
    """Return flash pages over pages, for chunks drawn with the shape (chunks, pages of a chunk, 3)."""
    pages = np.ceil(sizes(draws, mean, incompressible).sum(axis=1) / PAGE_BYTES)
    return float(pages.mean() / draws.shape[1])


def solved(ratio_at: Callable[[float], float], wanted: float) -> float:
    """Return the number between 0 and 1 at which a ratio that rises with it is the wanted one, by halving."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio_at(middle) < wanted else (low, middle)
    return (low + high) / 2


def main() -> None:
    """Print the shares for ``[content]`` and the ratio that they give with other draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratio", type=float, required=True, help="wanted written ratio of compression alone")
    fixed = parser.add_mutually_exclusive_group(required=True)
    fixed.add_argument("--incompressible-share", type=float, help="share of pages that do not compress at all")
    fixed.add_argument("--rest", type=float, help="mean compressed size of the pages that do compress")
    parser.add_argument("--chunk-pages", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draws, others = (
        np.random.default_rng(seed).random((CHUNKS, arguments.chunk_pages, 3))
        for seed in (arguments.seed, arguments.seed + 1)
    )
    if arguments.rest is None:
        hard = arguments.incompressible_share
        mean = solved(lambda size: written_ratio(draws, size, hard), arguments.ratio)
    else:
        mean = arguments.rest
        hard = solved(lambda share: written_ratio(draws, mean, share), arguments.ratio)
    ratio = written_ratio(others, mean, hard)
    if abs(ratio - arguments.ratio) > 0.005:
        parser.error(f"no content gives {arguments.ratio}: the nearest one gives {ratio:.3f}")
    print(f"compressed_share = {hard + (1.0 - hard) * mean:.3f}")
    print(f"incompressible_share = {hard:.3f}")
    print(f"# written ratio of chunks of {arguments.chunk_pages}: {ratio:.4f}")


if __name__ == "__main__":
    main()
