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
  [ "\${each##*/}" -le 6 ] || eval "exec \${each##*/}>&-"
done
read -r pid _ </proc/self/stat
echo "$pid"
read -r _ || exit 1
exec </dev/null >/dev/null
exec unshare --mount --propagation unchanged -- /bin/bash -c 'exec -c -a runsc-gofer /proc/self/fd/6 "$@"' gofer "$@"`
const namespaces = ['--user', '--ipc', '--net', '--pid', '--uts']
/** Descriptors of the gofer: the connection, the configuration, and the mounts that it resolves, which nobody reads. */
const descriptors = ['--io-fds=3', '--spec-fd=4', '--mounts-fd=5']
/** Flags with which runsc's gofer started itself again when it had confined itself. The replacement does that too. */
const ofSecondStart = ['--proc-mount-sync-fd=', '--apply-caps=', '--setup-root=']
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

/** Returns the arguments for the replacement, and the number of the connection in the gofer of runsc. */
const parseArguments = (given: readonly string[]): { connection: number; kept: string[] } => {
  const names = descriptors.map((each) => each.slice(0, each.indexOf('=') + 1))
  const connection = given.find((each) => each.startsWith(names[0]!))?.slice(names[0]!.length)
  if (!connection || !/^\d+$/.test(connection)) throw new Error(`unexpected gofer: ${given.join(' ')}`)
  return {
    connection: Number(connection),
    kept: given.filter((each) => ![...names, ...ofSecondStart].some((name) => each.startsWith(name))),
  }
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
  const { connection, kept } = parseArguments(argumentsOf(goferPid))
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
    const [config, nowhere] = [open(openSync(configFile, 'r')), open(openSync('/dev/null', 'w'))]
    const program = ['setsid', '/bin/bash', '-c', wait, 'gofer']
    const args = [...namespaces, '--fork', '--', ...program, ...kept, ...descriptors]
    // Not a pipe of Node, which Node would close when the starter ends.
    const order = new InputPipe()
    const starter = spawn('unshare', args, {
      ...{ cwd: '/', detached: true, env: { PATH: process.env.PATH } },
      stdio: [order.readFd, 'pipe', 'ignore', socket, config, nowhere, runsc],
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
