import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const pinFile = join(dirname(import.meta.dirname), 'pin.sh')
const run = promisify(execFile)
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-pin-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Pins a namespace that was made on one processor from another, and prints `pinned` if that worked. */
const pinned = (made: number, pinning: number, program: string) => {
  const script = `. "$PIN"; taskset -cp ${pinning} $$ >/dev/null; code=0; pin_namespace ${program} || code=$?
    is_pinned && echo pinned; remove_pin; exit $code`
  const within = ['--mount', '--propagation', 'private', 'bash', '-uc', script]
  return run('taskset', ['-c', String(made), 'unshare', ...within], {
    env: { ...process.env, DOCK_HOST_DIR: folder, PIN: pinFile },
  })
}

const processors = [0, availableParallelism() - 1]
const pairs = processors.flatMap((made) => processors.map((pinning) => [made, pinning] as const))
test.each(pairs)('pins a namespace made on processor %i from processor %i', async (made, pinning) => {
  expect((await pinned(made, pinning, 'touch "$DOCK_HOST_DIR/prepared"')).stdout).toBe('pinned\n')
})

test('does not pin the namespace when its preparation fails, and prints the error once', async () => {
  const { code, stdout, stderr } = await pinned(0, 0, 'cat /nowhere').catch((error) => error)
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toBe('cat: /nowhere: No such file or directory\n')
})

test('a new namespace releases the disks of other host folders', async () => {
  // Use a separate namespace so that no other test copies the mount. The inner unshare makes the copy.
  const script = `cd "$DOCK_HOST_DIR"; truncate -s 16M disk.raw; mkfs.ext4 -q -F disk.raw; mkdir mine other
    mount -o loop disk.raw other; device=$(findmnt -no SOURCE other); name=\${device#/dev/}
    export DOCK_HOST_DIR=$DOCK_HOST_DIR/mine
    coproc unshare --mount bash -uc '. "$PIN"; "$@"; echo ready; exec cat' inner "$1"
    read -r <&"\${COPROC[0]}"
    umount other
    for _ in {1..100}; do [ -e /sys/fs/ext4/$name ] || break; sleep 0.02; done
    [ -e /sys/fs/ext4/$name ] && echo held || echo released
    kill "$COPROC_PID"`
  const inside = (prepare: string) =>
    run('unshare', ['--mount', '--propagation', 'private', 'bash', '-uc', script, 'outer', prepare], {
      env: { ...process.env, DOCK_HOST_DIR: folder, PIN: pinFile },
    })
  expect((await inside('release_foreign_disks')).stdout).toBe('released\n')
  await rm(folder, { recursive: true })
  await mkdir(folder)
  expect((await inside('true')).stdout).toBe('held\n')
})
