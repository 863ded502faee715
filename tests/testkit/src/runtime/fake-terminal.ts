/** An in-memory terminal. It echoes its input; the line `exit N` ends it. */
import type { Terminal, TerminalRequest } from '@dock/runtime'

export type FakeTerminal = Terminal & {
  /** The last requested size. */
  readonly size: { cols: number; rows: number }
  /** Sends output, like a program in the terminal. */
  print(text: string): void
}

export function createFakeTerminal(request: TerminalRequest): FakeTerminal {
  const { promise: exited, resolve } = Promise.withResolvers<{ exitCode: number }>()
  const size = { cols: request.cols, rows: request.rows }
  const waiting: Buffer[] = []
  let listener: ((chunk: Buffer) => void) | undefined
  let paused = false
  let line = ''
  const flush = (): void => {
    while (listener && !paused && waiting.length > 0) listener(waiting.shift()!)
  }
  const print = (data: string | Buffer): void => {
    waiting.push(Buffer.from(data))
    flush()
  }
  return {
    size,
    exited,
    print,
    write: (data, taken) => {
      taken?.()
      print(data)
      const lines = (line + data.toString()).split(/[\r\n]+/)
      line = lines.pop() ?? ''
      for (const each of lines) {
        const exit = /^exit (\d+)$/.exec(each)
        if (exit) resolve({ exitCode: Number(exit[1]) })
      }
    },
    resize: (cols, rows) => void Object.assign(size, { cols, rows }),
    onData: (wanted) => {
      listener = wanted
      flush()
    },
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
      flush()
    },
    kill: () => resolve({ exitCode: 129 }),
  }
}
