/**
 * The gofer of a blank sandbox. runsc starts a gofer together with the sentry and gives it the disk at once, but a
 * blank sandbox has no disk yet. So the driver takes over the gofer's end of their connection, on which nothing was
 * sent so far, and ends that gofer. In its place a program waits, in the namespaces and control group of a gofer. It
 * becomes runsc's gofer when the disk is known. Nothing of this is a documented interface of gVisor (decision 050).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import { InputPipe } from '../pipes/input-pipe.ts'
import { type HostProcess, hostProcess } from '../system/host-process.ts'
import { takeDescriptor } from '../system/take-descriptor.ts'

/** Maps every user and group of the new user namespace to itself, as runsc does. */
const identityMap = '0 0 4294967295'

/**
 * Closes all other descriptors, tells its pid, waits for a line, and becomes the gofer. An end of file instead of a
 * line ends it. The mount namespace is made last: made earlier, it would keep the disks of other Docks mounted while it
 * waits. For the same reason the gofer is run by its descriptor: a path would lead to a file of the new namespace, whose
 * mounts then stay for as long as the file is in use.
 */
const wait = `for each in /proc/self/fd/*; do
  [ "\${each##*/}" -le 7 ] || eval "exec \${each##*/}>&-"
done
read -r pid _ </proc/self/stat
echo "$pid"
read -r _ || exit 1
exec </dev/null >/dev/null
exec unshare --mount --propagation unchanged -- /bin/bash -c 'exec -c -a runsc-gofer /proc/self/fd/6 "$@"' gofer "$@"`
const namespaces = ['--user', '--ipc', '--net', '--pid', '--uts']
/** Descriptors of the gofer: the connection, the configuration, and the mounts that it resolves, which nobody reads. */
const descriptors = ['--io-fds=3', '--spec-fd=4', '--mounts-fd=5']
/** Releases since 2026 also need one for calls to runsc, which mounts of Docks never need. */
const callDescriptor = '--rpc-fd=7'
/**
 * Flags that the replacement does not get: those with which a gofer of 2024 started itself again when it had confined itself,
 * which the replacement does too, and descriptors of runsc for the time of the start, which the replacement has not.
 */
const dropped = [
  ...['--proc-mount-sync-fd=', '--apply-caps=', '--setup-root='],
  ...['--pin-ring-fd=', '--sync-sentry-exit-fd=', '--sync-chroot-fd='],
]
/** As of every process of a sandbox that starts (run-detached.ts). */
const launchScore = '800'

const deathTimeoutMs = 5_000
const deathPollMs = 1

export type WaitingGofer = {
  process: HostProcess
  /** Lets the gofer serve the root filesystem of this configuration. */
  start(config: object): void
  /** Closes what the driver holds. A gofer that still waits ends. */
  close(): void
}

const argumentsOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1, -1)

const nameOf = (flag: string): string => flag.slice(0, flag.indexOf('=') + 1)

/** Returns the arguments for the replacement, and the number of the connection in the gofer of runsc. */
const parseArguments = (given: readonly string[]): { connection: number; replaced: string[] } => {
  const takesCalls = given.some((each) => each.startsWith(nameOf(callDescriptor)))
  const own = takesCalls ? [...descriptors, callDescriptor] : descriptors
  const [io] = own.map(nameOf)
  const connection = given.find((each) => each.startsWith(io!))?.slice(io!.length)
  const kept = given.filter((each) => ![...own.map(nameOf), ...dropped].some((name) => each.startsWith(name)))
  const command = kept.indexOf('gofer')
  if (command < 0 || !connection || !/^\d+$/.test(connection))
    throw new Error(`unexpected gofer: ${given.join(' ')}`)
  // Behind the command and before the id, after which runsc reads no flags.
  return { connection: Number(connection), replaced: kept.toSpliced(command + 1, 0, ...own) }
}

/**
 * Ends the process and waits for all of its threads: a thread that still reads the connection would take a request.
 */
const endWithThreads = async (pid: number): Promise<void> => {
  process.kill(pid, 'SIGKILL')
  const begin = performance.now()
  while (hostProcess(pid) || threadsOf(pid) > 1) {
    if (performance.now() - begin > deathTimeoutMs) throw new Error(`gofer ${pid} did not end`)
    await delay(deathPollMs)
  }
}

const threadsOf = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`).length
  } catch {
    return 0
  }
}

/** Replaces the gofer with this pid. `configFile` is a new file, which gets the configuration at the start. */
export async function replaceGofer(
  goferPid: number,
  configFile: string,
  group: SandboxCgroup,
): Promise<WaitingGofer> {
  const { connection, replaced } = parseArguments(argumentsOf(goferPid))
  const opened: number[] = []
  const open = (descriptor: number): number => {
    opened.push(descriptor)
    return descriptor
  }
  try {
    const socket = open(takeDescriptor(goferPid, connection))
    const runsc = open(openSync(`/proc/${goferPid}/exe`, 'r'))
    await endWithThreads(goferPid)
    writeFileSync(configFile, '', { mode: 0o600 })
    const config = open(openSync(configFile, 'r'))
    const [nowhere, nobody] = [open(openSync('/dev/null', 'w')), open(openSync('/dev/null', 'r+'))]
    const program = ['setsid', '/bin/bash', '-c', wait, 'gofer']
    const args = [...namespaces, '--fork', '--', ...program, ...replaced]
    // Not a pipe of Node, which Node would close when the starter ends.
    const order = new InputPipe()
    const starter = spawn('unshare', args, {
      ...{ cwd: '/', detached: true, env: { PATH: process.env.PATH } },
      stdio: [order.readFd, 'pipe', 'ignore', socket, config, nowhere, runsc, nobody],
    })
    order.closeReader()
    const { stdout: told } = starter
    try {
      if (!told) throw new Error('no descriptor is left for a gofer')
      const [line] = await Promise.race([once(told, 'data'), once(starter, 'exit').then(() => [''] as const)])
      const waiting = hostProcess(Number(line) || 0)
      if (!waiting) throw new Error('the gofer of a blank sandbox did not start')
      const write = (file: string, text: string) => writeFileSync(`/proc/${waiting.pid}/${file}`, text)
      write('setgroups', 'deny')
      write('uid_map', identityMap)
      write('gid_map', identityMap)
      write('oom_score_adj', launchScore)
      group.add(waiting.pid)
      return {
        process: waiting,
        start: (wanted) => {
          writeFileSync(configFile, JSON.stringify(wanted))
          order.write('\n')
          order.end()
        },
        close: () => order.destroy(),
      }
    } catch (error) {
      order.destroy()
      throw error
    } finally {
      told?.destroy()
      // It only waits for its child, whose parent is from now on the reaper of this host's sandboxes.
      starter.kill('SIGKILL')
    }
  } finally {
    for (const each of opened) closeSync(each)
  }
}
