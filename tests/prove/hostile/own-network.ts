/**
 * Runs a program in a separate network namespace with a separate /etc/resolv.conf, so that a proof can flush firewall
 * rules, flood the network and serve DNS without affecting this machine. Both are removed when the program ends.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Address of the proofs' DNS server, in their simulated internet. */
export const nameServer = '198.51.100.53'
const mark = 'DOCK_HOSTILE_NETWORK'

/** True in the program that {@link runInOwnNetwork} started. */
export function isInOwnNetwork(): boolean {
  return process.env[mark] === 'own'
}

const processesIn = (name: string): number[] =>
  execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .split('\n')
    .filter(Boolean)
    .map(Number)

/** Ends processes that a hanging part left in the namespace: first with SIGINT, after 20 s with SIGKILL. */
const endAll = async (name: string): Promise<void> => {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    for (const pid of processesIn(name)) {
      try {
        process.kill(pid, signal)
      } catch {
        // The process has just ended.
      }
    }
    for (let look = 0; look < 100 && processesIn(name).length > 0; look++) await delay(200)
  }
}

/** Starts this program again in a new namespace. Resolves with its exit code. */
export async function runInOwnNetwork(args: readonly string[]): Promise<number> {
  const name = `dock-hostile-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'dock-hostile-'))
  const resolvConf = join(folder, 'resolv.conf')
  writeFileSync(resolvConf, `nameserver ${nameServer}\n`)
  execFileSync('ip', ['netns', 'add', name])
  try {
    execFileSync('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
    const mountAndRun = 'mount --bind "$0" "$(realpath /etc/resolv.conf)" && exec "$@"'
    const child = spawn(
      'nsenter',
      [
        ...[`--net=/run/netns/${name}`, 'unshare', '--mount', '--propagation', 'private', '--'],
        ...['sh', '-c', mountAndRun, resolvConf, process.execPath, ...args],
      ],
      { stdio: 'inherit', env: { ...process.env, [mark]: 'own' } },
    )
    return await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 128)))
  } finally {
    await endAll(name)
    execFileSync('ip', ['netns', 'delete', name])
    rmSync(folder, { recursive: true })
  }
}
