import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runWithFewDescriptors } from '@dock/testkit/src/run-with-few-descriptors.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const hasMachineSpareCpu = vi.fn(() => false)
vi.mock('../system/spare-cpu.ts', () => ({ hasSpareCpu: hasMachineSpareCpu }))
const { runDetached } = await import('./run-detached.ts')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-detached-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** A fake boot. `begun` resolves to its scheduling policy, and `end` lets it become ready. */
const boot = (name: string) => {
  const [noted, go] = [join(folder, name), join(folder, `${name}-go`)]
  const script = 'chrt -p $$ >"$1.new"; mv "$1.new" "$1"; until [ -e "$2" ]; do sleep 0.01; done; echo 0'
  const ready = runDetached('/bin/sh', ['-c', script, 'boot', noted, go])
  const policy = async () => /SCHED_\w+/.exec(await readFile(noted, 'utf8'))?.[0]
  const begun = vi.waitFor(policy, { timeout: 10_000 })
  return { begun, end: () => writeFile(go, '').then(() => ready) }
}

test('on a busy machine, concurrent boots run under SCHED_BATCH and a single one does not', async () => {
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

test('with a spare processor, a single boot runs under SCHED_BATCH', async () => {
  hasMachineSpareCpu.mockReturnValueOnce(true)
  const alone = boot('alone')
  expect(await alone.begun).toBe('SCHED_BATCH')
  await alone.end()
})

test('when no descriptor is left, a boot fails, and the process goes on', async () => {
  const outcome = await runWithFewDescriptors(`
    const { runDetached } = await import('${new URL('./run-detached.ts', import.meta.url)}')
    // While another boot is under way, it looks for no spare processor first, for which it would need a descriptor.
    runDetached('/bin/sleep', ['1']).catch(() => undefined)
    openAll()
    await runDetached('/bin/echo', ['0']).catch(() => console.log('rejected'))
    setTimeout(() => console.log('alive'), 100)`)
  expect(outcome).toEqual({ code: 0, printed: 'rejected\nalive\n' })
})
