/** Warns of names that the service accepts and ssh cannot use. */
import type { Context } from '../program/context.ts'

const usable = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/

/** Returns the name that is most like this one and works everywhere, or null if nothing is left of it. */
export function usableName(name: string): string | null {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
  return plain === '' ? null : plain
}

/** Warns if ssh, scp and git cannot name a Dock like this. */
export function warnOfSshName({ out }: Context, name: string | undefined): void {
  if (name === undefined || usable.test(name)) return
  const better = usableName(name)
  out.warn(
    `ssh cannot use the name ${JSON.stringify(name)}: there the Dock is named by its id.${better === null ? '' : ` A name that works everywhere: ${better}`}`,
  )
}
