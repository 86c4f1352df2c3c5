#!/bin/bash
sleep 1000
