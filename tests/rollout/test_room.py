import threading

import pytest

from envs_forge.rollout.room import Room, free_memory_mb


def test_the_sum_never_exceeds_the_limit_and_all_get_in():
    room, lock = Room(100), threading.Lock()
    inside, most, entered = [0], [0], [0]

    def work(size):
        with room.place(size) as let_in:
            assert let_in
            with lock:
                inside[0] += size
                most[0] = max(most[0], inside[0])
                entered[0] += 1
            threading.Event().wait(0.002)
            with lock:
                inside[0] -= size

    threads = [threading.Thread(target=work, args=(size,)) for size in [30, 60, 40, 100, 10] * 6]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entered[0] == 30
    assert most[0] <= 100


def test_what_is_too_large_goes_in_alone():
    room = Room(10)
    with room.place(50) as first:
        assert first
        waiting = threading.Event()
        thread = threading.Thread(target=lambda: room.place(1).__enter__() and waiting.set())
        thread.start()
        assert not waiting.wait(0.05)
    assert waiting.wait(10)
    thread.join()


def test_a_closed_room_lets_nobody_in():
    room = Room(10)
    with room.place(10):
        answers = []

        def wait():
            with room.place(5) as inside:
                answers.append(inside)

        thread = threading.Thread(target=wait)
        thread.start()
        room.close()
        thread.join()
    assert answers == [False]


def test_no_limit_is_no_limit():
    room = Room(None)
    with room.place(10**9) as one, room.place(10**9) as two:
        assert one
        assert two


@pytest.mark.parametrize(("text", "found"), [("MemTotal: 9 kB\nMemAvailable: 1048576 kB\n", 819), ("Mem: x\n", None)])
def test_free_memory_is_read_from_the_system(tmp_path, text, found):
    (tmp_path / "meminfo").write_text(text)
    assert free_memory_mb(tmp_path / "meminfo") == found
    assert free_memory_mb(tmp_path / "nothing") is None
