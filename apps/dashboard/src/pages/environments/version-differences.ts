/** What a version changed, by names. Values are compared nowhere. */
import type { DescribedVersion } from '@dock/sdk'
import { postures } from './postures.ts'

export type Difference = { sign: '+' | '-' | '~'; text: string }

const setDifferences = (kind: string, before: readonly string[], after: readonly string[]): Difference[] => [
  ...after
    .filter((name) => !before.includes(name))
    .map((name) => ({ sign: '+' as const, text: `${kind} ${name}` })),
  ...before
    .filter((name) => !after.includes(name))
    .map((name) => ({ sign: '-' as const, text: `${kind} ${name}` })),
]

/** Returns what distinguishes `after` from the version before it. Empty: a value changed, and no name. */
export function differencesOf(before: DescribedVersion, after: DescribedVersion): Difference[] {
  const sizes = new Map(before.files.map(({ path, size }) => [path, size]))
  const name = (repository: DescribedVersion['repos'][number]): string =>
    `${repository.fullName}${repository.baseBranch ? ` at ${repository.baseBranch}` : ''}`
  return [
    ...setDifferences('variable', before.varNames, after.varNames),
    ...setDifferences(
      'file',
      before.files.map(({ path }) => path),
      after.files.map(({ path }) => path),
    ),
    ...after.files
      .filter(({ path, size }) => sizes.has(path) && sizes.get(path) !== size)
      .map(({ path }) => ({ sign: '~' as const, text: `file ${path} has another size` })),
    ...setDifferences('repository', before.repos.map(name), after.repos.map(name)),
    ...[{ name: 'safeForThirdParties' as const, label: 'Safe for third parties' }, ...postures]
      .filter((each) => before[each.name] !== after[each.name])
      .map((each) => ({ sign: '~' as const, text: `${each.label}: ${after[each.name] ? 'on' : 'off'}` })),
  ]
}
