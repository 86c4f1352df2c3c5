# name: tests of its own
# group: planted
# live: holds
paying_program | put /tests/test.sh
paying_python | put /tests/conftest.py /tests/test_outputs.py
