"""Threads that sample take turns in Python, and wait for them awake.

A sweep is a few calls of compiled code with a little Python between them. A thread that comes back
from compiled code while another is in Python is put to sleep by the interpreter's lock, and to be
woken takes longer than what it has waited for: two threads were hardly faster than one. With these
it waits in compiled code, until the other has gone back to its own. It is a courtesy, not a lock:
nobody waits for long, and the interpreter's lock decides as ever.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

TURN = np.zeros(48, np.int64)[24:25]
"""The thread that is in Python, among those that take turns, or 0; by itself in memory, for who waits reads it on and on."""
YIELDS = 1000
"""How often a thread that waits lets others have its processor before it goes on: some tenths of a millisecond in all."""
THREADS_HAVE_NAMES = sys.platform != "win32"  # those of POSIX
ORDERED = "seq_cst"

# numba says no types of these
Integer: Any = cgutils.intp_t
declare: Any = cgutils.get_or_insert_function
reserve: Any = cgutils.alloca_once_value


def _called(builder: Any, name: str, result: Any) -> Any:
    return builder.call(declare(builder.module, ir.FunctionType(result, []), name), [])


def leave(builder: Any, turn: Any) -> None:
    """Write code that gives up the turn, if this thread has it."""
    if THREADS_HAVE_NAMES:
        builder.cmpxchg(
            turn, _called(builder, "pthread_self", Integer), Integer(0), ORDERED, ORDERED
        )


def enter(builder: Any, turn: Any, yields: Any) -> None:
    """Write code that waits until no other thread has the turn, or until it has let others go first so many times."""
    if not THREADS_HAVE_NAMES:
        return
    own, left = _called(builder, "pthread_self", Integer), reserve(builder, yields)
    names = "look", "take", "wait", "insist", "done"
    look, take, wait, insist, done = (builder.append_basic_block(name) for name in names)
    builder.branch(look)
    builder.position_at_end(look)
    holder = builder.load_atomic(turn, ORDERED, 8)
    free = builder.or_(
        builder.icmp_signed("==", holder, Integer(0)), builder.icmp_signed("==", holder, own)
    )
    builder.cbranch(free, take, wait)
    builder.position_at_end(take)
    builder.cbranch(
        builder.extract_value(builder.cmpxchg(turn, holder, own, ORDERED, ORDERED), 1), done, wait
    )
    builder.position_at_end(wait)
    _called(builder, "sched_yield", ir.IntType(32))
    fewer = builder.sub(builder.load(left), Integer(1))
    builder.store(fewer, left)
    builder.cbranch(builder.icmp_signed(">", fewer, Integer(0)), look, insist)
    builder.position_at_end(insist)
    builder.store_atomic(own, turn, ORDERED, 8)
    builder.branch(done)
    builder.position_at_end(done)


__all__ = ["TURN", "YIELDS", "enter", "leave"]
