import { newUuid } from '@dock/foundation'
import { SandboxGone, SandboxShortOfMemory } from '@dock/runtime'
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
