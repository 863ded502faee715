/**
 * Output pipes of programs that have ended. A server that a command started with `&` holds the command's outputs: if their
 * pipes closed with the command, the server's next line would end it by SIGPIPE. So somebody else keeps them.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@dock/foundation'
import type { LeftOutputs as Left } from '@dock/runtime'
import { parseSandboxId } from '../runsc/sandbox-id.ts'

/** A process that ends with the program closes its outputs within this time. Only what is still held then is kept. */
const graceMs = 250

/** An output of a program that has ended. Until it is closed, what arrives is read and dropped. */
export type LeftPipe = {
  /** The read end while the pipe has a writer, otherwise null. */
  readonly heldFd: number | null
  close(): void
}

/** Opens the pipe once more: a socket closes its own descriptor when the pipe ends, and the number may be used again. */
const openAgain = (pipe: LeftPipe): number[] => {
  const { heldFd } = pipe
  return heldFd === null
    ? []
    : [openSync(`/proc/self/fd/${heldFd}`, constants.O_RDONLY | constants.O_NONBLOCK)]
}

export class LeftOutputs {
  readonly #logger: Logger
  #keep: ((left: Left) => Promise<void>) | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Sets who keeps the pipes. */
  keepWith(keep: (left: Left) => Promise<void>): void {
    this.#keep = keep
  }

  /** Takes over the outputs of a program that has ended, and closes them when somebody else keeps them. Never rejects. */
  async take(sandboxId: string, pipes: readonly LeftPipe[]): Promise<void> {
    const descriptors: number[] = []
    try {
      const sandbox = parseSandboxId(sandboxId)
      if (!this.#keep || !sandbox || pipes.every(({ heldFd }) => heldFd === null)) return
      await delay(graceMs, undefined, { ref: false })
      for (const pipe of pipes) descriptors.push(...openAgain(pipe))
      for (const pipe of pipes) pipe.close()
      if (descriptors.length > 0) await this.#keep({ ...sandbox, descriptors })
    } catch (error) {
      this.#logger.warn(
        { err: error, sandbox: sandboxId },
        'could not keep the outputs of background processes',
      )
    } finally {
      for (const pipe of pipes) pipe.close()
      for (const descriptor of descriptors) closeSync(descriptor)
    }
  }
}
