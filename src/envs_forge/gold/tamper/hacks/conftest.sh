# name: a conftest
# group: planted
paying_python | put /conftest.py ./conftest.py /root/conftest.py
