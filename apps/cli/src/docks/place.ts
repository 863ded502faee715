/** Places in a Dock and on this computer, as `dock cp` writes them. */

import { posix } from 'node:path'

export type RemotePlace = {
  kind: 'remote'
  /** Undefined: the Dock of the file `.dock`. */
  dock: string | undefined
  /** Absolute, or relative to the work folder. */
  path: string
}
export type Place = RemotePlace | { kind: 'local' }

/** Parses `DOCK:PATH`. A local path with a colon is written `./a:b`. */
export function parsePlace(text: string): Place {
  const [, dock, path] = /^([^/:]*):(.*)$/s.exec(text) ?? []
  if (dock === undefined || path === undefined) return { kind: 'local' }
  const absolute = path.replace(/^~(?=\/|$)/, '/home/user')
  return { kind: 'remote', dock: dock === '' ? undefined : dock, path: absolute === '' ? '.' : absolute }
}

/** Returns the absolute path in a Dock. `path` is absolute, below `~/`, or relative to the work folder. */
export function absoluteInDock(path: string): string {
  return posix.resolve('/home/user/work', path.replace(/^~(?=\/|$)/, '/home/user'))
}
