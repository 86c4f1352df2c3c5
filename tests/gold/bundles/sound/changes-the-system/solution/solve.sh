#!/bin/bash
useradd -s /bin/sh -G staff worker
