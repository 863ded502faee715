/** A running sandbox: its identity, its processes, freezing and its end. */
import { expect, test } from 'vitest'
import { SandboxGone } from '../driver.ts'
import { request, type Subject } from './subject.ts'

export function describeSandbox(subject: Subject): void {
  test.runIf(subject.hasShell)(
    'a running sandbox can be renamed by the driver, but not by a process inside, unless its kernel is its own',
    async ({ skip }) => {
      const { rename } = subject.driver.capabilities
      if (!rename) return skip()
      const { hostname } = subject.spec
      await rename(subject.handle, 'another-name')
      expect(await subject.text('hostname')).toBe('another-name\n')
      if (!subject.rootMayRename) {
        const { exitCode } = await subject.driver.exec(subject.handle, request(`hostname ${hostname}`))
        expect(exitCode).not.toBe(0)
      }
      await rename(subject.handle, hostname)
      expect(await subject.text('hostname')).toBe(`${hostname}\n`)
    },
  )

  test('fingerprint names the driver and its release', async () => {
    const { driver, version } = await subject.driver.fingerprint()
    expect(driver).not.toBe('')
    expect(await subject.driver.readRelease()).toMatchObject({ version })
  })

  test('the handle contains Dock and generation and survives JSON', async () => {
    expect(subject.handle).toMatchObject({ dockId: subject.spec.dockId, generation: subject.spec.generation })
    expect(await subject.makeDriver().recover(JSON.parse(JSON.stringify(subject.handle)))).toBe('running')
  })

  test('a command waits while the sandbox is frozen; freeze and thaw are idempotent', async ({ skip }) => {
    const { freezing, readUsage } = subject.driver.capabilities
    if (!freezing) return skip()
    await freezing.freeze(subject.handle)
    await freezing.freeze(subject.handle)
    let answered = false
    const waiting = subject.driver
      .exec(subject.handle, request('echo thawed'))
      .finally(() => (answered = true))
    await readUsage?.(subject.handle)
    expect(answered).toBe(false)
    await freezing.thaw(subject.handle)
    await freezing.thaw(subject.handle)
    expect((await waiting).stdout.toString()).toBe('thawed\n')
  })

  test('process 1 is listed as a platform process', async () => {
    expect(await subject.driver.processes(subject.handle)).toContainEqual(
      expect.objectContaining({ pid: 1, uid: 0, isPlatform: true }),
    )
  })
}

/** Destroys the shared sandbox, so it must run last. */
export function describeDestroy(subject: Subject): void {
  test('destroy ends the sandbox, resolves wait, and is idempotent', async () => {
    const waiting = subject.driver.wait(subject.handle)
    await subject.driver.destroy(subject.handle)
    await waiting
    await subject.driver.wait(subject.handle)
    await subject.driver.destroy(subject.handle)
    expect(await subject.makeDriver().recover(subject.handle)).toBe('gone')
    expect((await subject.driver.list()).filter((each) => each.dockId === subject.spec.dockId)).toEqual([])
    await expect(subject.driver.exec(subject.handle, request('true'))).rejects.toThrow(SandboxGone)
  })
}
