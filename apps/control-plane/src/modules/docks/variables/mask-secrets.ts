/** Takes the values of variables out of a text that people will read. */

/** Shorter values are words of every text: masking them would hide what went wrong, and they are no secrets. */
const lengthMin = 4

/** The text with every value, and every line of a value of several lines, replaced by `***`. */
export const maskSecrets = (text: string, variables: Readonly<Record<string, string>>): string => {
  const secrets = Object.values(variables)
    .flatMap((value) => [value, ...value.split('\n').map((line) => line.trim())])
    .filter((secret) => secret.length >= lengthMin)
  // The longest first: one may hold another.
  const ordered = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  return ordered.reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}
