/**
 * Moves the streams of programs in guests from and to pipes of the host. It has a connection of its own to each guest, and
 * outlives the driver.
 */
import { constants, createReadStream, createWriteStream, fstatSync, openSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isUnserved, type Logger, systemClock, waitAtMost } from '@dock/foundation'
import { type GuestProgram, type GuestViolation, LastingLink, LinkBroken } from '../link/index.ts'
import type { ProgramEnd, TakeProgram } from './pump-protocol.ts'

/** How long an end waits for the outputs. Processes that the program left behind may hold them for long. */
const lastOutputMs = 1_000
/** How many ends are remembered for a driver that asks later. */
const endsMax = 1_000

/** The machine has ended, or another connection will never be served. */
const isGone = (error: unknown): boolean => error instanceof LinkBroken && isUnserved(error.cause)

/** Opens a descriptor of another process again. Pipes do not block this process. */
const openDescriptor = (pid: number, descriptor: number, flags: number): { fd: number; isPipe: boolean } => {
  const fd = openSync(`/proc/${pid}/fd/${descriptor}`, flags | constants.O_NONBLOCK)
  return { fd, isPipe: fstatSync(fd).isFIFO() }
}

const openInput = (pid: number, descriptor: number): Readable => {
  const { fd, isPipe } = openDescriptor(pid, descriptor, constants.O_RDONLY)
  return isPipe ? new Socket({ fd, readable: true, writable: false }) : createReadStream('', { fd })
}

const openOutput = (pid: number, descriptor: number): Writable => {
  const { fd, isPipe } = openDescriptor(pid, descriptor, constants.O_WRONLY | constants.O_APPEND)
  return isPipe ? new Socket({ fd, readable: false, writable: true }) : createWriteStream('', { fd })
}

export class Pump {
  readonly #logger: Logger
  readonly #links = new Map<string, LastingLink>()
  readonly #ends = new Map<string, Promise<ProgramEnd>>()
  /** Machines of the programs that have ended and whose ends no driver knows yet. Only this process can tell them. */
  readonly #untold = new Map<string, LastingLink>()
  #underWay = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** True while it has the streams of a program, or knows an end in a running machine that no driver has asked for. */
  get isNeeded(): boolean {
    for (const [key, link] of this.#untold) if (link.isOver) this.#untold.delete(key)
    return this.#underWay > 0 || this.#untold.size > 0
  }

  /** Takes a program over. Resolves when it has all streams. */
  async take(wanted: TakeProgram): Promise<{ ended: Promise<ProgramEnd> }> {
    const { machine, socket, program: id, pid, descriptors } = wanted
    const [input, output, errors] = descriptors
    const opened: (Readable | Writable)[] = []
    const keep = <Stream extends Readable | Writable>(stream: Stream): Stream => {
      opened.push(stream)
      return stream
    }
    this.#underWay += 1
    try {
      const stdin = keep(openInput(pid, input))
      const [stdout, stderr] = [keep(openOutput(pid, output)), keep(openOutput(pid, errors))]
      const link = this.#linkTo(machine, socket)
      const program = await link.ask((each) => each.attach(id))
      const ended = this.#carry(program, stdin, stdout, stderr)
      this.#remember(`${machine}/${id}`, ended, link)
      return { ended }
    } catch (error) {
      this.#underWay -= 1
      for (const stream of opened) stream.destroy()
      throw error
    }
  }

  /** Returns a promise of the end of a program that it took over, or undefined if it does not know the program. */
  endOf(machine: string, program: number): Promise<ProgramEnd> | undefined {
    return this.#ends.get(`${machine}/${program}`)
  }

  /** A driver knows the end of a program. */
  markTold(machine: string, program: number): void {
    this.#untold.delete(`${machine}/${program}`)
  }

  async #carry(
    program: GuestProgram,
    stdin: Readable,
    stdout: Writable,
    stderr: Writable,
  ): Promise<ProgramEnd> {
    // A reader that left ends the program's output, and a program that ended its input: neither is an error here.
    const [outputs, input] = [
      [pipeline(program.stdout, stdout), pipeline(program.stderr, stderr)],
      pipeline(stdin, program.stdin),
    ]
    const written = Promise.allSettled(outputs)
    const end = program.exited.catch(() => null)
    void end.then(() => stdin.destroy())
    void Promise.allSettled([end, written, input])
      .then(() => program.close())
      .finally(() => {
        this.#underWay -= 1
      })
    const found = await end
    // Who learns of the end may read the outputs at once.
    await waitAtMost(systemClock, lastOutputMs, written)
    return found
  }

  #linkTo(machine: string, socket: string): LastingLink {
    const known = this.#links.get(machine)
    if (known && !known.isOver) return known
    const link = new LastingLink({
      ...{ dial: () => connect(socket), isGone },
      onViolation: (error) => void this.#violated(machine, error).finally(() => link.end()),
    })
    this.#links.set(machine, link)
    void link.over.then(() => {
      if (this.#links.get(machine) === link) this.#links.delete(machine)
    })
    return link
  }

  /** Kills the machine here, because there may be no driver. A driver notices that the machine ends. */
  async #violated(machine: string, error: GuestViolation): Promise<void> {
    this.#logger.warn({ err: error, machine }, 'a guest broke the protocol; ending its machine')
    try {
      const { MachineGroup } = await import('../machine/jail/machine-group.ts')
      await MachineGroup.ofMachine(machine).kill()
    } catch (cause) {
      this.#logger.error({ err: cause, machine }, 'could not end a machine')
    }
  }

  #remember(key: string, ended: Promise<ProgramEnd>, link: LastingLink): void {
    this.#ends.set(key, ended)
    void ended.then(() => {
      this.#untold.set(key, link)
      const over = [...this.#ends.keys()].slice(0, Math.max(0, this.#ends.size - endsMax - this.#underWay))
      for (const each of over) this.#ends.delete(each)
    })
  }
}
