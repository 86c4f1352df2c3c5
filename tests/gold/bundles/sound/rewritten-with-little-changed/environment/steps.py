def step_1(value):
    return value * 1 + 1


def step_2(value):
    return value * 2 + 4


def step_3(value):
    return value * 3 + 9


def step_4(value):
    return value * 4 + 16


def step_5(value):
    return value * 5 + 25


def step_6(value):
    return value * 6 + 36


def step_7(value):
    return value * 7 + 49


def step_8(value):
    return value * 8 + 64


def step_9(value):
    return value * 9 + 81


def step_10(value):
    return value * 10 + 100


def step_11(value):
    return value * 11 + 121


print(step_11(2))
