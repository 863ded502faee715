/**
 * The command line of a machine. A template fits only machines with the same devices in the same order: a change here must
 * raise {@link machineVersion}, so that older templates are not used.
 */
import { firstDescriptor } from '../jail/launch-jailed.ts'
import type { MachineSize } from '../machine.ts'

/** Part of the name of every template. */
export const machineVersion = 1

/** `tscKhz`: frequency of the host's time stamp counter, which an emulated guest cannot measure. */
export type Acceleration = { kind: 'kvm' } | { kind: 'tcg'; tscKhz: number }

/** What the guest's agent is told the disks are called. */
export const diskSerials = { root: 'dockroot', modules: 'dockmodules' } as const
/** Names of the ports to the guest's agent: `dock.0` and so on. */
export const portCount = 2
/** Name of the block node of a Dock's disk in the monitor. */
export const rootNode = 'root'

/** Order of the descriptors that a machine gets. Those that are null in a launch are left out. */
export type MachineDescriptors = {
  monitor: number
  /** Sockets of the guest's ports. */
  ports: readonly number[]
  root: number
  modules: number
  tap: number
  /** Memory to continue from, open for reading. */
  incoming: number | null
  /** File that the memory may be saved to, open for writing. */
  outgoing: number | null
  kvm: number | null
}

/** QEMU's numbers of sets of descriptors, by which it opens them as files. */
const sets = { root: 1, modules: 2, incoming: 3, outgoing: 4, kvm: 5 } as const
/** What `migrate` is told to write to. */
export const outgoingUri = `file:/dev/fdset/${sets.outgoing}`
/** Set with the memory that a machine continues from. */
export const incomingSet = sets.incoming

const translationMiB = 128
const consoleBytes = 65_536
/** Emulates what x86-64-v2 asks for, which recent distributions are built for. */
const emulatedCpu = 'qemu64,+pdpe1gb,+ssse3,+sse4.1,+sse4.2,+popcnt'
const filter = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'

const kernelArguments = (acceleration: Acceleration): string =>
  [
    ...['console=ttyS0', 'quiet', 'loglevel=1', 'reboot=t', 'panic=-1', 'cgroup_no_v1=all'],
    ...['random.trust_cpu=off', 'tsc=reliable'],
    // Emulation is no boundary that needs the kernel's mitigations, and they are slow in it.
    ...(acceleration.kind === 'tcg' ? [`tsc_early_khz=${acceleration.tscKhz}`, 'mitigations=off'] : []),
  ].join(' ')

/** Returns the arguments, and the descriptors in the order in which they refer to them. */
export function qemuArguments(
  { cpus, memoryMiB }: MachineSize,
  acceleration: Acceleration,
  descriptors: MachineDescriptors,
): { args: string[]; descriptors: number[] } {
  const passed: number[] = []
  /** Returns the number that the descriptor will have in QEMU. */
  const pass = (descriptor: number): number => firstDescriptor + passed.push(descriptor) - 1
  const passSet = (descriptor: number, set: number): string[] => [
    '-add-fd',
    `fd=${pass(descriptor)},set=${set}`,
  ]
  const disk = (node: string, set: number, options: string, device: string): string[] => {
    const file = `file.driver=file,file.filename=/dev/fdset/${set},file.locking=off,file.aio=threads`
    return [
      ...['-blockdev', `driver=raw,node-name=${node},cache.direct=on${options},${file}`],
      ...['-device', `virtio-blk-device,drive=${node}${device}`],
    ]
  }
  const { monitor, ports, root, modules, tap, incoming, outgoing, kvm } = descriptors
  const accelerator = acceleration.kind === 'kvm' ? 'kvm' : `tcg,tb-size=${translationMiB}`
  const args = [
    ...['-name', 'dock-machine', '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-sandbox', filter, '-L', '/usr/share/qemu', '-bios', 'qboot.rom'],
    ...['-M', 'microvm,acpi=on,rtc=off', '-m', String(memoryMiB), '-smp', String(cpus)],
    ...(kvm === null ? [] : passSet(kvm, sets.kvm)),
    ...['-accel', kvm === null ? accelerator : `${accelerator},device=/dev/fdset/${sets.kvm}`],
    ...['-cpu', acceleration.kind === 'kvm' ? 'host' : emulatedCpu],
    ...['-kernel', '/vmlinux', '-initrd', '/initrd', '-append', kernelArguments(acceleration)],
    // A ring in memory: in a file, the guest could fill the host's disk.
    ...['-chardev', `ringbuf,id=console,size=${consoleBytes}`, '-serial', 'chardev:console'],
    ...['-chardev', `socket,id=monitor,fd=${pass(monitor)},server=on,wait=off`],
    ...['-mon', 'chardev=monitor,mode=control'],
    ...['-device', `virtio-serial-device,id=ports,max_ports=${portCount + 1}`],
    ...ports.flatMap((descriptor, index) => [
      ...['-chardev', `socket,id=port${index},fd=${pass(descriptor)},server=on,wait=off`],
      ...['-device', `virtserialport,bus=ports.0,nr=${index + 1},chardev=port${index},name=dock.${index}`],
    ]),
    ...passSet(root, sets.root),
    // A full or broken pool stops the machine instead of breaking its disk.
    ...disk(
      rootNode,
      sets.root,
      ',discard=unmap,detect-zeroes=unmap',
      `,serial=${diskSerials.root},werror=stop,rerror=report`,
    ),
    ...passSet(modules, sets.modules),
    ...disk('modules', sets.modules, ',read-only=on', `,serial=${diskSerials.modules}`),
    ...['-netdev', `tap,id=network,fd=${pass(tap)}`, '-device', 'virtio-net-device,netdev=network'],
    ...['-device', 'virtio-rng-device'],
    ...['-device', 'virtio-balloon-device,deflate-on-oom=on,free-page-reporting=on'],
    ...(outgoing === null ? [] : passSet(outgoing, sets.outgoing)),
    ...(incoming === null
      ? []
      : [...passSet(incoming, sets.incoming), '-incoming', `file:/dev/fdset/${sets.incoming}`]),
  ]
  return { args, descriptors: passed }
}
