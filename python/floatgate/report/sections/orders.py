"""The orders in which sections appear: lines and remarks of the summary, cards and parts of the page, columns."""

from __future__ import annotations

from floatgate.report.sections import (
    amplification,
    assumptions,
    buffer,
    dispatch,
    distributions,
    disturb,
    drive,
    energy,
    idle,
    latency,
    leveling,
    lifetime_headline,
    metadata,
    over_time,
    precondition,
    programs,
    rating,
    reduce,
    streams,
    throttle,
    throughput,
    timeline,
    waiting,
    waveform,
    wear,
    workload,
)

SUMMARY = (
    drive.SECTION,
    precondition.SECTION,
    workload.SECTION,
    lifetime_headline.SECTION,
    rating.SECTION,
    amplification.SECTION,
    programs.SECTION,
    metadata.SECTION,
    reduce.SECTION,
    wear.SECTION,
    leveling.SECTION,
    dispatch.SECTION,
    streams.SECTION,
    disturb.SECTION,
    buffer.SECTION,
    throttle.SECTION,
    latency.SECTION,
    throughput.SECTION,
    waiting.SECTION,
    idle.SECTION,
    energy.SECTION,
    waveform.SECTION,
)
"""Sections with lines of the summary."""
REMARKS = (
    drive.SECTION,
    lifetime_headline.SECTION,
    amplification.SECTION,
    disturb.SECTION,
    reduce.SECTION,
    throttle.SECTION,
    latency.SECTION,
    idle.SECTION,
    workload.SECTION,
    streams.SECTION,
    dispatch.SECTION,
    assumptions.SECTION,
    programs.SECTION,
)
"""Sections with remarks, which end the summary."""
CARDS = (
    lifetime_headline.SECTION,
    rating.SECTION,
    amplification.SECTION,
    wear.SECTION,
    latency.SECTION,
    throughput.SECTION,
    reduce.SECTION,
    energy.SECTION,
)
"""Sections with cards, the headlines of the page."""
PAGE = (
    latency.SECTION,
    throttle.SECTION,
    reduce.SECTION,
    timeline.SECTION,
    programs.SECTION,
    streams.SECTION,
    disturb.SECTION,
    energy.SECTION,
    over_time.SECTION,
    distributions.SECTION,
    workload.SECTION,
)
"""Sections with parts of the page."""
COMPARED = (
    amplification.SECTION,
    lifetime_headline.SECTION,
    rating.SECTION,
    programs.SECTION,
    wear.SECTION,
    disturb.SECTION,
    reduce.SECTION,
    latency.SECTION,
    throughput.SECTION,
)
"""Sections with columns of the table that compares settings."""
