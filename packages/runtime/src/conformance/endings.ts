/** Commands that are ended early, with everything they started. */
import { expect, test } from 'vitest'
import type { ExecReference, ExecRequest } from '../driver.ts'
import { request, type Subject } from './subject.ts'

export function describeEndings(subject: Subject): void {
  const left = async (): Promise<string[]> => {
    // Starts no program for each process, which would take longer than all else here.
    const words = 'while read -r -d "" word; do printf "%s " "$word"; done'
    const list = `for f in /proc/[0-9]*/cmdline; do ${words} <$f; echo; done 2>/dev/null`
    const lines = (await subject.text(list)).split('\n').map((line) => line.trim())
    return lines.filter((line) => line.startsWith('sleep 777')).sort()
  }

  test.runIf(subject.hasShell)(
    'the timeout kills the whole process tree, even processes that detached themselves',
    async () => {
      const script = `
      setsid sleep 7771 & nohup sleep 7772 >/dev/null & (sleep 7773 &)
      env -i setsid bash -c 'env -i sleep 7774 & sleep 7775 &'
      (env -i setsid unshare --user sleep 7776 &)
      exec sleep 7777`
      for (let round = 0; round < 3; round++) {
        const result = await subject.driver.exec(
          subject.handle,
          request(script, { timeoutMs: 700, uid: 1000, gid: 1000 }),
        )
        expect(result.timedOut).toBe(true)
        expect(await left()).toEqual([])
      }
    },
  )

  test.runIf(subject.hasShell)(
    'background processes of an earlier command survive the timeout of a later one',
    async () => {
      await subject.driver.exec(subject.handle, request('setsid sleep 7778 & env -i setsid sleep 7779 &'))
      await expect.poll(left, { timeout: 30_000 }).toEqual(['sleep 7778', 'sleep 7779'])
      const later = await subject.driver.exec(
        subject.handle,
        request('setsid sleep 7771 & sleep 7772', { timeoutMs: 500 }),
      )
      expect(later.timedOut).toBe(true)
      expect(await left()).toEqual(['sleep 7778', 'sleep 7779'])
    },
  )

  test.runIf(subject.hasShell)('aborting a command kills its process tree', async () => {
    const abort = new AbortController()
    const result = await subject.driver.exec(
      subject.handle,
      request('setsid sleep 7771 & echo here; sleep 7772', {
        signal: abort.signal,
        onOutput: () => abort.abort(),
      }),
    )
    expect(result).toMatchObject({ timedOut: false, exitCode: 137 })
    expect(await left()).toEqual(['sleep 7778', 'sleep 7779'])
  })

  test('another driver instance finds a command, waits for it and ends it', async () => {
    const { promise: started, resolve } = Promise.withResolvers<ExecReference>()
    const running = subject.driver.exec(subject.handle, request('sleep 7773', { onStarted: resolve }))
    const reference = JSON.parse(JSON.stringify(await started)) as ExecReference
    const other = subject.makeDriver()
    expect((await other.abandonedExecs(subject.handle)).map(({ mark }) => mark)).toEqual([reference.mark])
    const code = other.waitForExec(subject.handle, reference)
    await other.endExec(subject.handle, reference)
    expect((await running).exitCode).toBe(137)
    expect([137, undefined]).toContain(await code)
    expect(await other.waitForExec(subject.handle, reference)).toBeUndefined()
    expect(await subject.driver.abandonedExecs(subject.handle)).toEqual([])
  })

  test('aborting a command that only sleeps ends it', async () => {
    const abort = new AbortController()
    const result = await subject.driver.exec(
      subject.handle,
      request('sleep 7773', { signal: abort.signal, onStarted: () => abort.abort() }),
    )
    expect(result).toMatchObject({ timedOut: false, exitCode: 137 })
  })

  test.runIf(subject.hasShell)(
    'another driver instance finds running commands as abandoned, but not leftovers of ended ones',
    async () => {
      const { driver, handle } = subject
      const other = subject.makeDriver()
      const begin = (script: string, more: Partial<ExecRequest> = {}) => {
        const { promise: started, resolve } = Promise.withResolvers<ExecReference>()
        const exitCode = driver
          .exec(handle, request(script, { ...more, onStarted: resolve }))
          .then((result) => result.exitCode)
        return started.then((reference) => ({ reference, exitCode }))
      }
      const user = { uid: 1000, gid: 1000 }
      const [plain, hidden] = [
        await begin('setsid sleep 7771 & sleep 7772', user),
        await begin('exec env -i setsid --fork --wait sleep 7773'),
      ]
      await expect
        .poll(left, { timeout: 30_000 })
        .toEqual(expect.arrayContaining(['sleep 7771', 'sleep 7772', 'sleep 7773']))
      const found = await other.abandonedExecs(handle)
      expect(found).toHaveLength(2)
      expect(found.map(({ mark }) => mark)).toContain(plain.reference.mark)
      expect(await driver.abandonedExecs(handle)).toEqual([])
      for (const each of found) await other.endExec(handle, each)
      expect([await plain.exitCode, await hidden.exitCode]).toEqual([137, 137])
      expect(await left()).toEqual(['sleep 7778', 'sleep 7779'])
      expect(await other.abandonedExecs(handle)).toEqual([])
    },
  )
}
