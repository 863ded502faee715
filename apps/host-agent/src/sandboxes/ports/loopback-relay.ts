/**
 * Connections to servers on a Dock's own loopback. Each sandbox has one relay program, which is started when needed and again
 * if it has ended. The relay runs inside the Dock and is not trusted: it can only redirect to another port of the same Dock.
 */
import type { Socket } from 'node:net'
import type { ExecRequest, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { openSocket } from './open-socket.ts'
import { relayProgram } from './relay-program.ts'

/** A relay ends after this time without a connection, so that the Dock can be frozen as idle. */
const idleSeconds = 60
const startTimeoutMs = 10_000
const answerTimeoutMs = 10_000

// Runs as root so that no program of the user ends it by mistake. Root has no special rights outside the Dock.
const startRequest = (address: string): ExecRequest => ({
  argv: ['/usr/bin/perl', '-e', relayProgram, address, String(idleSeconds)],
  env: { PATH: '/usr/bin:/bin' },
  cwd: '/',
  uid: 0,
  gid: 0,
  timeoutMs: startTimeoutMs,
  outputLimitBytes: 1024,
})

/** A relay and the sandbox in which it was started. */
type Started = { sandbox: SandboxHandle; port: Promise<number> }

export class LoopbackRelay {
  readonly #driver: RuntimeDriver
  #started: Started | undefined

  constructor(driver: RuntimeDriver) {
    this.#driver = driver
  }

  /** Connects to the port on the Dock's loopback. Returns null if nothing listens there. */
  async connect(sandbox: SandboxHandle, address: string, port: number): Promise<Socket | null> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const started = this.#relayOf(sandbox, address)
      const socket = await openSocket(address, await started.port)
      socket?.write(`${port}\n`)
      const answer = socket ? await readAnswer(socket) : 'gone'
      if (answer === 'taken') return socket
      socket?.destroy()
      if (answer === 'refused') return null
      this.#forget(started)
    }
    throw new Error('the relay inside the Dock does not respond')
  }

  #relayOf(sandbox: SandboxHandle, address: string): Started {
    if (this.#started?.sandbox === sandbox) return this.#started
    const started = { sandbox, port: this.#start(sandbox, address) }
    this.#started = started
    started.port.catch(() => this.#forget(started))
    return started
  }

  #forget(started: Started): void {
    if (this.#started === started) this.#started = undefined
  }

  async #start(sandbox: SandboxHandle, address: string): Promise<number> {
    const { stdout, stderr } = await this.#driver.exec(sandbox, startRequest(address))
    const port = Number(/^(\d{1,5})\n$/.exec(stdout.toString())?.[1])
    if (port >= 1 && port <= 65_535) return port
    throw new Error(`the relay did not start: ${stderr.toString().slice(0, 200)}`)
  }
}

/** Reads the relay's answer of one byte. Later bytes stay in the socket. `gone`: the relay ended or does not respond. */
const readAnswer = (socket: Socket): Promise<'taken' | 'refused' | 'gone'> =>
  new Promise((resolve) => {
    const settle = (answer: 'taken' | 'refused' | 'gone'): void => {
      clearTimeout(timer)
      socket.off('readable', look)
      socket.off('close', close)
      resolve(answer)
    }
    const look = (): void => {
      const byte = socket.read(1) as Buffer | null
      if (byte) settle(byte.toString() === '+' ? 'taken' : 'refused')
    }
    const close = (): void => settle('gone')
    const timer = setTimeout(close, answerTimeoutMs)
    socket.on('readable', look)
    socket.on('close', close)
  })
