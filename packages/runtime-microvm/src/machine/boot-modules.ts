/**
 * Modules that the guest agent loads before it mounts a disk, each after those that it needs. virtio, virtio_ring,
 * virtio_console and ext4 are built into Debian's cloud kernel.
 */
export const bootModules = [
  'virtio_mmio',
  'virtio_blk',
  'failover',
  'net_failover',
  'virtio_net',
  'rng-core',
  'virtio-rng',
  'virtio_balloon',
] as const
