#!/bin/bash
exec python3 -c 'x = []
while True: x.append(bytes(10**7))'
