/** What holds when the connections to a guest break, and when the pump dies. Runs on any machine that is up. */
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createLogger, tryCommand } from '@dock/foundation'
import { type OpenProcess, type ProcessRequest, StreamsLost } from '@dock/runtime'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Machine } from '../../machine/machine.ts'
import { PumpClient } from '../../pump/pump-client.ts'
import { endOfCarried } from '../carried-program.ts'
import { endLeft } from '../end-left.ts'
import { GuestSession } from '../guest-session.ts'
import { openProgram } from '../open-program.ts'
import { BreakableLink } from './breakable-link.ts'

export type BreakableMachine = Pick<Machine, 'id' | 'dial'>

const breaks = 20
const patiently = { timeout: 120_000, interval: 5 }
const logger = createLogger('test')
logger.level = 'silent'
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** `start` returns a machine whose agent runs programs. `end` is called after each test. `bytes` go through each program. */
export function describeBrokenLinks(options: {
  start: () => Promise<BreakableMachine>
  end: (machine: BreakableMachine) => Promise<void>
  bytes: number
}): void {
  let folder: string
  let machine: BreakableMachine
  let links: BreakableLink[]
  let session: GuestSession
  let pump: PumpClient
  let endMachine: (words: string) => void
  const pumpSocket = () => join(folder, 'pump.sock')

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dock-links-'))
    machine = await options.start()
    links = await Promise.all(
      [0, 1].map((port) => BreakableLink.open(join(folder, `port.${port}`), () => machine.dial(port))),
    )
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    endMachine = resolve
    const stub = {
      ...{ id: machine.id, ended },
      socketOf: (port: number) => links[port]!.path,
      dial: (port: number): Duplex => connect(links[port]!.path),
      kill: async () => {
        throw new Error('the guest broke the protocol')
      },
    }
    session = new GuestSession(stub as unknown as Machine, logger)
    pump = new PumpClient(pumpSocket())
  })
  afterEach(async () => {
    await killPump()
    endMachine('')
    for (const link of links) link.close()
    await options.end(machine)
    rmSync(folder, { recursive: true, force: true })
  })

  const killPump = async (): Promise<void> => {
    const { stdout } = await tryCommand('pgrep', ['-f', `/pump/main.ts ${pumpSocket()}`])
    for (const pid of stdout.split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL')
  }
  const open = (argv: string[], more: Partial<ProcessRequest> = {}): Promise<OpenProcess> => {
    const usual = { env: { PATH: '/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 }
    return openProgram(session, pump, { argv, ...usual, ...more }, new Set())
  }
  /** A program that the pump carries, with files as its streams. */
  const openCarried = async (argv: string[], input: Buffer): Promise<OpenProcess> => {
    writeFileSync(join(folder, 'in'), input)
    const descriptors = [
      openSync(join(folder, 'in'), 'r'),
      openSync(join(folder, 'out'), 'w'),
      openSync(join(folder, 'err'), 'w'),
    ] as const
    try {
      return await open(argv, { descriptors })
    } finally {
      for (const each of descriptors) closeSync(each)
    }
  }
  const readOut = (): Buffer => readFileSync(join(folder, 'out'))
  const programs = () => session.ask((link) => link.programs())

  it('loses and doubles no byte when each port breaks 20 times in the middle of a frame', async () => {
    const whole = randomBytes(options.bytes)
    const carried = await openCarried(['cat'], whole)
    const own = await open(['cat'])
    own.stderr!.resume()
    let bytes = 0
    const sum = createHash('sha256')
    own.stdout!.on('data', (chunk: Buffer) => {
      sum.update(chunk)
      bytes += chunk.length
    })
    own.stdin!.end(whole)
    const cuts = [0, 0]
    const breakAlong = async (port: number, passed: () => number): Promise<void> => {
      for (let round = 0; round < breaks; round += 1) {
        const wanted = (whole.length / (breaks + 1)) * round
        await expect.poll(passed, patiently).toBeGreaterThanOrEqual(wanted)
        if (await links[port]!.break(round)) cuts[port]! += 1
      }
    }
    await Promise.all([breakAlong(0, () => bytes), breakAlong(1, () => statSync(join(folder, 'out')).size)])
    expect(await carried.exited).toEqual({ exitCode: 0, signal: null })
    expect(await own.exited).toEqual({ exitCode: 0, signal: null })
    await expect.poll(() => bytes, patiently).toBe(whole.length)
    expect(sum.digest('hex')).toBe(digestOf(whole))
    expect(digestOf(readOut())).toBe(digestOf(whole))
    // Otherwise nothing was under way when it broke.
    for (const cut of cuts) expect(cut).toBeGreaterThan(breaks / 2)
    await expect.poll(programs, patiently).toEqual([])
  })

  it('ends the programs of a pump that dies, and carries the next ones with another pump', async () => {
    const lost = await openCarried(
      ['sh', '-c', 'echo begun; setsid sleep 4177 & exec sleep 4177'],
      Buffer.alloc(0),
    )
    await expect.poll(() => String(readOut()), patiently).toBe('begun\n')
    const own = await open(['cat'])
    own.stderr!.resume()
    await killPump()
    await expect(lost.exited).rejects.toThrow(StreamsLost)
    await expect.poll(async () => (await programs()).length, patiently).toBe(1)
    const sleeps = async () =>
      (await session.ask((link) => link.processes())).filter(({ name }) => name === 'sleep')
    await expect.poll(sleeps, patiently).toEqual([])
    own.stdin!.end('goes on')
    expect(String(Buffer.concat(await own.stdout!.toArray()))).toBe('goes on')
    const next = await openCarried(['cat'], Buffer.from('another'))
    expect(await next.exited).toEqual({ exitCode: 0, signal: null })
    expect(String(readOut())).toBe('another')
  })

  it('ends the input of a program that was left, which may tidy up, before it kills the rest', async () => {
    const leave = (argv: string[]) =>
      session.ask((link) => link.open({ argv, env: { PATH: '/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 }))
    const left = await leave(['sh', '-c', 'setsid sleep 4179 & cat; exit 4'])
    await endLeft(session, left.id)
    expect(await left.exited).toMatchObject({ exitCode: 4, signal: null })
    const sleeps = async () =>
      (await session.ask((link) => link.processes())).filter(({ name }) => name === 'sleep')
    await expect.poll(sleeps, patiently).toEqual([])
    const stubborn = await leave(['sleep', '4179'])
    await endLeft(session, stubborn.id)
    expect(await stubborn.exited).toMatchObject({ exitCode: null, signal: 9 })
    await expect.poll(programs, patiently).toEqual([])
  })

  it('tells a later driver the ends that nobody has heard, and what its pump has lost', async () => {
    const ended = await openCarried(['sh', '-c', 'exit 3'], Buffer.alloc(0))
    const found = await endOfCarried(
      session,
      new PumpClient(pumpSocket()),
      Number.parseInt(ended.reference.mark, 16),
    )
    expect(found.exitCode).toBe(3)
    const lost = await openCarried(['sleep', '4178'], Buffer.alloc(0))
    lost.exited.catch(() => undefined)
    expect(lost.reference.carried).toBe(true)
    await killPump()
    const later = endOfCarried(
      session,
      new PumpClient(pumpSocket()),
      Number.parseInt(lost.reference.mark, 16),
    )
    await expect(later).rejects.toThrow(StreamsLost)
    await expect.poll(programs, patiently).toEqual([])
  })
}
