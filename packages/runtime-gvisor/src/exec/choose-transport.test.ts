import { openSync, writeSync } from 'node:fs'
import { createLogger } from '@dock/foundation'
import { expect, test, vi } from 'vitest'
import { chooseTransport } from './choose-transport.ts'
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

test('commands use the preferred transport once its probe matched the proven one', async () => {
  const [preferred, proven] = [pretended('preferred', 'same', 7), pretended('proven', 'same', 7)]
  const chosen = chooseTransport(preferred.transport, proven.transport, logger)
  await Promise.all([1, 2].map(() => chosen.start('id', command, [0, nowhere, 2])))
  expect(chosen.name).toBe('preferred')
  expect(preferred.started).toEqual(['/bin/bash', '/wanted', '/wanted'])
  expect(proven.started).toEqual(['/bin/bash'])
})

test('a mismatch in two sandboxes makes all commands use the proven transport, with a warning', async () => {
  const warned = vi.spyOn(logger, 'warn')
  const [preferred, proven] = [pretended('preferred', 'other', 7), pretended('proven', 'same', 7)]
  const chosen = chooseTransport(preferred.transport, proven.transport, logger)
  for (const id of ['one', 'two', 'three', 'one']) await chosen.start(id, command, [0, nowhere, 2])
  expect(chosen.name).toBe('proven')
  expect(preferred.started).toEqual(['/bin/bash', '/bin/bash'])
  expect(proven.started.filter((program) => program === '/wanted')).toHaveLength(4)
  expect(warned).toHaveBeenCalledTimes(2)
})

test('a mismatch in one sandbox is probed once and affects only its own commands', async () => {
  const [preferred, proven] = [pretended('preferred', 'same', 7), pretended('proven', 'same', 7)]
  const slow = vi.spyOn(preferred.transport, 'start').mockRejectedValueOnce(new Error('no answer'))
  const chosen = chooseTransport(preferred.transport, proven.transport, logger)
  for (let run = 0; run < 2; run++) await chosen.start('one', command, [0, nowhere, 2])
  expect(slow).toHaveBeenCalledOnce()
  expect(proven.started).toEqual(['/bin/bash', '/wanted', '/wanted'])
  await chosen.start('two', command, [0, nowhere, 2])
  expect(chosen.name).toBe('preferred')
  expect(preferred.started).toEqual(['/bin/bash', '/wanted'])
})

test('a sandbox in which no probe runs decides nothing', async () => {
  const [preferred, proven] = [pretended('preferred', '', 1), pretended('proven', '', 1)]
  const chosen = chooseTransport(preferred.transport, proven.transport, logger)
  await chosen.start('broken', command, [0, nowhere, 2])
  expect(proven.started).toEqual(['/bin/bash', '/wanted'])
  await chosen.start('broken', command, [0, nowhere, 2])
  expect(preferred.started).toEqual(['/bin/bash', '/bin/bash'])
})
