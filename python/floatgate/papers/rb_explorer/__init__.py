"""RB-Explorer: write amplification from a Ready/Busy pin, against the counters of the emulated drives."""
