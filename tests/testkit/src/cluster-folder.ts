/**
 * The folder of a test run's cluster. Cloning and dropping a database touches some thousand files, which takes a second
 * on the disk of a busy machine, and a fiftieth of it in memory.
 */
import { mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'dock-test-'
/** More than a run needs: a hundred databases and 1 GiB of write-ahead log. */
const neededBytes = 4 * 2 ** 30

/** Makes the folder, in memory if there is room. The pid in its name tells who removes it. */
export async function makeClusterFolder(): Promise<string> {
  await removeLeftovers()
  const space = await statfs(memory).catch(() => undefined)
  const fits = space !== undefined && space.bavail * space.bsize >= neededBytes
  return mkdtemp(join(fits ? memory : tmpdir(), `${prefix}${process.pid}-`))
}

/** Memory is not freed by a restart of the run, so folders of runs that were killed are removed. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(memory).catch(() => [])) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || (await isAlive(pid))) continue
    // The server of a killed run may have outlived it.
    const server = Number(
      (await readFile(join(memory, name, 'pg/postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0],
    )
    if (server > 0 && (await isAlive(String(server)))) continue
    await rm(join(memory, name), { recursive: true, force: true })
  }
}

const isAlive = (pid: string): Promise<boolean> =>
  readFile(`/proc/${pid}/comm`).then(
    () => true,
    () => false,
  )
