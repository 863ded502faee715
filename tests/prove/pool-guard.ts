/**
 * Proves the pool guard. Docks write files and record which ones, while another Dock fills the disk pool completely.
 * Every Dock must be frozen in time, continue when the hog is deleted, and have every byte that it wrote, read back
 * from the disk. Run by script/prove pool-guard [rounds].
 */
import { DockApiError } from '@dock/sdk'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { createDock, deleteDock, exec, run } from '../e2e/support/dock.ts'
import { removeDataDir, startServer } from '../e2e/support/server.ts'
import { filesystemErrors, freeInPool, leaveInPool, newSmallPool } from '../e2e/support/small-pool.ts'

const poolGiB = 24
/** Free space of the pool at the start. */
const roomGiB = 6
const reserveGiB = 2
const writers = 5
const rounds = Number(process.argv[2] ?? '2')
const fillDeadlineMs = 300_000
const flushDeadlineMs = 60_000

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The content of file n depends only on n. The file `books` lists the files that were written completely. */
const writer = `
import hashlib, os, time
def content(n):
    block = hashlib.sha256(str(n).encode()).digest()
    return block * 4096
`
const writing = `${writer}
n = 0
while not os.path.exists('stop'):
    with open('f%d' % n, 'wb') as f: f.write(content(n))
    with open('books', 'a') as books: books.write('%d\\n' % n)
    n += 1
    time.sleep(0.05)
open('stopped', 'w').close()
`
const checking = `${writer}
names = open('books').read().split()
bad = [n for n in names if open('f%s' % n, 'rb').read() != content(n)]
print(len(names), len(bad), ' '.join(bad[:5]))
`

const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof DockApiError ? error.code : String(error)),
  )

const dataDir = await newSmallPool(poolGiB)
const server = await startServer(dataDir, await freePort(), { DOCK_WARM_POOL: '1' })
const errorsBefore = await filesystemErrors()
const small = { cpus: 1, memoryMiB: 1024, diskGiB: 10 }

/** Repeats a command in a Dock until it ends with this code. */
const until = async (id: string, wanted: string): Promise<void> => {
  const deadline = Date.now() + fillDeadlineMs
  for (;;) {
    const code = await codeOf(exec(server, id, 'true', { timeoutSeconds: 5 }))
    if (code === wanted) return
    if (Date.now() > deadline) throw new Error(`a command still ends with ${code} instead of ${wanted}`)
    await pause(600)
  }
}

/** Waits until the free space has not shrunk for 5 s, and returns it. */
const afterLastFlush = async (): Promise<number> => {
  const deadline = Date.now() + flushDeadlineMs
  let left = await freeInPool(dataDir)
  for (;;) {
    await pause(5_000)
    const later = await freeInPool(dataDir)
    if (later >= left - 2 ** 20) return later
    if (Date.now() > deadline)
      throw new Error(`still being written: free space went from ${gib(left)} to ${gib(later)} in 5 s`)
    left = later
  }
}

/** Retries while the pool is full. The space of a deleted Dock is freed a moment after its deletion. */
const onceThereIsRoom = async <T>(
  work: () => Promise<T>,
  deadline = Date.now() + flushDeadlineMs,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const isFull = error instanceof DockApiError && error.code === 'capacity_exhausted'
    if (!isFull || Date.now() > deadline) throw error
    await pause(500)
    return onceThereIsRoom(work, deadline)
  }
}

const round = async (ids: readonly string[]): Promise<void> => {
  const hog = await onceThereIsRoom(() => createDock(server, { ...small, diskGiB: 12 }))
  const begin = performance.now()
  await run(server, hog.id, 'setsid head -c 20G /dev/zero > big 2>/dev/null & echo started')
  await until(ids[0] ?? '', 'exec_busy')
  print(`       full after ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  const codes = await Promise.all([...ids, hog.id].map((id) => codeOf(exec(server, id, 'true'))))
  expect(
    codes.every((code) => code === 'exec_busy'),
    `every Dock is frozen: ${codes.join(' ')}`,
  )
  const refused = await codeOf(createDock(server, small))
  expect(refused === 'capacity_exhausted', `a create is refused: ${refused}`)
  const left = await afterLastFlush()
  expect(left > 0.5 * reserveGiB * 2 ** 30, `after the last flush ${gib(left)} of the reserve are left`)
  await deleteDock(server, hog.id)
  await Promise.all(ids.map((id) => until(id, 'done')))
  expect(true, 'the hog is deleted and every other Dock continues')
}

try {
  await leaveInPool(dataDir, roomGiB * 2 ** 30)
  print(`a pool with ${gib(await freeInPool(dataDir))} free`)
  const docks = await Promise.all(Array.from({ length: writers }, () => createDock(server, small)))
  const ids = docks.map((dock) => dock.id)
  await Promise.all(
    ids.map((id) =>
      run(
        server,
        id,
        `cat > write.py <<'END'\n${writing}END\nsetsid python3 write.py >/dev/null 2>&1 & echo`,
      ),
    ),
  )
  for (let number = 1; number <= rounds; number++) {
    print(`round ${number}`)
    await round(ids)
  }
  for (const id of ids) {
    await run(server, id, 'touch stop; while [ ! -e stopped ]; do sleep 0.1; done; sync')
    // Stop and resume, so that the files are read from the disk and not from a cache.
    await server.client.call('stopDock', { params: { id }, body: {} })
    await onceThereIsRoom(() => server.client.call('resumeDock', { params: { id }, body: {} }))
    const found = await run(server, id, `cat > check.py <<'END'\n${checking}END\npython3 check.py`)
    const [written, bad] = found.split(' ').map(Number)
    expect((written ?? 0) > 0 && bad === 0, `Dock ${id}: ${written} files written, ${bad} of them wrong`)
  }
  expect((await filesystemErrors()) === errorsBefore, 'no filesystem has counted an error')
} finally {
  await server.interrupt()
  await removeDataDir(dataDir)
}
print(failures.length === 0 ? 'the pool guard holds' : `${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)
