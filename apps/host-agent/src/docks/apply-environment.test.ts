import type { ExecRequest, ExecResult, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { expect, it } from 'vitest'
import { applyEnvironment } from './apply-environment.ts'

it('fails only when the files are delivered too, so that no part of it overlaps a later delivery', async () => {
  const { promise: files, resolve: finish } = Promise.withResolvers<void>()
  const driver = {
    exec: async (_: SandboxHandle, { uid }: ExecRequest) => {
      if (uid !== 0) await files
      return { exitCode: uid === 0 ? 12 : 0, stderr: Buffer.alloc(0) } as ExecResult
    },
  } as unknown as RuntimeDriver
  let isAnswered = false
  const answer = applyEnvironment(driver, {} as SandboxHandle, {
    env: { A: 'b' },
    files: [{ path: 'token', contents: 'x' }],
  }).finally(() => {
    isAnswered = true
  })
  answer.catch(() => undefined)
  await new Promise((resolve) => setImmediate(resolve))
  expect(isAnswered).toBe(false)
  finish()
  await expect(answer).rejects.toThrow('exit 12')
})
