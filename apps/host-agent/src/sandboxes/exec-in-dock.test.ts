import { newUuid } from '@dock/foundation'
import { SandboxGone, SandboxShortOfMemory } from '@dock/runtime'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { expect, test, vi } from 'vitest'
import type { DockState } from './dock-state.ts'
import { execInDock } from './exec-in-dock.ts'

test.each([
  { what: 'died', error: new SandboxGone('gone'), code: 'failed' },
  {
    what: 'ran out of memory and died',
    error: new SandboxGone('gone', { ranOutOfMemory: true }),
    code: 'out_of_memory',
  },
  {
    what: 'is alive but short of memory',
    error: new SandboxShortOfMemory('connect: EAGAIN'),
    code: 'out_of_memory',
  },
])('a command of a sandbox that $what is refused with $code', async ({ error, code }) => {
  const release = vi.fn()
  const dock = {
    execsInFlight: 0,
    use: async () => ({ sandbox: {}, release }),
    parts: { driver: { exec: () => Promise.reject(error) } },
  }
  const request = {
    ...{ dockId: newUuid(), generation: 1, command: 'true', env: {}, cwd: '/' },
    ...{ timeoutMs: 1000, outputLimitBytes: 100 },
  }
  await expect(execInDock(dock as unknown as DockState, request)).rejects.toMatchObject({ code })
  expect(release).toHaveBeenCalledOnce()
})

test('a command ends with its caller only if the request says so', async () => {
  const host = await createMemoryHost()
  const dockId = newUuid()
  await host.agent.docks.getForCommand(dockId).start(startCommand())
  const leaving = new AbortController()
  const exec = (command: string, more: object) =>
    host.agent.app.request(`/docks/${dockId}/exec`, {
      method: 'POST',
      signal: leaving.signal,
      body: JSON.stringify({
        ...{ generation: 1, command, env: {}, cwd: '/', timeoutMs: 60_000, outputLimitBytes: 100 },
        ...more,
      }),
    })
  const ended = exec('sleep 60', { endsWithCaller: true })
  void exec('sleep 61', {})
  await expect.poll(() => host.driver.executed.length).toBe(2)
  leaving.abort()
  expect(await (await ended).json()).toMatchObject({ exitCode: 137, timedOut: false })
  const wasAborted = host.driver.executed.map(({ argv, signal }) => [argv.at(-1), signal?.aborted])
  expect(Object.fromEntries(wasAborted)).toEqual({ 'sleep 60': true, 'sleep 61': undefined })
  host.driver.kill(dockId)
  await host.remove()
})
