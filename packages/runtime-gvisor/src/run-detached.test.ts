import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const isMachineCalm = vi.fn(() => false)
vi.mock('./calm.ts', () => ({ isCalm: isMachineCalm }))
const { runDetached } = await import('./run-detached.ts')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-detached-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** A boot that notes how it is scheduled and is ready when it is let go on; `begun` resolves once it has noted it. */
const boot = (name: string) => {
  const [noted, go] = [join(folder, name), join(folder, `${name}-go`)]
  const script = 'chrt -p $$ >"$1.new"; mv "$1.new" "$1"; until [ -e "$2" ]; do sleep 0.01; done; echo 0'
  const ready = runDetached('/bin/sh', ['-c', script, 'boot', noted, go])
  const policy = async () => /SCHED_\w+/.exec(await readFile(noted, 'utf8'))?.[0]
  const begun = vi.waitFor(policy, { timeout: 10_000 })
  return { begun, end: () => writeFile(go, '').then(() => ready) }
}

test('boots side by side are patient on a busy machine too, one alone is not', async () => {
  const first = boot('first')
  expect(await first.begun).toBe('SCHED_OTHER')
  const second = boot('second')
  expect(await second.begun).toBe('SCHED_BATCH')
  await first.end()
  await second.end()
  const third = boot('third')
  expect(await third.begun).toBe('SCHED_OTHER')
  await third.end()
  await expect(runDetached('/bin/false', [])).rejects.toThrow()
  const afterFailure = boot('after-failure')
  expect(await afterFailure.begun).toBe('SCHED_OTHER')
  await afterFailure.end()
})

test('a boot on a calm machine is patient', async () => {
  isMachineCalm.mockReturnValueOnce(true)
  const alone = boot('alone')
  expect(await alone.begun).toBe('SCHED_BATCH')
  await alone.end()
})
