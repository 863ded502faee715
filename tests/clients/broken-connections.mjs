/**
 * Reads and writes much through connections that break, with the SDK in Node, Deno or Bun. `DOCK_SDK` is the built package,
 * `DOCK_ID` a Dock, `DOCK_URL` a proxy that breaks connections. Prints what was wrong as JSON.
 */
import process from 'node:process'

const { Dock } = await import(process.env.DOCK_SDK)
const lineCount = 10_000

const dock = await Dock.get(process.env.DOCK_ID)

/** Returns the first line that is not the expected one, or null. */
const firstWrong = (lines, expected) => {
  for (let at = 0; at < Math.max(lines.length, expected); at++)
    if (lines[at] !== `line ${at + 1}`) return { at, line: lines[at] ?? null, count: lines.length }
  return null
}

const counting = `for ((at = 1; at <= ${lineCount}; at++)); do echo "line $at"; done`

const oneOutput = async () => {
  const lines = []
  const counter = await dock.spawn(counting)
  for await (const line of counter.stdout.lines()) lines.push(line)
  return firstWrong(lines, lineCount)
}

const bothOutputs = async () => {
  const texts = { stdout: '', stderr: '' }
  const counter = await dock.spawn(`exec 2> >(cat >&2); ${counting} | tee /dev/stderr`)
  for await (const { stream, data } of counter) texts[stream] += new TextDecoder().decode(data)
  return [texts.stdout, texts.stderr].map((text) => firstWrong(text.trimEnd().split('\n'), lineCount))
}

/** Two handles write at the same time. The file `received` must have each of their lines once and whole, in its order. */
const input = async () => {
  const sink = await dock.spawn(['tee', 'received'], { stdin: true })
  const other = dock.processes.attach(sink.id)
  const write = async (handle, name) => {
    for (let part = 0; part < 10; part++) {
      const lines = Array.from({ length: 500 }, (_, at) => `${name} ${part * 500 + at}\n`)
      await handle.stdin.write(lines.join(''))
    }
  }
  await Promise.all([write(sink, 'first'), write(other, 'second')])
  await sink.stdin.close()
  return (await sink.wait()).exitCode
}

const result = { oneOutput: await oneOutput(), bothOutputs: await bothOutputs(), input: await input() }
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)
