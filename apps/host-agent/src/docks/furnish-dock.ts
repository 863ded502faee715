/**
 * What a sandbox is given while it already runs, by one command as root inside: the Dock's variables, and the host name
 * of one that came from the warm pool under another. Variables go through the command's standard input into a file on
 * the sandbox's tmpfs: never onto a disk, nor into any process's arguments.
 */
import type { DockVariables, SecretFiles } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { dockUser } from './login-shell.ts'
import { deliverFiles } from './secret-files.ts'

const timeoutMs = 10_000

// Builtins only: a fork costs 18 ms in a sandbox. Written with the Dock user's group, who may read it and not change it.
const script = `
set -u
variables=''
# By length: up to a delimiter it would be read byte by byte.
if [ "$DOCK_BYTES" -gt 0 ]; then LC_ALL=C; IFS= read -rN "$DOCK_BYTES" variables || exit 10; fi
if [ -n "$variables$DOCK_REPLACES" ]; then
  [ -d /run/dock ] || /bin/mkdir -p /run/dock || exit 11
  umask 027
  printf '%s' "$variables" >/run/dock/variables || exit 12
fi
if [ -n "$DOCK_HOSTNAME" ]; then
  umask 022
  printf '%s\\n' "$DOCK_HOSTNAME" >/etc/hostname || exit 14
  mapfile -t lines </etc/hosts
  hosts=''
  for line in "\${lines[@]}"; do
    case "$line" in 127.0.1.1[[:space:]]*) ;; *) hosts+="$line"$'\\n' ;; esac
  done
  printf '%s127.0.1.1 %s\\n' "$hosts" "$DOCK_HOSTNAME" >/etc/hosts || exit 15
fi
exit 0
`

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

/** A file for shells to source. What a command brought for itself stays: only what is not set is set. */
const variablesFile = (env: DockVariables): string =>
  Object.entries(env)
    .map(([name, value]) => `[ -n "\${${name}+x}" ] || export ${name}=${quoted(value)}\n`)
    .join('')

export type Furnishing = {
  env: DockVariables
  /** In place of those of before; undefined leaves what there is. */
  files?: SecretFiles | undefined
  /** Variables that are not given any more go: the Dock has run with others. */
  replaces?: boolean
  /** Null leaves the host name as it is. */
  hostname: string | null
}

const giveVariables = async (
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  { env, hostname, replaces }: Furnishing,
): Promise<void> => {
  const input = Buffer.from(variablesFile(env))
  if (input.length === 0 && hostname === null && !replaces) return
  const [result] = await Promise.all([
    driver.exec(sandbox, {
      argv: ['/bin/bash', '-c', script],
      env: {
        PATH: '/usr/bin:/bin',
        DOCK_BYTES: String(input.length),
        DOCK_HOSTNAME: hostname ?? '',
        DOCK_REPLACES: replaces ? '1' : '',
      },
      ...{ cwd: '/', uid: 0, gid: dockUser.gid, timeoutMs, outputLimitBytes: 1024, input },
    }),
    hostname === null ? null : driver.rename?.(sandbox, hostname),
  ])
  if (result.exitCode === 0) return
  throw new Error(`the sandbox did not take its variables: exit ${result.exitCode}`)
}

/** Does nothing when there is nothing to give. Throws when the sandbox does not take it. */
export const furnishDock = async (
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  furnishing: Furnishing,
): Promise<void> => {
  const { files } = furnishing
  await Promise.all([
    giveVariables(driver, sandbox, furnishing),
    files && deliverFiles(driver, sandbox, files),
  ])
}
