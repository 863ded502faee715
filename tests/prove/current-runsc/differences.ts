/**
 * Prints what differs between releases of runsc, as a table. Times are taken by turns, so that all releases meet the same
 * load. Needs root and DOCK_TEST_ROOTFS.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import type { ExecRequest, RuntimeDriver, SandboxHandle, SandboxSpec } from '@dock/runtime'
import { createGvisorDriver } from '@dock/runtime-gvisor'
import { readBootFlags } from '@dock/runtime-gvisor/src/runsc/boot-flags.ts'
import { type DockNamespace, makeDockNamespace } from '@dock/testkit/src/runtime/dock-namespace.ts'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { type Figure, percentile } from '../../../bench/figures.ts'

const rounds = 12
const starts = 100
const logger = createLogger('prove')
logger.level = 'error'

const request = (script: string, uid = 0): ExecRequest => ({
  ...{ argv: ['/bin/bash', '-c', script], env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, cwd: '/' },
  ...{ uid, gid: uid, timeoutMs: 120_000, outputLimitBytes: 65_536 },
})

/** What a release can do, each as a line of the table. A script prints the cell; it runs as root in a sandbox. */
const questions: readonly (readonly [string, string])[] = [
  ['`uname -r`', 'uname -r'],
  [
    'setuid programs',
    'cp /usr/bin/id /opt; chmod 4755 /opt/id; setpriv --reuid 1000 --clear-groups /opt/id -u | sed "s/^0$/work/; s/^1000$/run as the caller/"',
  ],
  ['control groups inside', 'ls /sys/fs/cgroup | tr "\\n" " " | grep . || echo none'],
  [
    'user namespaces for users',
    'setpriv --reuid 1000 --clear-groups unshare -U true 2>/dev/null && echo work || echo refused',
  ],
  [
    'mount namespaces for users',
    'setpriv --reuid 1000 --clear-groups unshare -Um true 2>/dev/null && echo work || echo refused',
  ],
  [
    'overlayfs mounts',
    'mkdir -p /opt/{l,u,w,m}; mount -t overlay overlay -o lowerdir=/opt/l,upperdir=/opt/u,workdir=/opt/w /opt/m 2>/dev/null && echo work || echo refused',
  ],
  ['/dev/fuse', '[ -e /dev/fuse ] && echo there || echo missing'],
  ['io_uring', 'perl -e \'print syscall(425, 1, my $p = "\\0" x 120) < 0 ? "missing" : "works"\''],
  ['landlock', 'perl -e \'print syscall(444, 0, 0, 1) < 0 ? "missing" : "works"\''],
  ['pidfd_open', 'perl -e \'print syscall(434, $$, 0) < 0 ? "missing" : "works"\''],
]

type Subject = { name: string; runsc: string; folder: string; driver: RuntimeDriver; handle?: SandboxHandle }

const ms = (figure: Figure): string =>
  `${percentile(figure, 0.5).toFixed(1)} / ${percentile(figure, 0.95).toFixed(1)}`

export async function printDifferences(programs: readonly string[]): Promise<void> {
  const rootfs = process.env.DOCK_TEST_ROOTFS
  if (!rootfs) throw new Error('DOCK_TEST_ROOTFS is missing')
  const scratch = mkdtempSync(join(tmpdir(), 'dock-releases-'))
  const networks: DockNamespace[] = []
  const subjects: Subject[] = []
  let generation = 0
  const specOf = async ({ folder }: Subject, disk: string): Promise<SandboxSpec> => {
    const network = await makeDockNamespace()
    networks.push(network)
    generation += 1
    return {
      ...{ dockId: newUuid(), generation, hostname: 'releases', cpus: 2, memoryMiB: 512 },
      ...{ disk: { mount: join(folder, disk) }, netnsPath: network.netnsPath, nameserver: '192.0.2.1' },
    }
  }
  const textOf = async ({ driver, handle }: Subject, script: string): Promise<string> => {
    const { stdout, stderr } = await driver.exec(handle!, request(script))
    return `${stdout}`.trim() || `no answer: ${`${stderr}`.trim().slice(0, 60)}`
  }
  const rows = new Map<string, string[]>()
  const add = (row: string, cell: string): void => void rows.set(row, [...(rows.get(row) ?? []), cell])
  try {
    for (const [index, runsc] of programs.entries()) {
      const folder = join(scratch, String(index))
      await runCommand('mkdir', ['-p', folder])
      for (const disk of ['disk', 'second-disk']) await runCommand('cp', ['-a', rootfs, join(folder, disk)])
      const runscPath = join(folder, 'runsc')
      placeLauncher(runsc, runscPath)
      const driver = createGvisorDriver({
        ...{ runscPath, rootDir: join(folder, 'root'), stateDir: join(folder, 'state'), logger },
      })
      await driver.fingerprint()
      subjects.push({ name: (await driver.readRelease()).version, runsc, folder, driver })
    }
    for (const subject of subjects) {
      subject.handle = await subject.driver.start(await specOf(subject, 'disk'))
      await subject.driver.exec(subject.handle, request('true'))
      add('commands go by', (await subject.driver.fingerprint()).detail.exec ?? '')
      add('flags that only it knows', (await readBootFlags(subject.runsc)).join(' ') || 'none')
      for (const [row, script] of questions) add(row, await textOf(subject, script))
    }
    const figures = new Map<string, Figure[]>()
    const take = async (row: string, index: number, work: () => Promise<unknown>): Promise<void> => {
      const began = performance.now()
      await work()
      const all = figures.get(row) ?? subjects.map(({ name }) => ({ name, samplesMs: [] }))
      all[index]!.samplesMs.push(performance.now() - began)
      figures.set(row, all)
    }
    for (let round = 0; round < rounds; round += 1)
      for (const index of round % 2 === 0 ? subjects.keys() : [...subjects.keys()].reverse()) {
        const subject = subjects[index]!
        const { driver, handle } = subject
        const spec = await specOf(subject, 'second-disk')
        let made: SandboxHandle | undefined
        await take('start to first command', index, async () => {
          made = await driver.start(spec)
          await driver.exec(made, request('true'))
        })
        await driver.destroy(made!)
        for (let exec = 0; exec < 5; exec += 1)
          await take('exec of `true`', index, () =>
            driver.exec(handle!, { ...request(''), argv: ['/bin/true'] }),
          )
        await take(`${starts} × /bin/true in bash`, index, () =>
          driver.exec(handle!, request(`for i in {1..${starts}}; do /bin/true; done`)),
        )
        await take('`find` over the disk', index, () => driver.exec(handle!, request('find /usr | wc -l')))
        await take('untar of 2,000 files', index, () =>
          driver.exec(
            handle!,
            request(
              'rm -rf /opt/tar; mkdir /opt/tar; cd /usr/share && tar cf - $(find . -type f | head -2000) | tar xf - -C /opt/tar',
            ),
          ),
        )
      }
    console.log(
      `\n| | ${subjects.map(({ name }) => name).join(' | ')} |\n|---|${'---|'.repeat(subjects.length)}`,
    )
    for (const [row, cells] of rows) console.log(`| ${row} | ${cells.join(' | ')} |`)
    for (const [row, all] of figures) console.log(`| ${row}, ms p50 / p95 | ${all.map(ms).join(' | ')} |`)
  } finally {
    for (const { driver, handle } of subjects) if (handle) await driver.destroy(handle)
    for (const network of networks) await network.remove()
    rmSync(scratch, { recursive: true, force: true })
  }
}
