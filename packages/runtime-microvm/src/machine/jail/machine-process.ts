/** Finds the process of QEMU among those of its machine: the first one of its own pid namespace. */
import { readFileSync } from 'node:fs'

/** Returns the host's id of the process, or null if none of these is one. */
export function findMachineProcess(pids: readonly number[]): number | null {
  return pids.find(isFirstOfNamespace) ?? null
}

const isFirstOfNamespace = (pid: number): boolean => {
  try {
    const ids = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split(/\s+/) ?? []
    return ids.length > 1 && ids.at(-1) === '1'
  } catch {
    return false
  }
}
