#!/bin/bash
yes 'all work and no play'
