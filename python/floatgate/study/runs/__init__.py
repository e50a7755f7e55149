"""Many runs of one experiment: which (a plan), how (engines), and what comes of them (a journal, one flat table).

:mod:`.points` makes settings by number, :mod:`.plan` the runs of a study, :mod:`.work` defines a job and its answer. An
engine carries out jobs in any order: :mod:`.engine` in threads of this process, :mod:`.on_dask` on a scheduler of Dask
(:mod:`.on_worker` is the other end, :mod:`.files` what moves), :mod:`.limited` in processes with a memory limit for
both; :mod:`.engines` selects one. :mod:`.journal` keeps the answers and writes the flat table; :mod:`.resume` keeps
whole runs beside a journal until their study is complete; :mod:`.folders` claims the folder. What comes from a disk or
another machine is checked: lines of journals (:mod:`.lines`) by :mod:`.rows`, answers of engines by :mod:`.requested`.
"""
