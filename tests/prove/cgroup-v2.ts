/**
 * Proves the memory guard on cgroup v2, in a virtual machine with Debian's kernel. A real gVisor sandbox runs out of
 * memory in three ways and keeps running; the kernel kills nothing. As a control, the kernel kills without the guard.
 * Needs root, apt, qemu-system-x86, busybox-static and cpio. Run by script/prove cgroup-v2.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@dock/foundation'
import { runInMachine } from './cgroup-v2/machine.ts'

const root = new URL('../..', import.meta.url).pathname
const timeoutMs = 30 * 60_000

const fixtures = async (): Promise<{ runsc: string; rootfs: string }> => {
  const { DOCK_TEST_RUNSC: runsc, DOCK_TEST_ROOTFS: rootfs } = process.env
  if (runsc && rootfs) return { runsc, rootfs }
  const cache = process.env.DOCK_TEST_CACHE ?? join(root, '.tools/test')
  await runCommand(join(root, 'script/install/test-fixtures'), [cache], { timeoutMs })
  return { runsc: join(cache, 'runsc'), rootfs: join(cache, 'rootfs') }
}

const folder = mkdtempSync(join(tmpdir(), 'dock-cgroup-v2-'))
const outcomes: string[] = []
try {
  const { runsc, rootfs } = await fixtures()
  const guest = join(root, 'tests/prove/cgroup-v2/guest.ts')
  const quoted = [process.execPath, guest, runsc, rootfs, '/run/proved'].map((word) => `'${word}'`)
  const print = (text: string): void => {
    process.stdout.write(`${text}\n`)
    outcomes.push(text.trim())
  }
  await runInMachine(folder, `cd '${root}'\n${quoted.join(' ')}`, print, timeoutMs)
} finally {
  rmSync(folder, { recursive: true })
}
const failed = outcomes.filter((each) => each.startsWith('FAILED')).length
const isWhole = outcomes.includes('end')
const verdict = isWhole ? `${failed} failed` : 'the machine ended before the proof did'
process.stdout.write(`${isWhole && failed === 0 ? 'the memory guard holds on cgroup v2' : verdict}\n`)
process.exit(isWhole && failed === 0 ? 0 : 1)
