/**
 * The memory of the control plane while a large file passes through it, which also holds the fake host's end here. The
 * client is another process. `DOCK_FILES_TEST_MIB=2048` repeats it with 2 GiB.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const mebibytes = Number(process.env.DOCK_FILES_TEST_MIB ?? '256')
const growthMaxBytes = 192 * 2 ** 20

let server: ControlPlaneWithHost
let folder: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  folder = mkdtempSync(join(tmpdir(), 'dock-memory-'))
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** Runs a script while it samples this process's resident memory. Returns how much that grew at most. */
const growthWhile = async (script: string, args: readonly string[]): Promise<number> => {
  const before = process.memoryUsage.rss()
  let highest = before
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss())
  }, 20)
  try {
    await promisify(execFile)('bash', ['-c', script, 'bash', ...args])
  } finally {
    clearInterval(timer)
  }
  return highest - before
}

it(`stays flat while ${mebibytes} MiB go up and down`, { timeout: 120_000 + mebibytes * 1000 }, async () => {
  const { port } = await server.listen()
  const id = await server.addDock()
  const path = join(folder, 'large')
  const url = `http://127.0.0.1:${port}/v1/docks/${id}/files?path=${encodeURIComponent(path)}`
  const args = [`authorization: Bearer ${server.admin.apiKey}`, url, `${mebibytes}M`]
  const up = await growthWhile(
    'set -o pipefail; head -c "$3" /dev/zero | curl -fsS -H "$1" -T - "$2" >/dev/null',
    args,
  )
  expect(statSync(path).size).toBe(mebibytes * 2 ** 20)
  const down = await growthWhile(
    'set -o pipefail; curl -fsS -H "$1" "$2" | cmp - <(head -c "$3" /dev/zero)',
    args,
  )
  process.stdout.write(`memory grew by ${up >> 20} MiB going up and ${down >> 20} MiB going down\n`)
  expect(Math.max(up, down)).toBeLessThan(growthMaxBytes)
})
