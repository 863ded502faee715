/**
 * Proves that a Dock survives running out of memory. Fourteen kinds of memory hogs run in Docks of 512 MiB, two at a
 * time, each next to a neighbor process in the same Dock. Nearly all Docks must survive, every direct command must exit
 * with 137, and no neighbor may be killed if the hog is visible in RSS. Once, the agent is killed while a hog runs.
 * Run by script/prove memory [hogs].
 */
import { glob, readFile, stat } from 'node:fs/promises'
import { DockApiError } from '@dock/sdk'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { processOf } from '../crash/processes.ts'
import { createDock, deleteDock, exec, run } from '../e2e/support/dock.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'

const hogsWanted = Number(process.argv[2] ?? '56')
const aliveShareMin = 48 / 56
const atOnce = 2
const memoryMiB = 512
const neighbourMiB = 60

type Shape = {
  name: string
  /** The bash command. */
  command: string
  /** True if its memory counts in the RSS of its processes. Only then can the guard identify the hog. */
  shows: boolean
  /** True if the command itself is the hog, so that it exits with 137. */
  direct: boolean
}

const python = (program: string): string => `python3 -c '\n${program}'`
const shape = (name: string, command: string, { shows = true, direct = true } = {}): Shape => ({
  ...{ name, command, shows, direct },
})

/** Maps 2 GiB and fills it with zeros. Uses Perl, because the image's Python has no mmap. */
const perlMapping = (flags: number): string =>
  `perl -e 'open Z, "</dev/zero"; $at = syscall(9, 0, 2 << 30, 3, ${flags}, -1, 0); $fd = fileno Z;
    syscall(0, $fd, $at + ($_ << 12), 1 << 12) > 0 or die $! for 0 .. 524287'`

const shapes: Shape[] = [
  shape('head | tail', 'head -c 4G /dev/zero | tail'),
  shape('python in chunks', python('l = []\nwhile True: l.append(bytearray(1 << 22))')),
  shape('python in one block', python('b = bytearray(2 << 30)\nprint(len(b))')),
  shape('private mapping', perlMapping(0x22)),
  shape('shared mapping', perlMapping(0x21)),
  shape('MAP_POPULATE', `perl -e 'syscall(9, 0, 1 << 24, 3, 0x8021, -1, 0) > 0 or die $! while 1'`, {
    shows: false,
  }),
  shape('perl string', `perl -e '$_ .= "x" x (1 << 20) while 1'`),
  shape('perl in one block', `perl -e '$x = "x" x (2 << 30); print length $x'`),
  shape(
    'file in memory',
    python('import os\nf = os.memfd_create("hog")\np = b"x" * (1 << 20)\nwhile True: os.write(f, p)'),
    { shows: false },
  ),
  shape(
    'pipes',
    python(
      'import os\nl = []\nwhile True:\n  r, w = os.pipe(); os.set_blocking(w, False); l.append((r, w))\n  try:\n    while True: os.write(w, b"x" * 65536)\n  except BlockingIOError: pass',
    ),
    { shows: false },
  ),
  shape(
    'sockets',
    python(
      'import socket\nl = []\nwhile True:\n  a, b = socket.socketpair(); a.setblocking(False); l.append((a, b))\n  try:\n    while True: a.send(b"x" * 65536)\n  except BlockingIOError: pass',
    ),
    { shows: false },
  ),
  shape(
    'threads',
    python(
      'import threading\ndef hog():\n  l = []\n  while True: l.append(bytearray(1 << 20))\nts = [threading.Thread(target=hog) for _ in range(8)]\n[t.start() for t in ts]\n[t.join() for t in ts]',
    ),
  ),
  shape('/dev/shm and tail', 'head -c 200M /dev/zero >/dev/shm/f; head -c 2G /dev/zero | tail'),
  shape('fork bomb', 'bomb() { bomb | bomb & }; bomb; sleep 20', { shows: false, direct: false }),
]

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const neighbour = `${python(`import os, time\nb = bytearray(${neighbourMiB} << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\nprint(os.getpid(), file=open("/dev/shm/up", "w"))\ntime.sleep(3600)`)}`

type Outcome = {
  shape: string
  lived: boolean
  read137: boolean
  told: boolean
  neighbourLived: boolean
  bystander: boolean
  seconds: number
  said: string
}

const beganAtMs = Date.now()
const dataDir = await newDataDir()
const port = await freePort()
const server = await startServer(dataDir, port, { DOCK_WARM_POOL: '2' })

const oneHog = async (each: Shape, killsAgent: boolean): Promise<Outcome> => {
  const dock = await createDock(server, { memoryMiB })
  try {
    await run(
      server,
      dock.id,
      `setsid ${neighbour} >/dev/null 2>&1 & while [ ! -s /dev/shm/up ]; do sleep 0.05; done`,
    )
    const begin = performance.now()
    const running = exec(server, dock.id, each.command, { timeoutSeconds: 60 }).catch((error: unknown) =>
      error instanceof DockApiError
        ? { exitCode: -1, stderr: `${error.code}: ${error.message}` }
        : Promise.reject(error),
    )
    if (killsAgent) {
      await new Promise((resolve) => setTimeout(resolve, 150))
      const agent = await processOf('agent', { dataDir, port })
      if (agent !== null) process.kill(agent, 'SIGKILL')
    }
    const ended = await running
    const seconds = (performance.now() - begin) / 1000
    // Starts no further process, because a fork bomb may leave none and lets each wait for its turn.
    const command = 'read -r pid </dev/shm/up && echo same && kill -0 "$pid"'
    const look = async (): Promise<{ stdout: string; exitCode: number | null } | undefined> => {
      for (const deadline = Date.now() + 300_000; Date.now() < deadline; ) {
        const seen = await exec(server, dock.id, command, { timeoutSeconds: 300 }).catch(() => undefined)
        // Another code means that the look itself was ended, which tells nothing about the Dock.
        if (seen && seen.exitCode !== null && seen.exitCode <= 1) return seen
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      return undefined
    }
    const seen = await look()
    const lived = seen?.stdout.startsWith('same') === true
    const neighbourLived = seen?.exitCode === 0
    return {
      ...{ shape: each.name, lived, neighbourLived, read137: ended.exitCode === 137 },
      told: /dock: .* ended because the Dock ran out of memory/.test(ended.stderr),
      bystander: each.shows && lived && !neighbourLived,
      seconds,
      said: `${ended.exitCode} ${ended.stderr.trim().split('\n').at(-1) ?? ''}`.slice(0, 110),
    }
  } finally {
    await deleteDock(server, dock.id)
  }
}

/** Returns the first line of each panic that a sandbox of this server has written: why a Dock died. */
const panics = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const file of glob('/run/dock-*/sandboxes/panic.log')) {
    if ((await stat(file)).birthtimeMs < beganAtMs) continue
    found.push(...((await readFile(file, 'utf8')).match(/^(panic|fatal error): .*$/gm) ?? []))
  }
  return found
}

const outcomes: Outcome[] = []
const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}
try {
  const wanted = Array.from({ length: hogsWanted }, (_, index) => shapes[index % shapes.length]!)
  const worker = async (): Promise<void> => {
    for (let each = wanted.shift(); each; each = wanted.shift()) {
      const outcome = await oneHog(each, false)
      outcomes.push(outcome)
      const { lived, neighbourLived, bystander } = outcome
      const neighbourIs = bystander ? 'BYSTANDER' : neighbourLived ? 'kept' : 'ended'
      const seconds = `${outcome.seconds.toFixed(1)} s`.padStart(6)
      const marks = [lived ? 'lives' : 'DIED ', neighbourIs.padEnd(9), seconds]
      print(
        `${String(outcomes.length).padStart(3)} ${each.name.padEnd(20)} ${marks.join(' ')} ${outcome.said}`,
      )
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const alive = outcomes.filter(({ lived }) => lived).length
  expect(alive >= hogsWanted * aliveShareMin, `${alive} of ${hogsWanted} Docks are alive`)
  const direct = outcomes.filter(
    ({ shape: name, lived }) => lived && shapes.find((each) => each.name === name)?.direct,
  )
  const read = direct.filter(({ read137 }) => read137).length
  expect(read === direct.length, `${read} of ${direct.length} direct commands exited with 137`)
  const told = direct.filter((each) => each.told).length
  expect(told === direct.length, `${told} of ${direct.length} report the reason on standard error`)
  const bystanders = outcomes.filter(({ bystander }) => bystander).length
  expect(bystanders === 0, `${bystanders} neighbors were killed although the hog was visible in RSS`)
  const killed = await oneHog(shapes[1]!, true)
  expect(killed.lived, `a Dock survives if the agent is killed while it runs out of memory: ${killed.said}`)
} finally {
  for (const line of await panics()) print(`a sandbox ended with ${line}`)
  await server.interrupt()
  await removeDataDir(dataDir)
}
print(failures.length === 0 ? 'the memory guard holds' : `${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)
