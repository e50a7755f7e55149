"""Counters of real drives: write amplification, host and flash bytes and wear from the drive's own logs.

The way of a file: ``documents`` cuts it into documents with their times, one module per format (``smartctl_json``,
``smartctl_text``, ``nvme_smart``, ``ocp``, ``fdp``, ``intel``, ``micron``, ``wdc``, ``prometheus``) makes a
:class:`~floatgate.lab.counters.reading.Reading` of each, ``collecting`` joins the logs of one moment, ``intervals``
takes differences and refuses those that cannot be, ``facts`` adds rates and life, ``summary`` and ``report`` show them.
``attribute_table`` knows what attributes of SATA drives count, and how sure that is.
"""
