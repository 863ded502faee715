/** Tells from outside whether a Dock's sandbox is frozen. */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { sandboxNamesOf } from '../../crash/processes.ts'
import { emulatorsOf } from '../../crash/scan-machines.ts'

const lookMs = 1_000

/** Returns the processor time that a process has used, in nanoseconds. */
const timeOf = async (pid: number): Promise<number> => {
  const tasks = `/proc/${pid}/task`
  const times = (await readdir(tasks)).map(async (task) => {
    const text = await readFile(`${tasks}/${task}/schedstat`, 'utf8').catch(() => '0')
    return Number.parseInt(text, 10)
  })
  return (await Promise.all(times)).reduce((sum, each) => sum + each, 0)
}

/** Returns true if the kernel reports the sandbox's cgroup as frozen, or if no processor of the microVM runs. */
export async function isFrozen(dockId: string): Promise<boolean> {
  const [emulator] = await emulatorsOf(dockId)
  if (emulator !== undefined) {
    const before = await timeOf(emulator)
    await delay(lookMs)
    return (await timeOf(emulator)) === before
  }
  const sandbox = (await sandboxNamesOf(dockId)).at(-1) ?? ''
  const one = await readFile(`/sys/fs/cgroup/freezer/dock/${sandbox}/freezer.state`, 'utf8').catch(() => null)
  if (one !== null) return one.trim() === 'FROZEN'
  return (await readFile(`/sys/fs/cgroup/dock/${sandbox}/cgroup.events`, 'utf8')).includes('frozen 1')
}
