import signal
import threading

import pytest

from envs_forge.sandbox.interrupts import deferred_interrupts


def test_an_interrupt_arrives_at_the_end_of_the_block() -> None:
    done = []

    def clean_up() -> None:
        with deferred_interrupts():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        clean_up()
    assert done == ["cleaned up"]


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_pass_through() -> None:
    ran = []

    def work() -> None:
        with deferred_interrupts():
            ran.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [True]
