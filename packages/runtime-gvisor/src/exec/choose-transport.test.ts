import { openSync, writeSync } from 'node:fs'
import { createLogger } from '@dock/foundation'
import { expect, test, vi } from 'vitest'
import { chooseTransport, type ProbeSandbox } from './choose-transport.ts'
import type { Command, ExecTransport } from './exec-transport.ts'

/** A fake transport whose commands print `output` and end with `exitCode`. */
const pretended = (name: string, output: string, exitCode: number) => {
  const started: string[] = []
  const transport: ExecTransport = {
    name,
    start: async (_, command, streams) => {
      started.push(command.argv.at(0) ?? '')
      writeSync(streams[1], output)
      return {
        pid: async () => 1,
        ended: Promise.resolve(exitCode),
        kill: async () => undefined,
        release: () => undefined,
      }
    },
  }
  return { transport, started }
}

const command: Command = { argv: ['/wanted'], env: {}, cwd: '/', uid: 0, gid: 0, alsoBounding: [] }
const nowhere = openSync('/dev/null', 'w')
const logger = createLogger('test')
logger.level = 'silent'

/** A chosen transport whose probes find these outputs. It counts the sandboxes that were booted and removed. */
const chooseBy = (preferredPrints: string, provenPrints: string, probeExit = 7) => {
  const [preferred, proven] = [pretended('preferred', '', 0), pretended('proven', '', 0)]
  const [socket, runsc] = [
    pretended('socket', preferredPrints, 7),
    pretended('runsc', provenPrints, probeExit),
  ]
  const counts = { booted: 0, removed: 0 }
  const boot = vi.fn(async (): Promise<ProbeSandbox> => {
    counts.booted++
    const close = async (): Promise<void> => void counts.removed++
    return { id: 'probe', preferred: socket.transport, proven: runsc.transport, close }
  })
  const chosen = chooseTransport(preferred.transport, proven.transport, boot, logger)
  return { chosen, preferred, proven, socket, runsc, counts, boot }
}

const startTwice = (chosen: ExecTransport) =>
  Promise.all([1, 2].map(() => chosen.start('id', command, [0, nowhere, 2])))

test('commands use the preferred transport once its probe matched, and the tenant runs no part of it', async () => {
  const { chosen, preferred, proven, socket, runsc, counts } = chooseBy('same', 'same')
  await startTwice(chosen)
  expect(chosen.name).toBe('preferred')
  expect(preferred.started).toEqual(['/wanted', '/wanted'])
  expect(proven.started).toEqual([])
  expect([socket.started, runsc.started]).toEqual([['/bin/bash'], ['/bin/bash']])
  expect(counts).toEqual({ booted: 1, removed: 1 })
})

test('a probe that ran beforehand is not repeated by the first command', async () => {
  const { chosen, preferred, counts } = chooseBy('same', 'same')
  await chosen.choose()
  await startTwice(chosen)
  expect(preferred.started).toEqual(['/wanted', '/wanted'])
  expect(counts).toEqual({ booted: 1, removed: 1 })
})

test('a mismatch in two sandboxes makes all commands use the proven transport, with a warning', async () => {
  const warned = vi.spyOn(logger, 'warn')
  const { chosen, preferred, proven, counts } = chooseBy('other', 'same')
  await startTwice(chosen)
  await startTwice(chosen)
  expect(chosen.name).toBe('proven')
  expect(preferred.started).toEqual([])
  expect(proven.started).toEqual(Array(4).fill('/wanted'))
  expect(counts).toEqual({ booted: 2, removed: 2 })
  expect(warned.mock.calls.at(-1)?.[0]).toMatch(/all commands now use proven/)
})

test('a mismatch in one sandbox decides nothing', async () => {
  const { chosen, preferred, socket, counts } = chooseBy('same', 'same')
  vi.spyOn(socket.transport, 'start').mockRejectedValueOnce(new Error('no answer'))
  await startTwice(chosen)
  expect(preferred.started).toEqual(['/wanted', '/wanted'])
  expect(counts).toEqual({ booted: 2, removed: 2 })
})

test('without a probe that says something commands use the proven transport, and a later one probes again', async () => {
  const { chosen, preferred, proven, boot } = chooseBy('same', 'same')
  boot.mockRejectedValueOnce(new Error('no room'))
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    await startTwice(chosen)
    await startTwice(chosen)
    expect(proven.started).toHaveLength(4)
    expect(boot).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(60_000)
    await startTwice(chosen)
  } finally {
    vi.useRealTimers()
  }
  expect(preferred.started).toEqual(['/wanted', '/wanted'])
})

test('a probe that fails through the proven transport too says nothing, and its sandbox is removed', async () => {
  const { chosen, proven, counts } = chooseBy('', '', 1)
  await startTwice(chosen)
  expect(proven.started).toEqual(['/wanted', '/wanted'])
  expect(chosen.name).toBe('preferred')
  expect(counts).toEqual({ booted: 1, removed: 1 })
})
