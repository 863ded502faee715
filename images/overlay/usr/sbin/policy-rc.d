#!/bin/sh
# A Dock has no init system, so packages must not start services when they are installed.
exit 101
