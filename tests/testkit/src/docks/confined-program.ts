/**
 * Starts a program of this machine so that it can change nothing but one folder. Requests that a test generates may name
 * any path, and the programs of the fake host run on this machine.
 */
import { mkdirSync } from 'node:fs'

/** Makes all filesystems that the program sees read-only, except the folder, and takes the others away. */
const confine = `set -e
root=$1 writable=$2 start=$3
shift 3
mount --bind / "$root"
mount -o remount,bind,ro "$root"
for each in /dev /proc /tmp; do
  mount --bind "$each" "$root$each"
  mount -o remount,bind,ro "$root$each"
done
mount --bind "$writable" "$root$writable"
exec /usr/sbin/chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$start" "$@"`

/** Returns where a confined program has its root. It stays an empty folder, because mounts are the program's own. */
export function rootOf(folder: string): string {
  return `${folder}.root`
}

/** Returns the arguments that start `argv` confined to the folder, in `cwd`. */
export function confinedTo(folder: string, cwd: string, argv: readonly string[]): string[] {
  const root = rootOf(folder)
  mkdirSync(root, { recursive: true })
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user']
  return ['/usr/bin/unshare', '--mount', ...user, '/bin/sh', '-c', confine, 'sh', root, folder, cwd, ...argv]
}
