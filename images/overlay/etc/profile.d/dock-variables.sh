# Variables of this Dock, for every login shell of its user. The platform keeps them in memory, never on the disk; a
# variable that is set already stays as it is. No process is made for it.
if [ -r /run/dock/variables ]; then
  . /run/dock/variables
fi
