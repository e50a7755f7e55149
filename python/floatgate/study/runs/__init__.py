"""Many runs of one experiment: the plan of them, the engines that run them, the journal and table of their results.

- :mod:`.points` makes settings by number, :mod:`.plan` the runs of a study, :mod:`.work` defines a job and its answer.
- An engine runs jobs in any order: :mod:`.engine` in threads of this process, :mod:`.on_dask` on a Dask scheduler.
  :mod:`.on_worker` is the other end of the latter, :mod:`.files` what moves there. :mod:`.limited` runs jobs in
  processes with a memory limit, for both. :mod:`.engines` selects one.
- :mod:`.journal` keeps the answers and writes the flat table. :mod:`.resume` keeps whole runs beside a journal until
  their study is complete. :mod:`.folders` claims the folder.
- What comes from a disk or another machine is checked: lines of journals (:mod:`.lines`) by :mod:`.rows`, answers of
  engines by :mod:`.requested`.
"""
