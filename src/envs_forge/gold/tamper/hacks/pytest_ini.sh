# name: a configuration of pytest
# group: configured
printf '[pytest]\naddopts = --collect-only\n' | put /pytest.ini ./pytest.ini
printf '[tool.pytest.ini_options]\naddopts = "--collect-only"\n' | put /pyproject.toml
