import { newUuid } from '@dock/foundation'
import { beforeEach, expect, test, vi } from 'vitest'
import type { ExecTransport } from './exec-transport.ts'
import { runPlatformProgram } from './run-platform-program.ts'

type Program = { name: string; end: (code: number) => void; isKilled: boolean }

let programs: Program[]
let sandbox: string
beforeEach(() => {
  programs = []
  sandbox = newUuid()
})

const transport: ExecTransport = {
  name: 'test',
  start: async (_id, { argv }) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<number>()
    const program: Program = { name: argv[0]!, end, isKilled: false }
    programs.push(program)
    const kill = async (): Promise<void> => {
      program.isKilled = true
    }
    return { pid: async () => programs.length, ended, kill, release: () => undefined }
  },
}

const run = (name: string, lane: 'end-tree' | 'other' = 'other', id = sandbox, deadlineMs = 60_000) =>
  runPlatformProgram(transport, id, lane, { argv: [name], deadlineMs })
const names = () => programs.map(({ name }) => name)

test('the programs of a lane run one after the other, others beside them', async () => {
  const runs = [run('one'), run('two'), run('tree', 'end-tree'), run('neighbour', 'other', newUuid())]
  await vi.waitFor(() => expect(names()).toEqual(['one', 'tree', 'neighbour']))
  programs[0]!.end(3)
  expect((await runs[0]!).exitCode).toBe(3)
  await vi.waitFor(() => expect(names()).toEqual(['one', 'tree', 'neighbour', 'two']))
  for (const { end } of programs) end(0)
  await Promise.all(runs)
  expect(programs.map(({ isKilled }) => isKilled)).toEqual([false, false, false, false])
})

test('a program is killed at its deadline, which begins with its turn', async () => {
  const runs = [run('slow', 'other', sandbox, 200), run('next', 'other', sandbox, 190)]
  expect((await runs[0]!).exitCode).toBe('unknown')
  await vi.waitFor(() => expect(names()).toEqual(['slow', 'next']))
  programs[1]!.end(0)
  expect((await runs[1]!).exitCode).toBe(0)
  expect(programs.map(({ isKilled }) => isKilled)).toEqual([true, false])
})
