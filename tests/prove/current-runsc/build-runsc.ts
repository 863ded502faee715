/** Builds the release of gVisor that go.mod beside this file pins. */
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { tryCommand } from '@dock/foundation'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, '.tools/current-runsc')
const [downloadMs, buildMs] = [10 * 60_000, 60 * 60_000]

export type Build = { path: string } | { skipped: string }

/** Returns a program that was built before, or builds one. Says why if this machine has not what a build needs. */
export async function buildRunsc(): Promise<Build> {
  const pinned = /gvisor\.dev\/gvisor v0\.0\.0-(\d{8})\d{6}-([0-9a-f]{12})/.exec(
    readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8'),
  )
  if (!pinned) throw new Error('go.mod pins no version of gVisor')
  const [, date, commit] = pinned
  const path = join(folder, `runsc-${date}-${commit}`)
  if (existsSync(path)) return { path }
  mkdirSync(folder, { recursive: true })
  // Only what go.mod and go.sum pin, with the installed Go.
  const go = (args: readonly string[], timeoutMs: number) =>
    tryCommand(
      'nice',
      ['-n', '10', 'env', 'CGO_ENABLED=0', 'GOTOOLCHAIN=local', 'go', '-C', import.meta.dirname, ...args],
      {
        timeoutMs,
      },
    )
  const found = await go(['version'], 10_000)
  if (found.code !== 0) return { skipped: 'this machine has no Go' }
  const download = await go(['mod', 'download'], downloadMs)
  if (download.code !== 0)
    return { skipped: `the modules cannot be downloaded: ${download.stderr.trim().split('\n').at(-1)}` }
  console.log(`building gvisor.dev/gvisor/runsc of ${date}, commit ${commit}, with ${found.stdout.trim()}`)
  const began = performance.now()
  const version = `gvisor.dev/gvisor/runsc/version.version=0.0~${date}.0`
  const built = await go(
    ['build', '-trimpath', '-ldflags', `-X ${version}`, '-o', `${path}.new`, 'gvisor.dev/gvisor/runsc'],
    buildMs,
  )
  if (built.code !== 0) throw new Error(`runsc cannot be built: ${built.stderr.slice(-2000)}`)
  renameSync(`${path}.new`, path)
  console.log(`built in ${Math.round((performance.now() - began) / 1000)} s: ${path}`)
  return { path }
}
