"""A live drive: a simulated SSD behind a block device, from a command.

- :mod:`.drive` opens, watches and stops it;
- :mod:`.exports` reads what ``--exports`` says;
- :mod:`.conditions` checks what ``--assert`` says;
- :mod:`.attaching` names the commands that make it a block device of this machine;
- :mod:`.dashboard` serves the page; :mod:`.page` has its files, :mod:`.history` what the drive has counted,
  :mod:`.life` its life at this rate, :mod:`.pin` measures a die's pin, :mod:`.trials` tries other policies.

Must not know: studies, papers, commands.
"""
