"""Many runs of one experiment: which (points), how (engines), and what comes of them (a journal, one flat table).

:mod:`.points` makes settings by number, :mod:`.plan` the runs of a study, :mod:`.work` a job and its answer. An engine does jobs in any
order: :mod:`.engine` in threads of this process, :mod:`.on_dask` on a scheduler of Dask (:mod:`.on_worker` is the other
end, :mod:`.files` what moves), :mod:`.limited` in processes with a memory limit for both; :mod:`.engines` selects one.
:mod:`.journal` keeps the answers and writes the flat table, in a folder of :mod:`.folders`. What comes from a disk or
another machine is checked: lines of journals by :mod:`.rows`, answers of engines by :mod:`.requested`.
"""
