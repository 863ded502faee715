/**
 * A virtual machine with Debian's kernel and cgroup v2, for hosts that have version 1. Its root filesystem is an
 * overlay in memory over this machine's root, which is read-only. QEMU emulates the processor, so KVM is not needed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { runCommand, tryCommand } from '@dock/foundation'

const memoryMiB = 2048
/** The first line that the booted machine prints. On busy processors a boot may hang, so it is retried. */
const booted = 'booted'
const bootMs = 120_000
const bootsMax = 4
const tools = { 'qemu-system-x86_64': 'qemu-system-x86', busybox: 'busybox-static', cpio: 'cpio' }
/** Kernel modules, in the order of their dependencies. */
const modules = [
  ...['drivers/virtio/virtio_ring', 'drivers/virtio/virtio', 'drivers/virtio/virtio_mmio'],
  ...['fs/netfs/netfs', 'fs/fscache/fscache', 'net/9p/9pnet', 'fs/9p/9p', 'net/9p/9pnet_virtio'],
  'fs/overlayfs/overlay',
]

const init = `#!/bin/busybox sh
b=/bin/busybox
for module in ${modules.map((path) => basename(path)).join(' ')}; do $b insmod /modules/$module.ko; done
$b mount -t tmpfs none /layers
$b mkdir /layers/below /layers/above /layers/work /layers/root
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /layers/below
root=/layers/root
$b mount -t overlay -o lowerdir=/layers/below,upperdir=/layers/above,workdir=/layers/work overlay $root
$b mount -t proc proc $root/proc
$b mount -t sysfs sys $root/sys
$b mount -t devtmpfs dev $root/dev
$b mount -t cgroup2 cgroup $root/sys/fs/cgroup
$b mount -t tmpfs tmp $root/tmp
$b mount -t tmpfs run $root/run
$b cp /main $root/run/main
exec <$root/dev/null
exec $b switch_root $root /bin/bash /run/main
`

/** Hides net/core, because gVisor of 2024 refuses to start where it is visible (apps/host-agent/launch). */
const main = (command: string): string => `#!/bin/bash
echo ${booted}
ip link set lo up
view=$(mktemp -d)
mount -t tmpfs none "$view"
mkdir -p "$view"/{vm,kernel,fs,net/core}
for part in vm kernel fs; do mount --bind "/proc/sys/$part" "$view/$part"; done
mount --rbind "$view" /proc/sys
${command}
echo b >/proc/sysrq-trigger
`

/** Downloads and unpacks the distribution's newest kernel, without installing it. */
const fetchKernel = async (folder: string): Promise<{ image: string; modulesPath: string }> => {
  const depends = await runCommand('apt-cache', ['depends', 'linux-image-amd64'])
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1]
  if (!name) throw new Error('apt does not know linux-image-amd64: run apt-get update')
  await runCommand('apt-get', ['download', name], { cwd: folder, timeoutMs: 300_000 })
  const archive = readdirSync(folder).find((each) => each.endsWith('.deb')) ?? ''
  await runCommand('dpkg-deb', ['-x', join(folder, archive), folder], { timeoutMs: 120_000 })
  const release = name.replace('linux-image-', '')
  return {
    image: join(folder, `boot/vmlinuz-${release}`),
    modulesPath: join(folder, 'lib/modules', release, 'kernel'),
  }
}

const makeInitrd = async (folder: string, modulesPath: string, command: string): Promise<string> => {
  const tree = join(folder, 'initrd')
  for (const name of ['bin', 'modules', 'layers']) mkdirSync(join(tree, name), { recursive: true })
  const busybox = (await runCommand('sh', ['-c', 'command -v busybox'])).trim()
  copyFileSync(busybox, join(tree, 'bin/busybox'))
  for (const path of modules)
    copyFileSync(join(modulesPath, `${path}.ko`), join(tree, 'modules', `${basename(path)}.ko`))
  writeFileSync(join(tree, 'main'), main(command))
  writeFileSync(join(tree, 'init'), init)
  chmodSync(join(tree, 'init'), 0o700)
  await runCommand('sh', ['-c', 'find . | cpio -o -H newc --quiet >../initrd.cpio'], { cwd: tree })
  return join(folder, 'initrd.cpio')
}

/**
 * Returns kernel arguments with the TSC frequency. On a busy machine the guest would measure a wrong frequency and
 * hang. Falls back to /proc/cpuinfo, because old kernel messages may be gone.
 */
const clockArguments = async (): Promise<string> => {
  const { stdout } = await tryCommand('dmesg', [])
  const mhz =
    /tsc: Detected ([\d.]+) MHz/.exec(stdout)?.[1] ??
    /^cpu MHz\s*: ([\d.]+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  return mhz ? `tsc=reliable tsc_early_khz=${Math.round(Number(mhz) * 1000)}` : ''
}

/** Runs `command` with bash in the machine. Calls `line` for each console line. Resolves when the machine is off. */
export async function runInMachine(
  folder: string,
  command: string,
  line: (text: string) => void,
  timeoutMs: number,
): Promise<void> {
  for (const [tool, from] of Object.entries(tools)) {
    const { code } = await tryCommand('sh', ['-c', `command -v ${tool}`])
    if (code !== 0) throw new Error(`${tool} is missing: apt-get install ${from}`)
  }
  const { image, modulesPath } = await fetchKernel(folder)
  const initrd = await makeInitrd(folder, modulesPath, command)
  const append = `console=ttyS0 reboot=t panic=-1 quiet loglevel=1 ${await clockArguments()}`
  const args = [
    ...[
      '-M',
      'microvm,acpi=on',
      '-accel',
      'tcg,tb-size=256',
      '-cpu',
      'max',
      '-smp',
      '1',
      '-m',
      `${memoryMiB}`,
    ],
    ...['-bios', '/usr/share/qemu/qboot.rom', '-kernel', image, '-initrd', initrd, '-append', append],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-serial', 'stdio'],
    ...['-fsdev', 'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap'],
    ...['-device', 'virtio-9p-device,fsdev=host,mount_tag=host'],
  ]
  for (let boots = 1; boots <= bootsMax; boots += 1) {
    if (await runOnce(args, line, timeoutMs)) return
    line(`the machine did not boot within ${bootMs / 1000} s (attempt ${boots} of ${bootsMax})`)
  }
}

/** Runs the machine once. Returns true if it booted. */
const runOnce = async (
  args: readonly string[],
  line: (text: string) => void,
  timeoutMs: number,
): Promise<boolean> => {
  const machine = spawn('qemu-system-x86_64', args, {
    ...{ stdio: ['ignore', 'pipe', 'inherit'], timeout: timeoutMs, killSignal: 'SIGKILL' },
  })
  let isUp = false
  const timer = setTimeout(() => {
    if (!isUp) machine.kill('SIGKILL')
  }, bootMs)
  createInterface({ input: machine.stdout }).on('line', (text) => {
    isUp ||= text.trim() === booted
    line(text)
  })
  await once(machine, 'close')
  clearTimeout(timer)
  return isUp
}
