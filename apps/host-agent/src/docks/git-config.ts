/**
 * The part of git's system configuration that sends requests for a Dock's selected repositories, and nothing else, through
 * its git door. It is in the sandbox's memory and is written at each boot. The disk only has a line that includes the file
 * if it exists, so a Snapshot, branch or Template contains no address and no selection of another Dock.
 */
import type { Repository } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { gitDoorPort } from '../network/filter-rules.ts'
import { staticBash } from '../sandboxes/login-shell.ts'
import { variablesFolder } from './variables.ts'

type Selected = Pick<Repository, 'url' | 'doorPath'>

const writeTimeoutMs = 10_000
const configPath = `${variablesFolder}/gitconfig`

const withoutSuffix = (text: string): string => text.replace(/\.git$/, '')

/** Above this number, git would take too long to read the exact rules. The git door also forwards other names. */
const exactMax = 50

/** Characters that the providers allow in repository names. */
const nameCharacters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-']

const rule = (from: string, to: string): string => `[url "${to}"]\n\tinsteadOf = ${from}\n`

/**
 * Returns the configuration. `insteadOf` matches any address that begins with its value, and the longest matching rule
 * applies. To keep `owner/name` from matching `owner/name2`, a rule for each possible next character leaves such an address
 * unchanged.
 */
export function formatGitConfig(repositories: readonly Selected[], gateway: string): string {
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
    // A proxy variable must not apply to the Dock's own gateway.
    `[http "${door}/"]\n\tproxy =\n`,
    ...[...rules].map(([from, to]) => rule(from, to)),
  ].join('')
}

// Uses builtins except for mkdir: a fork costs 18 ms. Reads the input by its length, because bash reads byte by byte when it
// reads up to a delimiter.
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

/** Writes the configuration into the sandbox and replaces an earlier one. */
export async function writeGitConfig(
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  repositories: readonly Selected[],
  gateway: string,
): Promise<void> {
  const input = formatGitConfig(repositories, gateway)
  const { exitCode } = await driver.exec(sandbox, {
    argv: ['/bin/bash', '-c', writer],
    executable: staticBash,
    env: { PATH: '/usr/bin:/bin', DOCK_BYTES: String(Buffer.byteLength(input)) },
    ...{ cwd: '/', uid: 0, gid: 0, timeoutMs: writeTimeoutMs, outputLimitBytes: 1024, input },
  })
  if (exitCode !== 0) throw new Error(`the sandbox did not accept git's configuration: exit ${exitCode}`)
}
