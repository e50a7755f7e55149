"""What limits life and latency in one run or forecast, as ``floatgate explain`` says it: tables of data.

:mod:`.rules` and :mod:`.settings` are the tables: a rule is a condition on figures, a sentence and the settings that it
suggests. :mod:`.figures` has the figures, each computed from metrics of a result. Which rules hold for a folder, and
what the suggested settings measure, is the work of ``floatgate.study.explain``.
"""
