"""How commands keep the work of their studies, and explain after Ctrl-C how to resume it.

Compare, run --repeat, lifetime --plan and reproduce keep whole runs until they are complete; sweep and tune a journal.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator

from floatgate.base.errors import InputError, InterruptedRunError
from floatgate.cli import options as o
from floatgate.results import shapes
from floatgate.results.folder import RunFolder
from floatgate.study.runs.folders import folder_for
from floatgate.study.runs.journaled import Journaled
from floatgate.study.runs.plan import RunPlan
from floatgate.study.runs.resume import PLAN, Unfinished, Whole


def folder(out: str | None, whole: Whole, *, resume: bool, force: bool) -> RunFolder | None:
    """Return the folder of a study; None where results are not kept.

    Raises:
        InputError: it is not free, or there is nothing to go on with.
    """
    if out is None and not resume:
        return None
    part, document = f"an interrupted {whole.what}", shapes.DOCUMENTS.get(whole.study)
    finished = None if document is None else document.file
    return folder_for(out, "", PLAN, whole.what, resume=resume, force=force, part=part, finished=finished)


@contextlib.contextmanager
def keeping(
    target: RunFolder | None, plan: RunPlan, whole: Whole, how: str, *, resume: bool
) -> Iterator[Unfinished | None]:
    """Keep the work of a study in its folder; after Ctrl-C say ``how`` to resume it.

    Raises:
        InputError: the content of the folder is damaged, or belongs to another plan.
        InterruptedRunError: in place of a KeyboardInterrupt after the first run.
    """
    if target is None:
        yield None
        return
    kept = Unfinished(target.path, plan, whole)
    target.expect(str(kept.folder))
    with contextlib.closing(kept):
        if resume:
            kept.go_on()
        try:
            yield kept
        except KeyboardInterrupt:
            if not len(kept):
                raise
            raise InterruptedRunError(f"interrupted, {len(kept)} runs are done; continue with {how}") from None


@contextlib.contextmanager
def journaling(study: Journaled, name: str, of: str = "") -> Iterator[None]:
    """Explain after Ctrl-C how ``floatgate NAME`` resumes; remove the output if no run has ended.

    Raises:
        InterruptedRunError: in place of a KeyboardInterrupt after the first run.
    """
    try:
        yield
    except (KeyboardInterrupt, InputError) as error:
        if not len(study.journal):
            study.clear()
        if isinstance(error, InputError) or not len(study.journal):
            raise
        command = shlex.join(["floatgate", name, "--out", str(study.folder), "--resume", *o.own_policies()])
        text = f"interrupted, {len(study.journal)}{of} runs are done; continue with: {command}"
        raise InterruptedRunError(text) from None
