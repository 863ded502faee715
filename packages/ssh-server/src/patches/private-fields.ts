/**
 * The private parts of ssh2 that the patches of this folder use. ssh2's types do not have them. Each patch lists its own,
 * with the file of ssh2 that defines them, and checks them at run time before it changes anything.
 */

/** What a field must be. `present`: it exists, and is undefined at times. */
type Kind = 'function' | 'object' | 'number' | 'present'

export type PrivateFields = {
  /** The file of this folder that uses the fields. */
  usedBy: string
  /** By path from the object that the patch gets, as in `_protocol._handlers`: what it must be, and where ssh2 defines it. */
  fields: Readonly<Record<string, readonly [Kind, string]>>
}

const isKind = (owner: object, name: string, kind: Kind): boolean => {
  if (kind === 'present') return name in owner
  const value: unknown = Reflect.get(owner, name)
  return value !== null && typeof value === kind
}

/** Returns the first of the fields that `owner` does not have as expected, as a sentence that says where to look, or null. */
export function findMissingField(owner: object, { usedBy, fields }: PrivateFields): string | null {
  for (const [path, [kind, definedIn]] of Object.entries(fields)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    const parent = names.reduce<unknown>((value, name) => Reflect.get(Object(value), name), owner)
    if (!isKind(Object(parent), last, kind))
      return `ssh2 has changed: ${path} is no longer as patches/${usedBy} needs it (${kind}); see ssh2/${definedIn}`
  }
  return null
}

/** Returns `owner` with the type of its private parts. Throws an error that names the field if ssh2 has changed. */
export function privateFieldsOf<Parts>(owner: object, needed: PrivateFields): Parts {
  const missing = findMissingField(owner, needed)
  if (missing !== null) throw new Error(missing)
  return owner as Parts
}
