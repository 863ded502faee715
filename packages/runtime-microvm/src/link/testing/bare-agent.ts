/**
 * The agent for tests: in namespaces of its own on this machine, without a microVM. Its port is a socket, and connections
 * to it may break as those of QEMU do: the agent does not notice.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, duplexPair } from 'node:stream'
import { GuestLink, type LinkOptions } from '../guest-link.ts'

const sources = globSync('../../../agent/*.c', { cwd: import.meta.dirname })
  .map((name) => join(import.meta.dirname, name))
  .sort()

/** Compiles the agent with gcc, and returns the path of the program. */
export function compileAgent(folder: string): string {
  const program = join(folder, 'agent')
  execFileSync('gcc', ['-O1', '-Wall', '-Wextra', '-Werror', '-std=gnu11', '-o', program, ...sources])
  return program
}

export type BareAgent = {
  readonly pid: number
  /** Connects to the agent's port, in place of an earlier connection. */
  connect(port?: number): Duplex
  /** Breaks the connection of the first port: what is under way is lost from a byte on that `seed` chooses. */
  breakConnection(seed: number): void
  /** A running machine on a new connection. */
  link(options?: LinkOptions): Promise<GuestLink>
  stop(): Promise<void>
}

const breakMs = 20

/** Carries bytes between the agent's socket and the connection of the moment. */
class Port {
  #connection: Duplex | undefined
  readonly #socket: Socket
  #breaksAt: number | undefined
  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      const to = this.#connection
      // A port without a connection loses what the guest writes.
      if (!to || to.destroyed || to.write(chunk)) return
      socket.pause()
      const goOn = (): void => {
        to.off('drain', goOn).off('close', goOn)
        socket.resume()
      }
      to.on('drain', goOn).on('close', goOn)
    })
  }

  /** The next chunk of the host is cut somewhere, and the connection ends there. */
  break(seed: number): void {
    this.#breaksAt = seed * 3_137
    const connection = this.#connection
    // Without a chunk of the host it breaks between frames.
    setTimeout(() => {
      if (connection === this.#connection) this.#breaksAt = undefined
      connection?.destroy()
    }, breakMs).unref()
  }

  connect(): Duplex {
    this.#connection?.destroy()
    const [ours, theirs] = duplexPair({ highWaterMark: 65_536 })
    this.#connection = ours
    ours.on('error', () => undefined)
    ours.on('data', (chunk: Buffer) => {
      const cut = this.#breaksAt
      this.#breaksAt = undefined
      if (cut !== undefined) {
        this.#socket.write(chunk.subarray(0, cut % chunk.length))
        ours.destroy()
        return
      }
      if (this.#socket.write(chunk)) return
      ours.pause()
      this.#socket.once('drain', () => ours.resume())
    })
    this.#socket.resume()
    theirs.once('close', () => ours.destroy())
    return theirs
  }
}

export async function startBareAgent(): Promise<BareAgent> {
  const folder = mkdtempSync(join(tmpdir(), 'dock-agent-'))
  const group = `dock-test-${randomBytes(6).toString('hex')}`
  const namespaces = ['--mount', '--pid', '--fork', '--uts', '--net', '--ipc', '--kill-child', '--mount-proc']
  const child = spawn('unshare', [...namespaces, compileAgent(folder), 'bare'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
  })
  const ports = [3, 4].map((index) => new Port(child.stdio[index] as unknown as Socket))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const agent: BareAgent = {
    pid: child.pid!,
    connect: (port = 0) => ports[port]!.connect(),
    breakConnection: (seed) => ports[0]!.break(seed),
    link: async (options) => {
      const link = await GuestLink.connect(agent.connect(), options)
      if (!link.isRunning) await link.go({ clock: 0n, entropy: randomBytes(64), hostname: 'guest', group })
      return link
    },
    stop: async () => {
      child.kill('SIGKILL')
      await exited
      // The hierarchy belongs to the machine, not to the namespaces.
      const remove =
        'mount -t cgroup2 none /sys/fs/cgroup && find "/sys/fs/cgroup/$0" -depth -type d -exec rmdir {} + 2>/dev/null'
      execFileSync('unshare', ['--mount', 'sh', '-c', `${remove} || true`, group])
      rmSync(folder, { recursive: true })
    },
  }
  return agent
}
