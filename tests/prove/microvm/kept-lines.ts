/** Kept processes whose output and input are numbered lines, so that every lost or doubled byte shows. */
import { setTimeout as delay } from 'node:timers/promises'
import type { CrashWorld } from '../../crash/crash-case.ts'
import { followOutput } from '../../e2e/support/follow-output.ts'

const retryMs = 200
const patienceMs = 120_000

/** Compares output with the lines that it must have, piece by piece. */
class Lines {
  count = 0
  problem: string | null = null
  #rest = ''
  readonly #expected: (number: number) => string

  constructor(expected: (number: number) => string) {
    this.#expected = expected
  }

  add(bytes: Uint8Array): void {
    const lines = (this.#rest + Buffer.from(bytes).toString('latin1')).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) {
      if (line !== this.#expected(this.count + 1))
        this.problem ??= `after ${this.count} lines: '${line.slice(0, 100)}'`
      this.count += 1
    }
  }

  end(): void {
    if (this.#rest !== '') this.problem ??= `half a line at the end: '${this.#rest.slice(0, 100)}'`
  }
}

/** Repeats a call until the server is there. */
export async function eventually<T>(what: string, call: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + patienceMs; ; await delay(retryMs))
    try {
      return await call()
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what}: ${error}`)
    }
}

export type KeptEnd = { state: string; exitCode: number | null; reason: string | null }

const endOf = (world: CrashWorld, id: string, pid: string): Promise<KeptEnd> =>
  eventually(`the end of ${pid}`, async () => {
    const place = { params: { id, pid }, query: { timeoutSeconds: 30 } }
    const { state, exitCode, reason } = await world.client.call('waitForDockProcess', place)
    if (state !== 'ended') throw new Error('it runs')
    return { state, exitCode, reason }
  })

const start = (world: CrashWorld, id: string, program: string, stdin: boolean): Promise<string> =>
  eventually('a process', async () => {
    const body = { argv: ['perl', '-e', program], stdin }
    return (await world.client.call('startDockProcess', { params: { id }, body })).id
  })

export type KeptLines = {
  pid: string
  /** Lines that were read so far. */
  count(): number
  /** Lets the program end, and returns what is wrong. */
  finish(): Promise<string[]>
  /** Returns how it ended, without letting it end. */
  ended(): Promise<KeptEnd>
}

const exitCode = 7

/** 100 KiB a second and more, with some lines on the error output between. Ends when its file exists. */
export async function startWriter(world: CrashWorld, id: string, mark: string): Promise<KeptLines> {
  const file = `/tmp/enough-${mark}`
  const program = `$| = 1; my $n = 0;
    until (-e "${file}") { my $text = ""; $text .= "${mark} " . ++$n . "\\n" for 1 .. 150; print $text;
      print STDERR "${mark} " . ($n / 150) . "\\n"; select undef, undef, undef, 0.02 }
    exit ${exitCode}`
  const pid = await start(world, id, program, false)
  const [output, errors] = [new Lines((n) => `${mark} ${n}`), new Lines((n) => `${mark} ${n}`)]
  const reading = Promise.all([
    followOutput(world, { id, pid }, (bytes) => output.add(bytes)),
    followOutput(world, { id, pid, stream: 'stderr' }, (bytes) => errors.add(bytes)),
  ]).catch((error: Error) => {
    output.problem ??= error.message
  })
  return {
    pid,
    count: () => output.count,
    ended: () => endOf(world, id, pid),
    finish: async () => {
      await eventually('the end of a writer', () =>
        world.client.call('execInDock', { params: { id }, body: { command: `touch ${file}` } }),
      )
      const { exitCode: code, reason } = await endOf(world, id, pid)
      await reading
      for (const each of [output, errors]) each.end()
      return [
        output.problem && `stdout ${output.problem}`,
        errors.problem && `stderr ${errors.problem}`,
        output.count !== errors.count * 150 && `${output.count} lines, ${errors.count} of errors`,
        code !== exitCode && `it ended with ${code} (${reason})`,
      ].filter((each) => typeof each === 'string')
    },
  }
}

/** Repeats each numbered line of its input, and ends with it. */
export async function startEcho(world: CrashWorld, id: string): Promise<KeptLines> {
  const pid = await start(world, id, '$| = 1; while (<STDIN>) { print "got $_" }', true)
  const lines = new Lines((n) => `got ${n}`)
  const { baseUrl, apiKey } = world.admin
  const url = `${baseUrl}/v1/docks/${id}/processes/${pid}/stdin`
  const post = async (rest: string, body = ''): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/octet-stream' }
    const response = await fetch(`${url}${rest}`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    await response.body?.cancel()
  }
  let isOver = false
  let sent = 0
  let offset = 0
  const sending = (async () => {
    while (!isOver) {
      let text = ''
      for (const last = sent + 2_000; sent < last; ) text += `${++sent}\n`
      // A repeated request must write nothing twice.
      await eventually('input', () => post(`?offset=${offset}`, text))
      offset += text.length
      await delay(250)
    }
    await eventually('the end of input', () => post('/close'))
  })()
  sending.catch((error: Error) => {
    lines.problem ??= error.message
  })
  const reading = followOutput(world, { id, pid }, (bytes) => lines.add(bytes)).catch((error: Error) => {
    lines.problem ??= error.message
  })
  return {
    pid,
    count: () => lines.count,
    ended: async () => {
      isOver = true
      return await endOf(world, id, pid)
    },
    finish: async () => {
      isOver = true
      await sending.catch(() => undefined)
      const { exitCode: code, reason } = await endOf(world, id, pid)
      await reading
      lines.end()
      return [
        lines.problem && `echo ${lines.problem}`,
        lines.count !== sent && `${lines.count} of ${sent} lines came back`,
        code !== 0 && `it ended with ${code} (${reason})`,
      ].filter((each) => typeof each === 'string')
    },
  }
}
