import { once } from 'node:events'
import { duplexPair, PassThrough } from 'node:stream'
import { Precedence } from '@dock/foundation'
import { FrameReader } from '@dock/host-protocol'
import { expect, test } from 'vitest'
import { pipeProcess } from './pipe-process.ts'

/** Sends what a program wrote before it was killed for memory, and returns what its owner reads. */
const readKilled = async (
  written: string,
  isTerminal: boolean,
): Promise<{ stdout: string; stderr: string }> => {
  const [near, far] = duplexPair()
  const [stdout, stderr] = [new PassThrough(), isTerminal ? null : new PassThrough()]
  const opened = {
    ...{ reference: { pid: 7, mark: 'mark' }, stdin: null, stdout, stderr },
    ...{ exited: Promise.reject(new Error('not asked')), resize: () => undefined },
  }
  opened.exited.catch(() => undefined)
  const end = { exitCode: null, signal: 'KILL', killedForMemory: ['cc1'] }
  const ended = Promise.resolve(end)
  const process = { opened, ended, lastLine: () => 'dock: cc1 was ended', hangUp: async () => undefined }
  pipeProcess(process, far, new Precedence())
  for (const output of [stdout, stderr]) output?.end(written)
  const seen = { stdout: '', stderr: '' }
  await new Promise<void>((resolve) => {
    const reader = new FrameReader({
      stdout: (bytes) => {
        seen.stdout += bytes
      },
      stderr: (bytes) => {
        seen.stderr += bytes
      },
      end: (text) => {
        expect(JSON.parse(text)).toEqual(end)
        resolve()
      },
    })
    near.on('data', (chunk: Buffer) => reader.feed(chunk))
  })
  return seen
}

test('the owner of a process that was killed for memory reads why, on a line of its own', async () => {
  expect(await readKilled('', false)).toEqual({ stdout: '', stderr: 'dock: cc1 was ended\n' })
  expect(await readKilled('line\n', false)).toEqual({
    stdout: 'line\n',
    stderr: 'line\ndock: cc1 was ended\n',
  })
  expect((await readKilled('half', false)).stderr).toBe('half\ndock: cc1 was ended\n')
  expect((await readKilled('half', true)).stdout).toBe('half\r\ndock: cc1 was ended\r\n')
})

test('a process whose connection closed while it was accepted is hung up', async () => {
  const [, far] = duplexPair()
  far.destroy()
  await once(far, 'close')
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const opened = {
    ...{ reference: { pid: 7, mark: 'mark' }, stdin: null, stdout, stderr },
    ...{ exited: new Promise<never>(() => undefined), resize: () => undefined },
  }
  let hangUps = 0
  const hangUp = async (): Promise<void> => {
    hangUps += 1
  }
  pipeProcess({ opened, ended: opened.exited, lastLine: () => null, hangUp }, far, new Precedence())
  expect(hangUps).toBe(1)
})
