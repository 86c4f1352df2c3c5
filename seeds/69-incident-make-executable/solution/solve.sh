#!/bin/bash
set -euo pipefail

# 1. a file made executable
(
chmod a+x /app/incident/events/pricing-32.log
)
