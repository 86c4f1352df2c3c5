import threading
import time

from envs_forge.models.throttle import Throttle
from waiting import eventually


def test_first_come_first_served():
    throttle, order = Throttle(1, None), []

    def enter(number):
        with throttle.slot(1):
            order.append(number)

    with throttle.slot(1):
        threads = []
        for number in range(4):
            threads.append(threading.Thread(target=enter, args=(number,)))
            threads[-1].start()
            while len(throttle._line) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3]


def test_tokens_within_the_window_stay_below_the_limit():
    throttle = Throttle(None, 100, window_s=0.2)
    began, moments = time.monotonic(), []
    for _ in range(5):
        with throttle.slot(50):
            moments.append(time.monotonic())
    assert moments[2] - began >= 0.2
    assert moments[4] - began >= 0.4


def test_what_was_reserved_and_not_used_is_given_back():
    throttle = Throttle(None, 100, window_s=60)
    for _ in range(10):
        with throttle.slot(90) as spent:
            spent.tokens = 1


def test_a_request_larger_than_the_limit_goes_alone():
    throttle = Throttle(None, 100, window_s=0.1)
    with throttle.slot(500), throttle.slot(500):
        pass


def test_giving_up_while_waiting():
    throttle, over = Throttle(1, None), threading.Event()
    seen = []

    def enter():
        with throttle.slot(1, over.is_set) as spent:
            seen.append(spent)

    with throttle.slot(1):
        thread = threading.Thread(target=enter)
        thread.start()
        over.set()
        throttle.wake()
        thread.join(60)
    assert seen == [None]
    with throttle.slot(1) as spent:
        assert spent is not None


def test_a_pause_has_an_end():
    throttle = Throttle(None, None)
    throttle.pause(1e30)
    assert 0 < throttle.paused_s <= 86_400


def test_who_waits_hears_of_a_pause_at_once():
    throttle, entered = Throttle(1, None), []

    def enter():
        with throttle.slot(1, lambda: throttle.paused_s > 60) as spent:
            entered.append(spent)

    with throttle.slot(1):
        waiter = threading.Thread(target=enter)
        waiter.start()
        assert eventually(lambda: len(throttle._line) == 1)
        throttle.pause(3600)
        waiter.join(60)
        assert entered == [None]
