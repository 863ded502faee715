# Sets the variables of this Dock in every login shell of its user. The file is in memory, never on the disk. Variables that
# are already set keep their value. Uses no other program, because starting a process in a sandbox is slow.
if [ -r /run/dock/variables ]; then
  . /run/dock/variables
fi
