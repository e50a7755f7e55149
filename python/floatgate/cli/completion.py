"""``floatgate completion``: the script by which a shell completes commands, options and names."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from floatgate.cli.candidates import Candidate, of_line


class Shell(StrEnum):
    """A shell that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("completion")(completion)


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.", show_default=False)],
    line: Annotated[str | None, typer.Option(hidden=True)] = None,
    breaks: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Print a script that completes commands, options and names of drives, policies, keys and formats.

    bash: add 'source <(floatgate completion bash)' to ~/.bashrc. zsh: the same with zsh, behind compinit in ~/.zshrc.
    fish: floatgate completion fish > ~/.config/fish/completions/floatgate.fish
    """
    if line is None:
        sys.stdout.write(SCRIPTS[shell])
        return
    sys.stdout.writelines(f"{_shown(shell, one, line, breaks)}\n" for one in of_line(line))


def _shown(shell: Shell, one: Candidate, line: str, breaks: str) -> str:
    """Return a candidate as the script of a shell takes it.

    bash replaces the typed word behind the last character of ``breaks`` alone.
    """
    about = " ".join(one.about.split())
    if shell is Shell.BASH:
        typed = line[line.rfind(" ") + 1 :]
        cut = max((one.text[: len(typed)].rfind(mark) for mark in breaks if mark in "=:"), default=-1)
        return one.text[cut + 1 :]
    if shell is Shell.ZSH:
        text = one.text.replace(":", r"\:")
        return f"{text}:{about}" if about else text
    return f"{one.text}\t{about}" if about else one.text


SCRIPTS = {
    Shell.BASH: r"""_floatgate() {
    local IFS=$'\n'
    COMPREPLY=($(floatgate completion bash --line "${COMP_LINE:0:COMP_POINT}" --breaks "$COMP_WORDBREAKS" 2> /dev/null))
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace
    fi
}
complete -o default -F _floatgate floatgate
""",
    Shell.ZSH: r"""#compdef floatgate
_floatgate() {
    local -a words_ open closed
    local one
    words_=("${(@f)$(floatgate completion zsh --line "${(j: :)words[1,CURRENT]}" 2> /dev/null)}")
    for one in $words_; do
        if [[ ${one%%:*} == *= ]]; then open+=($one); else closed+=($one); fi
    done
    if (( $#open + $#closed == 0 )); then
        _files
        return
    fi
    (( $#closed )) && _describe floatgate closed
    (( $#open )) && _describe floatgate open -S ''
}
compdef _floatgate floatgate
""",
    Shell.FISH: r"""function __floatgate_complete
    set -l words (floatgate completion fish --line (commandline -cp | string collect) 2> /dev/null)
    if test (count $words) -gt 0
        printf '%s\n' $words
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c floatgate -f -a '(__floatgate_complete)'
""",
}
"""Scripts that hand the line up to the cursor to ``floatgate completion SHELL --line LINE``."""
