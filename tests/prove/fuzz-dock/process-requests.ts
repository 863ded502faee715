/** Requests for processes: programs, offsets of output and input, sizes, signals, and streams that break. */
import fc from 'fast-check'
import { nastyText } from '../../api/support/fuzz/nasty-values.ts'
import type { DockRequest } from './dock-request.ts'

const base = { headers: {}, body: null, cutAt: null, readMax: 2 ** 18 } as const
const json = (value: object): Pick<DockRequest, 'headers' | 'body'> => ({
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
})

const command = fc.constantFrom(
  ...[
    'cat',
    'true',
    'exit 7',
    'kill -9 $$',
    'yes',
    'head -c 9000000 /dev/urandom',
    'exec >&- 2>&- <&-; sleep 2',
  ],
  ...[
    'echo out; echo err >&2; sleep 1',
    'trap "" TERM HUP; sleep 3',
    'sleep 2 & exit 3',
    'stty size; cat; exit 1',
  ],
  ...[
    'setsid sleep 3 &',
    'while read line; do echo "$line"; done',
    ': >/dev/stdin; cat',
    'exec <&-; sleep 2',
  ],
)
const cells = fc.record({
  cols: fc.constantFrom(1, 80, 1000, 0, 100_000),
  rows: fc.constantFrom(1, 24, 1000, -1),
})
const start = fc
  .record(
    {
      what: fc.oneof(
        { weight: 5, arbitrary: command.map((text) => ({ command: text })) },
        {
          weight: 1,
          arbitrary: fc.array(nastyText, { minLength: 1, maxLength: 5 }).map((argv) => ({ argv })),
        },
        { weight: 1, arbitrary: nastyText.map((text) => ({ command: text })) },
      ),
      cwd: fc.oneof(
        { weight: 6, arbitrary: fc.constant('/tmp') },
        fc.constantFrom('/absent', '/root', '/dev/null', '/proc/self/fd'),
        nastyText.map((text) => `/${text}`),
      ),
      env: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        fc.dictionary(fc.constantFrom('A', 'PATH', 'LD_PRELOAD', 'BASH_ENV', ''), nastyText, { maxKeys: 3 }),
      ),
      pty: cells,
      stdin: fc.boolean(),
      holdOutput: fc.boolean(),
    },
    { requiredKeys: ['what', 'cwd', 'env'] },
  )
  .map(
    ({ what, ...rest }): DockRequest => ({
      ...{ ...base, route: 'startDockProcess', path: '/processes' },
      ...json({ ...what, ...rest, timeoutSeconds: 5 }),
    }),
  )

const offset = fc.oneof(
  fc.nat(5_000),
  fc.constantFrom(0, 2 ** 22, 2 ** 32, Number.MAX_SAFE_INTEGER, '9007199254740993', '-1', 'next', ''),
)
const output = fc
  .record({
    stream: fc.constantFrom('stdout', 'stderr', 'both', 'x'),
    ...{ offset, stderrOffset: offset, follow: fc.boolean(), readMax: fc.nat(2 ** 18) },
  })
  .map(
    (made): DockRequest => ({
      ...{ ...base, route: 'readDockProcessOutput', readMax: made.readMax },
      path: `/processes/@pid@/output?stream=${made.stream}&offset=${made.offset}&stderrOffset=${made.stderrOffset}&follow=${made.follow}`,
    }),
  )
const input = fc
  .record({
    offset: fc.oneof({ weight: 3, arbitrary: fc.nat(300) }, offset),
    body: fc.uint8Array({ maxLength: 400 }),
    cutAt: fc.option(fc.nat(400)),
  })
  .map(
    (made): DockRequest => ({
      ...{ ...base, route: 'writeDockProcessInput', body: Buffer.from(made.body), cutAt: made.cutAt },
      path: `/processes/@pid@/stdin?offset=${made.offset}`,
      headers: { 'content-type': 'application/octet-stream' },
    }),
  )
const resize = cells.map(
  (size): DockRequest => ({
    ...base,
    route: 'resizeDockProcess',
    path: '/processes/@pid@/resize',
    ...json(size),
  }),
)
const signal = fc
  .record({
    signal: fc.constantFrom('TERM', 'KILL', 'STOP', 'CONT', 'WINCH', 'HUP', 'USR1', 'x'),
    target: fc.constantFrom('process', 'group', 'tree', 'x'),
  })
  .map(
    (body): DockRequest => ({
      ...{ ...base, route: 'signalDockProcess', path: '/processes/@pid@/signal' },
      ...json(body),
    }),
  )
const others = fc.constantFrom<DockRequest>(
  { ...base, route: 'closeDockProcessInput', path: '/processes/@pid@/stdin/close' },
  { ...base, route: 'readDockProcess', path: '/processes/@pid@' },
  { ...base, route: 'listDockProcesses', path: '/processes' },
  { ...base, route: 'waitForDockProcess', path: '/processes/@pid@/wait?timeoutSeconds=1' },
  { ...base, route: 'waitForDockProcess', path: '/processes/@pid@/wait?timeoutSeconds=61' },
)

export const processRequest: fc.Arbitrary<DockRequest> = fc.oneof(
  { weight: 4, arbitrary: start },
  { weight: 5, arbitrary: output },
  { weight: 4, arbitrary: input },
  { weight: 1, arbitrary: resize },
  { weight: 2, arbitrary: signal },
  { weight: 2, arbitrary: others },
)
