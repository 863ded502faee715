/** Capabilities of a sandbox's processes: who holds which, by name and as masks. */

/** All of Linux', each at the place of its number. */
const names = [
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'LINUX_IMMUTABLE',
  'NET_BIND_SERVICE',
  'NET_BROADCAST',
  'NET_ADMIN',
  'NET_RAW',
  'IPC_LOCK',
  'IPC_OWNER',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_CHROOT',
  'SYS_PTRACE',
  'SYS_PACCT',
  'SYS_ADMIN',
  'SYS_BOOT',
  'SYS_NICE',
  'SYS_RESOURCE',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'MKNOD',
  'LEASE',
  'AUDIT_WRITE',
  'AUDIT_CONTROL',
  'SETFCAP',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
] as const
export type Capability = (typeof names)[number]

/** What root inside may do: a container's usual set and what package managers, debuggers and ping need. */
const rootHolds: readonly Capability[] = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
  'SYS_PTRACE',
]

/** One bit a capability; below 2^53, so a number holds it. */
export function maskOf(capabilities: readonly Capability[]): number {
  return capabilities.reduce((mask, name) => mask + 2 ** names.indexOf(name), 0)
}

/** What a process of this user holds and can ever get: only root holds any, and nobody more than `bounding`. */
export function capabilitiesOf(
  uid: number,
  alsoBounding: readonly Capability[] = [],
  alsoHolding: readonly Capability[] = [],
) {
  const held = [...(uid === 0 ? rootHolds : []), ...alsoHolding]
  return { bounding: [...rootHolds, ...alsoBounding, ...alsoHolding], effective: held, permitted: held }
}

/** The same as the OCI specification writes it. */
export function ociCapabilities(sets: Record<string, readonly Capability[]>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(sets).map(([set, held]) => [set, held.map((name) => `CAP_${name}`)]),
  )
}
