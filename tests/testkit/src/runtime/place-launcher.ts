/** The launcher of runsc in tests of the gVisor driver. */
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'

/**
 * Places a program at the path, by rename, that starts runsc in a mount namespace of its own without net/core, which the
 * agent's launcher hides too. Tests start runsc hundreds of times, so it starts as few programs as it can.
 */
export function placeLauncher(runsc: string, path: string): void {
  const empty = `${path}.net`
  mkdirSync(`${empty}/core`, { recursive: true })
  writeFileSync(
    `${path}.new`,
    `#!/bin/sh
exec unshare -m --propagation slave sh -c 'mount --bind ${empty} /proc/sys/net && exec ${runsc} "$@"' runsc "$@"
`,
  )
  chmodSync(`${path}.new`, 0o700)
  renameSync(`${path}.new`, path)
}
