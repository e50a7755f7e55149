"""A live drive: a simulated SSD behind a block device, from a command.

- :mod:`.drive` opens, watches and stops it;
- :mod:`.exports` reads what ``--exports`` says;
- :mod:`.conditions` checks what ``--assert`` says.

Must not know: studies, papers, commands.
"""
