/** Which sockets a process has open, for a report of what it did not close. */
import { execFile } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the sockets of the process that are alike as one line, with how many there are. */
export async function describeSockets(pid: number): Promise<string[]> {
  const { stdout } = await run('ss', ['-Htuxanp'], { maxBuffer: 2 ** 26 })
  const counts = new Map<string, number>()
  for (const line of stdout.split('\n')) {
    if (!line.includes(`pid=${pid},`)) continue
    const [network, state, received, , local = '', localPort = '', peer = ''] = line.split(/\s+/)
    const unread = received === '0' ? '' : ', with bytes that nobody reads'
    const ends = network?.startsWith('u_')
      ? local
      : `${local.replace(/:\d{5}$/, ':…')} – ${localPort || peer}`
    const kind = `${network} ${state} ${ends}${unread}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const listed = [...counts.values()].reduce((sum, times) => sum + times, 0)
  const unlisted = (await countSockets(pid)) - listed
  if (unlisted > 0) counts.set('reset, or of the network of a Dock', unlisted)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([kind, times]) => `${times} × ${kind}`)
}

const countSockets = async (pid: number): Promise<number> => {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder)
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith('socket:')).length
}
