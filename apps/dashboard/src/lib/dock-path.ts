/**
 * Absolute paths in a Dock or a Snapshot. Names are bytes: a code unit from U+DC80 to U+DCFF stands for one byte that is
 * not UTF-8, as in the API.
 */

/** Where the files of a Dock are shown first. */
export const workFolder = '/home/user/work'

export function joinPath(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

export function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns the folders that lead to the path and the path itself, from the root on. */
export function stepsTo(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return [
    { name: '/', path: '/' },
    ...names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join('/')}` })),
  ]
}

/** Resolves where a link leads to, without following other links. */
export function resolveLink(link: string, target: string): string {
  const names: string[] = []
  for (const name of (target.startsWith('/') ? target : `${parentOf(link)}/${target}`).split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

/** Returns the path for the address bar, which takes only valid Unicode. {@link fromAddress} returns the same path. */
export function toAddress(path: string): string {
  return path.replaceAll(/%|[\udc80-\udcff]/gu, (each) =>
    each === '%' ? '%25' : `%${(each.charCodeAt(0) - 0xdc00).toString(16).toUpperCase()}`,
  )
}

export function fromAddress(text: string): string {
  const path = text.replaceAll(/%(25|[89A-F][0-9A-F])/g, (_, hex: string) =>
    hex === '25' ? '%' : String.fromCharCode(0xdc00 + Number.parseInt(hex, 16)),
  )
  return path.startsWith('/') ? path : workFolder
}
