#!/bin/bash
mkdir -p /logs/verifier/reward.txt
