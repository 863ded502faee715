/**
 * Starts QEMU in its jail: an own user without capabilities or groups, no way to gain privileges, own namespaces (its network
 * has no interface), one read-only file tree, limits, and only the descriptors that it is given. QEMU's own seccomp filter is
 * on top of that. util-linux does it all; the tree has the two programs that are needed after the change of root.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

export type JailedLaunch = {
  /** Root of the file tree: root/ of a release with an initrd. */
  tree: string
  uid: number
  /** Folders of the control group that it joins. */
  groupFolders: readonly string[]
  /** The largest file that it may write. */
  fileBytesMax: number
  /** Descriptors that it gets, from 3 on. The caller may close its own once the process is started. */
  descriptors: readonly number[]
  /** Arguments of QEMU. */
  args: readonly string[]
}

export type JailedProcess = {
  /** Resolves when it has ended, with what it printed last. */
  ended: Promise<string>
}

/** Descriptors 0 to 2 are the standard streams. */
export const firstDescriptor = 3
const openFilesMax = 512
/** A host that runs out of memory ends machines before its own services, which may have a score that protects them. */
const memoryPreference = 500
const outputBytesMax = 4096

/** Joins the control groups: NUMBER FOLDER... COMMAND... The text is constant; no argument becomes part of it. */
const joinGroups = `
count=$1
shift
while [ "$count" -gt 0 ]; do
  echo $$ >"$1/cgroup.procs" || exit 125
  shift
  count=$((count - 1))
done
echo ${memoryPreference} >/proc/self/oom_score_adj
exec "$@"`

/**
 * Makes the tree $0 the root of this mount namespace and gives up everything else, then runs setpriv with the arguments. umount
 * reads /proc, so that is there for a moment.
 */
const enterTree = `
set -e
mount --make-rprivate /
mount --bind "$0" "$0"
mount -o remount,bind,ro,nosuid,nodev "$0"
mount --bind /proc "$0/proc"
cd "$0"
pivot_root . old
umount -l /old
umount -l /proc
exec setpriv "$@"`

/** Starts QEMU. It outlives this process. Throws if no process can be started; a failure in the jail ends the process. */
export function launchJailed(launch: JailedLaunch): JailedProcess {
  const { tree, uid, groupFolders, fileBytesMax, descriptors, args } = launch
  const identity = [
    ...['--reuid', String(uid), '--regid', String(uid), '--clear-groups'],
    ...['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'],
  ]
  const limits = [`--nofile=${openFilesMax}`, '--core=0', `--fsize=${fileBytesMax}`]
  const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--net', '--cgroup']
  const child = spawn(
    '/bin/sh',
    [
      ...['-c', joinGroups, 'dock-machine', String(groupFolders.length), ...groupFolders],
      ...['prlimit', ...limits, '--'],
      ...['unshare', ...namespaces, '--fork', '--'],
      ...['/bin/sh', '-c', enterTree, tree, ...identity, '--'],
      ...['qemu-system-x86_64', ...args],
    ],
    {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      // QEMU ignores SIGPIPE: what it prints after this process has ended is lost.
      stdio: ['ignore', 'ignore', 'pipe', ...descriptors],
    },
  )
  child.unref()
  return { ended: lastWords(child) }
}

/** Reads what the process prints, so that it never waits for a reader, and keeps the end of it. */
const lastWords = (child: ChildProcess): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  // Without descriptors left, the child has no streams.
  const output = child.stdio[2] as (Readable & { unref?(): void }) | null
  output?.setEncoding('utf8')
  output?.on('data', (piece: string) => {
    text = (text + piece).slice(-outputBytesMax)
  })
  output?.on('error', () => undefined)
  output?.unref?.()
  child.once('error', (error) => resolve(error.message))
  child.once('close', (code, signal) => resolve(`${text.trim()} (exit ${signal ?? code})`.trim()))
  return promise
}
