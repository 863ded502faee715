import { expect, test } from 'vitest'
import { DumpReader } from './dump-reader.ts'
import type { Progress } from './sentry-answer.ts'

const read = (bytes: Buffer, pieceBytes: number) => {
  const reader = new DumpReader()
  let progress: Progress = 'open'
  for (let at = 0; at < bytes.length && progress === 'open'; at += pieceBytes)
    progress = reader.feed(bytes.subarray(at, at + pieceBytes))
  return { progress, reader }
}
const answerOf = (result: unknown) => Buffer.from(JSON.stringify({ success: true, err: '', result }))
const processOf = (pid: number, rssKiB: number, env: string[] = []) => ({
  ...{ exe: '/bin/sh', args: ['{"status":{', '"status":{"pid":9}'], env },
  cgroup: [{ status: { pid: 8, ppid: 1, comm: 'deeper', vm_rss: 1 } }],
  status: { pid, ppid: 1, comm: `né{${pid}`, vm_rss: rssKiB },
  maps: [{ status: 1 }],
})

test.each([1, 7, 64, 65_536])('keeps only the memory use of each process, in pieces of %i', (piece) => {
  const { progress, reader } = read(answerOf([processOf(1, 10), processOf(2, 20)]), piece)
  expect(progress).toBe('closed')
  expect(reader.answer()).toMatchObject({
    success: true,
    result: {
      isWhole: true,
      processes: [
        { pid: 1, parentPid: 1, name: 'né{1', rssBytes: 10_240 },
        { pid: 2, parentPid: 1, name: 'né{2', rssBytes: 20_480 },
      ],
    },
  })
})

test('keeps the text of a refusal', () => {
  const { progress, reader } = read(Buffer.from('{"success":false,"err":"no {task}","result":null}'), 5)
  expect(progress).toBe('closed')
  expect(reader.answer()).toMatchObject({ success: false, err: 'no {task}' })
})

test('a process with an empty name, or with less than 1 KiB, is read', () => {
  const result = [
    { status: { pid: 2, ppid: 0, vm_rss: 1 } },
    { status: { pid: 3, ppid: 2, comm: 'tiny' } },
    { status: { pid: 4, ppid: 2 } },
  ]
  expect(read(answerOf(result), 64).reader.answer().result).toMatchObject({
    isWhole: true,
    processes: [
      { pid: 2, parentPid: 0, name: '', rssBytes: 1024 },
      { pid: 3, parentPid: 2, name: 'tiny', rssBytes: 0 },
      { pid: 4, parentPid: 2, name: '', rssBytes: 0 },
    ],
  })
})

test('reads 4 MiB of a longer dump, and returns the processes seen so far', () => {
  const fat = Array.from({ length: 40 }, (_, index) => processOf(index + 1, 10, ['x'.repeat(2 ** 20)]))
  const { progress, reader } = read(answerOf(fat), 65_536)
  expect(progress).toBe('enough')
  expect(reader.answer()).toMatchObject({ success: true, result: { isWhole: false } })
  expect((reader.answer().result as { processes: unknown[] }).processes).toHaveLength(3)
})

test('refuses a status that is longer than the maximum', () => {
  const answer = answerOf([{ status: { pid: 1, ppid: 0, comm: 'x'.repeat(5000), vm_rss: 1 } }])
  expect(() => read(answer, 512)).toThrow('of another kind')
})
