/** Linux capabilities of the processes in a sandbox, by name and as bit masks. */

/** All Linux capabilities, in the order of their numbers. */
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

/** Capabilities of root inside: the usual set of a container, plus those for package managers, debuggers and ping. */
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

/** Returns a mask with one bit per capability. It is below 2^53, so a number holds it exactly. */
export function maskOf(capabilities: readonly Capability[]): number {
  return capabilities.reduce((mask, name) => mask + 2 ** names.indexOf(name), 0)
}

/**
 * Returns the capability sets of a process of this user. Only root holds capabilities (apart from `alsoHolding`), and
 * no process can gain more than `bounding`.
 */
export function capabilitiesOf(
  uid: number,
  alsoBounding: readonly Capability[] = [],
  alsoHolding: readonly Capability[] = [],
) {
  const held = [...(uid === 0 ? rootHolds : []), ...alsoHolding]
  return { bounding: [...rootHolds, ...alsoBounding, ...alsoHolding], effective: held, permitted: held }
}

/** Converts capability sets to the names of the OCI specification. */
export function ociCapabilities(sets: Record<string, readonly Capability[]>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(sets).map(([set, held]) => [set, held.map((name) => `CAP_${name}`)]),
  )
}
