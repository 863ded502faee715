/**
 * The part of git's system configuration that sends a Dock's selected repositories through its door, and nothing else. It
 * lies in the sandbox's memory and is made at each boot; on the disk is one line that includes it where it exists, so a
 * Snapshot, branch or Template keeps no address and no selection of another Dock.
 */
import type { Repository } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { gitDoorPort } from '../network/filter-rules.ts'
import { variablesFolder } from './variables.ts'

type Selected = Pick<Repository, 'url' | 'doorPath'>

const writeTimeoutMs = 10_000
const configPath = `${variablesFolder}/gitconfig`

const withoutSuffix = (text: string): string => text.replace(/\.git$/, '')

/** With more repositories than this, git would read long in its configuration; the door sends other names on as well. */
const exactMax = 50

/** What the names of repositories are made of, at the providers. */
const nameCharacters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-']

const rule = (from: string, to: string): string => `[url "${to}"]\n\tinsteadOf = ${from}\n`

/**
 * The configuration. `insteadOf` takes any address that begins like the one it names, and of several rules the longest
 * counts. So for each way in which another name could begin like a selected one, a rule leaves the address as it is.
 */
export function gitConfig(repositories: readonly Selected[], gateway: string): string {
  const door = `http://${gateway}:${gitDoorPort}`
  const rules = new Map<string, string>()
  for (const { url } of repositories.slice(0, exactMax))
    for (const address of [url, withoutSuffix(url)])
      for (const character of nameCharacters) rules.set(address + character, address + character)
  for (const { url, doorPath } of repositories) {
    rules.set(url, `${door}/${doorPath}`)
    rules.set(withoutSuffix(url), `${door}/${withoutSuffix(doorPath)}`)
  }
  return [
    // Variables that name a proxy are not meant for the Dock's own gateway.
    `[http "${door}/"]\n\tproxy =\n`,
    ...[...rules].map(([from, to]) => rule(from, to)),
  ].join('')
}

// Builtins only, but for the folder: a fork costs 18 ms. Input is read by its length, since up to a delimiter bash would
// read byte by byte.
const writer = `
LC_ALL=C
IFS= read -rN "$DOCK_BYTES" config
[ -d ${variablesFolder} ] || /bin/mkdir -p ${variablesFolder} || exit 11
umask 022
printf '%s' "$config" >${configPath} || exit 12
known=
[ ! -r /etc/gitconfig ] || IFS= read -rd '' known </etc/gitconfig
case "$known" in *'path = ${configPath}'*) exit 0 ;; esac
printf '\\n# The repositories of this Dock, while it has any.\\n[include]\\n\\tpath = ${configPath}\\n' >>/etc/gitconfig || exit 13
`

/** Writes the configuration into the sandbox, in place of what it had. */
export async function giveGitConfig(
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  repositories: readonly Selected[],
  gateway: string,
): Promise<void> {
  const input = gitConfig(repositories, gateway)
  const { exitCode } = await driver.exec(sandbox, {
    argv: ['/bin/bash', '-c', writer],
    env: { PATH: '/usr/bin:/bin', DOCK_BYTES: String(Buffer.byteLength(input)) },
    ...{ cwd: '/', uid: 0, gid: 0, timeoutMs: writeTimeoutMs, outputLimitBytes: 1024, input },
  })
  if (exitCode !== 0) throw new Error(`the sandbox did not take git's configuration: exit ${exitCode}`)
}
