/** Takes a copy of another process's descriptor. */
import { closeSync } from 'node:fs'
import koffi from 'koffi'

const syscall = koffi.load(null).func('long syscall(long number, ...)')
/** Since Linux 5.6, with the same numbers on every architecture. */
const pidfdOpen = 434
const pidfdGetfd = 438

const check = (call: string, result: number): number => {
  if (result < 0) throw new Error(`${call}: errno ${koffi.errno()}`)
  return result
}

/** Returns a copy, with close-on-exec, of descriptor `descriptor` of process `pid`. The caller closes it. */
export function takeDescriptor(pid: number, descriptor: number): number {
  const process = check('pidfd_open', Number(syscall(pidfdOpen, 'int', pid, 'unsigned int', 0)))
  try {
    return check(
      'pidfd_getfd',
      Number(syscall(pidfdGetfd, 'int', process, 'int', descriptor, 'unsigned int', 0)),
    )
  } finally {
    closeSync(process)
  }
}
