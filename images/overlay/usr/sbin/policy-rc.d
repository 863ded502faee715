#!/bin/sh
# A Dock has no init system: packages must not try to start services as they are installed.
exit 101
