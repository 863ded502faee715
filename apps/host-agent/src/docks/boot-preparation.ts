/**
 * What the first process inside a sandbox writes before all else: the Dock's host name, hosts file, nameserver, machine-id
 * and SSH host keys, and its variables. The host never writes into a disk that a tenant has used: its links could lead out.
 */
import { randomUUID } from 'node:crypto'
import type { DockVariables } from '@dock/host-protocol'
import type { SandboxSpec } from '@dock/runtime'
import { takeVariables, variablesFile } from './variables.ts'

// Bash builtins wherever possible: a fork costs 18 ms in a sandbox. The tenant's own lines in /etc/hosts are kept.
const script = `${takeVariables}
set -u
[ "$DOCK_BYTES" -eq 0 ] || take_variables || return $?
replace() { # path, content: writes only what differs, in place of a link rather than through it
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
# Keys take a third of a second to make: only for a server that would use them. A package that brings one later makes
# its first keys itself, where none of another Dock are left.
if [ -n "$DOCK_NEW_IDENTITY" ]; then
  keys=(/etc/ssh/ssh_host_*_key*)
  if [ -e "\${keys[0]}" ]; then rm -f "\${keys[@]}"; fi
  if [ -x /usr/sbin/sshd ]; then /usr/bin/ssh-keygen -q -A || return 15; fi
fi
return 0
`

/** What the first process of a sandbox does before all else to make it this Dock's. */
export function bootPreparation(wanted: {
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
