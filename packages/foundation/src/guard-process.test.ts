import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { isStreamError } from './guard-process.ts'

const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)

/** Runs a guarded process with this code. Returns its exit code, or null if it was still running and was killed. */
const runGuarded = async (code: string, leave = 'process.exit(3)') => {
  const program = `
    import { Readable, PassThrough } from 'node:stream'
    const { guardProcess, runDescribed } = await import(${module('guard-process.ts')})
    const { createLogger } = await import(${module('logger.ts')})
    const counts = { stream: 0, other: 0 }
    const report = () => console.log(JSON.stringify(counts))
    guardProcess({ logger: createLogger('test'), count: (kind) => { counts[kind] += 1; report() }, leave: () => { ${leave} } })
    setTimeout(() => { console.log('still here'); process.exit(0) }, 300)
    ${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, log] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return {
    exitCode: child.exitCode,
    out,
    log: log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  }
}

const enqueueIntoCancelled = `
  let controller
  await new ReadableStream({ start: (given) => { controller = given } }).cancel()
  setTimeout(() => controller.enqueue('x'), 1)`

describe('guardProcess', () => {
  it('goes on after an error of a stream, and logs whose it was', async () => {
    const run = await runGuarded(`
      await runDescribed(() => ({ requestId: 'r1' }), async () => {
        await Promise.resolve()
        ${enqueueIntoCancelled}
      })`)
    expect(run.out).toContain('still here')
    expect(run.exitCode).toBe(0)
    expect(run.log.length).toBeGreaterThan(0)
    expect(run.log[0]).toMatchObject({ level: 50, requestId: 'r1', err: { code: 'ERR_INVALID_STATE' } })
  })

  it('begins to leave once, however many errors follow', async () => {
    const code = `for (const ms of [1, 20]) setTimeout(() => { throw new Error('x') }, ms)`
    const run = await runGuarded(code, `console.log('leaving')`)
    expect(run.out).toContain('{"stream":0,"other":2}')
    expect(run.out.match(/leaving/g)).toHaveLength(1)
  })

  it.each([
    [
      'a stream without a listener',
      `new PassThrough().destroy(Object.assign(new Error('x'), { code: 'ECONNRESET' }))`,
    ],
    ['a rejection that nobody takes', `Promise.reject(Object.assign(new Error('x'), { code: 'EPIPE' }))`],
    ['an aborted wait', `AbortSignal.abort().throwIfAborted()`],
  ])('goes on after an error of %s', async (_name, code) => {
    const run = await runGuarded(`setTimeout(() => { ${code} }, 1)`)
    expect(run.out).toBe('{"stream":1,"other":0}\nstill here\n')
  })

  it.each([
    ['an exception', `setTimeout(() => { null.x }, 1)`],
    ['a rejection', `Promise.reject(new TypeError('x'))`],
    ['what is no error', `Promise.reject('x')`],
  ])('leaves once after any other error: %s', async (_name, code) => {
    const run = await runGuarded(
      `${code}; setTimeout(() => { ${code} }, 5)`,
      'setTimeout(() => process.exit(3), 50)',
    )
    expect(run.exitCode).toBe(3)
    expect(run.log.map(({ level }) => level)).toEqual([60, 60])
  })

  it('leaves also if the way out throws', async () => {
    expect((await runGuarded(`setTimeout(() => { null.x }, 1)`, 'throw new Error()')).exitCode).toBe(1)
  })
})

describe('isStreamError', () => {
  it.each([
    'ERR_STREAM_PREMATURE_CLOSE',
    'ERR_STREAM_WRITE_AFTER_END',
    'ERR_HTTP2_INVALID_STREAM',
    'ECONNREFUSED',
  ])('is true for %s', (code) => expect(isStreamError(Object.assign(new Error('x'), { code }))).toBe(true))
  it('is true for a class that the program names, and for those derived from it', () => {
    class LinkLost extends Error {}
    class LinkTimeout extends LinkLost {}
    expect(
      [new LinkTimeout(), new LinkLost(), new Error()].map((each) => isStreamError(each, [LinkLost])),
    ).toEqual([true, true, false])
  })
  it.each(['ERR_INVALID_ARG_TYPE', 'ENOSPC', 'ERR_ASSERTION', '57014', undefined, 7])(
    'is false for %s',
    (code) => expect(isStreamError(Object.assign(new Error('x'), { code }))).toBe(false),
  )
})
