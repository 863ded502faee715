import { ExecRefused, type ExecRequest } from '@dock/runtime'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { expect, test } from 'vitest'
import { ExecMarks } from '../sandbox/exec-mark.ts'
import type { Command, ExecTransport, StartedCommand } from './exec-transport.ts'
import { runInSandbox } from './run-in-sandbox.ts'

const request: ExecRequest = {
  ...{ argv: ['/bin/wanted'], env: {}, cwd: '/', uid: 1000, gid: 1000 },
  ...{ timeoutMs: 60_000, outputLimitBytes: 100 },
}

const started = (more: Partial<StartedCommand> = {}): StartedCommand => ({
  pid: async () => 5,
  ended: Promise.resolve(0),
  kill: async () => undefined,
  release: () => undefined,
  ...more,
})

/** A fake transport that passes the tested command to `wanted` and the end-tree program to `ending`. */
const transportOf = (
  wanted: (command: Command) => Promise<StartedCommand>,
  ending: (command: Command) => Promise<StartedCommand>,
): ExecTransport => ({
  name: 'pretended',
  start: (_, command) => (command.argv[0] === '/bin/wanted' ? wanted(command) : ending(command)),
})

const sandbox = {
  id: 'sandbox',
  isAlive: true,
  marks: new ExecMarks(),
  underWay: new Set<string>(),
  killedForMemory: new Map<number, string[]>(),
  endingForMemory: undefined,
}

test('a command that may or may not have started is ended', async () => {
  const { promise: ended, resolve } = Promise.withResolvers<Command>()
  let mark = ''
  const transport = transportOf(
    async ({ env }) => {
      mark = env.DOCK_EXEC_ID ?? ''
      throw new Error('no answer')
    },
    async (command) => {
      resolve(command)
      return started()
    },
  )
  await expect(runInSandbox(transport, sandbox, request)).rejects.toThrow('no answer')
  const { argv, uid } = await ended
  expect(argv).toContain(mark)
  expect(uid).toBe(0)
})

test('a refused command is not ended', async () => {
  const transport = transportOf(
    async () => {
      throw new ExecRefused('no such folder')
    },
    async () => {
      throw new Error('ended a command that never started')
    },
  )
  await expect(runInSandbox(transport, sandbox, request)).rejects.toThrow(ExecRefused)
})

test('a command whose number nobody tells rejects its caller only', async () => {
  const lost = async (): Promise<never> => {
    throw new Error('no number')
  }
  const transport = transportOf(
    async () => started({ pid: lost, ended: lost() }),
    async () => started(),
  )
  const uncaught = await uncaughtDuring(() =>
    expect(runInSandbox(transport, sandbox, request)).rejects.toThrow('no number'),
  )
  expect(uncaught).toEqual([])
})

test('if the sandbox has no bash, a command is killed from outside', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  const transport = transportOf(
    async () => started({ ended, kill: async () => end(137) }),
    async () => {
      throw new ExecRefused('no such file')
    },
  )
  const result = await runInSandbox(transport, sandbox, { ...request, timeoutMs: 1 })
  expect(result).toMatchObject({ exitCode: 137, timedOut: true })
})

test('a failed end-tree program is retried until it succeeds', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  let attempts = 0
  const transport = transportOf(
    async () => started({ ended }),
    async () => {
      attempts += 1
      if (attempts < 3) return started({ ended: Promise.resolve(1) })
      end(137)
      return started()
    },
  )
  const abort = AbortSignal.abort()
  const result = await runInSandbox(transport, sandbox, { ...request, signal: abort })
  expect(result).toMatchObject({ exitCode: 137, timedOut: false })
  expect(attempts).toBe(3)
})

test('a command that starts only after its timeout is still ended', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  const { promise: lookedFor, resolve: look } = Promise.withResolvers<void>()
  let runs = false
  const transport = transportOf(
    async () => {
      await lookedFor
      runs = true
      return started({ ended })
    },
    async () => {
      if (runs) end(137)
      look()
      return started()
    },
  )
  const result = await runInSandbox(transport, sandbox, { ...request, timeoutMs: 1 })
  expect(result).toMatchObject({ exitCode: 137, timedOut: true })
})

test('killedForMemory is complete even if the command ends before the kill is confirmed', async () => {
  const { promise: endingForMemory, resolve: confirm } = Promise.withResolvers<void>()
  const short = { ...sandbox, killedForMemory: new Map<number, string[]>(), endingForMemory }
  const transport = transportOf(
    async () => {
      setImmediate(() => {
        short.killedForMemory.get(5)?.push('hog')
        confirm()
      })
      return started({ ended: Promise.resolve(137) })
    },
    async () => started(),
  )
  expect(await runInSandbox(transport, short, request)).toMatchObject({
    exitCode: 137,
    killedForMemory: ['hog'],
  })
})

test('a command whose number is known only after its end leaves no number behind', async () => {
  const { promise: late, resolve: tell } = Promise.withResolvers<number>()
  const killedForMemory = new Map<number, string[]>()
  const transport = transportOf(
    async () => started({ pid: () => late }),
    async () => started(),
  )
  const references: unknown[] = []
  const onStarted = (reference: unknown) => void references.push(reference)
  await runInSandbox(transport, { ...sandbox, killedForMemory }, { ...request, onStarted })
  tell(5)
  await new Promise(setImmediate)
  expect([killedForMemory.size, references]).toEqual([0, []])
})
