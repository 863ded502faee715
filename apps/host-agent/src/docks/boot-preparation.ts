/**
 * Script that the first process inside a sandbox runs before anything else. It writes the Dock's host name, hosts file,
 * nameserver, machine-id, SSH host keys and variables. The host itself never writes to a disk that a tenant has used,
 * because a symbolic link on that disk could lead out of it.
 */
import { randomUUID } from 'node:crypto'
import type { DockVariables } from '@dock/host-protocol'
import type { SandboxSpec } from '@dock/runtime'
import { dockUser } from '../sandboxes/login-shell.ts'
import { takeVariables, variablesFile, variablesFolder } from './variables.ts'

/** The folder in the memory of every sandbox. */
export const memoryFolder = { path: variablesFolder, gid: dockUser.gid }

// Uses bash builtins where possible: a fork costs 18 ms in a sandbox. Keeps the tenant's own lines in /etc/hosts.
const script = `${takeVariables}
set -u
[ "$DOCK_BYTES" -eq 0 ] || take_variables || return $?
replace() { # path, content: writes the file only if it differs. A link is replaced, not followed.
  if [ -L "$1" ]; then rm -f "$1"; fi
  local now=''
  if [ -r "$1" ]; then IFS= read -rd '' now <"$1"; fi
  [ "$now" = "$2"$'\\n' ] || printf '%s\\n' "$2" >"$1"
}
replace /etc/hostname "$DOCK_HOSTNAME" || return 11
lines=()
if [ -r /etc/hosts ]; then mapfile -t lines </etc/hosts; fi
hosts='' local_seen=
for line in "\${lines[@]}"; do
  case "$line" in
    127.0.1.1[[:space:]]*) continue ;;
    127.0.0.1[[:space:]]*localhost*) local_seen=1 ;;
  esac
  hosts+="$line"$'\\n'
done
[ -n "$local_seen" ] || hosts="127.0.0.1 localhost"$'\\n'"::1 localhost ip6-localhost ip6-loopback"$'\\n'"$hosts"
replace /etc/hosts "\${hosts}127.0.1.1 $DOCK_HOSTNAME" || return 12
replace /etc/resolv.conf "nameserver $DOCK_NAMESERVER" || return 13
machine_id=
if [ -r /etc/machine-id ]; then read -r machine_id </etc/machine-id; fi
if [ -n "$DOCK_NEW_IDENTITY" ] || [ "\${#machine_id}" -ne 32 ]; then
  replace /etc/machine-id "$DOCK_MACHINE_ID" || return 14
fi
# Making keys takes a third of a second, so do it only if sshd is installed. A package that is installed later makes its
# own keys, because the keys of the other Dock are removed here.
if [ -n "$DOCK_NEW_IDENTITY" ]; then
  keys=(/etc/ssh/ssh_host_*_key*)
  if [ -e "\${keys[0]}" ]; then rm -f "\${keys[@]}"; fi
  if [ -x /usr/sbin/sshd ]; then /usr/bin/ssh-keygen -q -A || return 15; fi
fi
return 0
`

/** Returns the script and its input that give a sandbox the identity and variables of this Dock. */
export function buildBootScript(wanted: {
  hostname: string
  nameserver: string
  newIdentity: boolean
  variables: DockVariables
}): NonNullable<SandboxSpec['prepare']> {
  const input = variablesFile(wanted.variables)
  return {
    script,
    input,
    env: {
      HOME: '/root',
      DOCK_HOSTNAME: wanted.hostname,
      DOCK_NAMESERVER: wanted.nameserver,
      DOCK_NEW_IDENTITY: wanted.newIdentity ? '1' : '',
      DOCK_MACHINE_ID: randomUUID().replaceAll('-', ''),
      DOCK_BYTES: String(input.length),
    },
  }
}
