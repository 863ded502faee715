/** The list of settings is complete: docs/settings.md shows all of it, and no program reads a variable that it lacks. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { allSettings } from './all-settings.ts'
import { dockVariables, internalVariables } from './internal-variables.ts'
import { warningsOfRemovedSettings } from './removed-settings.ts'
import { commonSettingsTable, settingsTables, withTables } from './settings-tables.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const settings = new Set(allSettings.flatMap(({ names }) => names))
const known = new Set([...settings, ...Object.keys(internalVariables), ...dockVariables])
/** Variables of other programs, of shells and of Vite, and names of SSH messages. */
const foreign =
  /^(PATH|HOME|USER|LOGNAME|TERM|SHELL|LANG|LANGUAGE|LC_\w+|EUID|TMPDIR|CI|NODE_\w+|NO_COLOR|XDG_CONFIG_HOME|BASH\w*|VERSION_CODENAME|DEBIAN_FRONTEND|UV_\w+|PG\w+|CHANNEL_\w+|OPENCODE_\w+|GIT_TERMINAL_PROMPT|DEV)$/

/** Names that a source reads: DOCK_ variables wherever they stand, others where they are read from an environment. */
const namesRead = (path: string, text: string): string[] => {
  const own = text.match(/\bDOCK_[A-Z0-9_]*[A-Z0-9]\b/g) ?? []
  const patterns = path.endsWith('.ts')
    ? [
        /env(?:ironment)?(?:\.|\[['"])([A-Z][A-Z_]{2,})\b/g,
        /\ball\[['"]([A-Z_]+)['"]\]/g,
        /^ {2}([A-Z][A-Z_]{2,}): /gm,
      ]
    : [/\$\{([A-Z][A-Z_]{2,}):[-+?=]/g]
  return [...own, ...patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!))]
}

const sources = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'apps', 'packages', 'script', 'images'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
  .filter((path) => !/\.(test\.ts|sql|md|json|py)$/.test(path))
  .filter((path) => !/\/(all-settings|internal-variables|removed-settings)\.ts$/.test(path))

it.each([
  ['README.md', commonSettingsTable()],
  ['docs/settings.md', settingsTables()],
])('is shown by %s as it is', (path, tables) => {
  expect(read(path), 'run script/settings-table').toBe(withTables(read(path), tables))
})

it('warns of a setting that Dock no longer has, and of no other', () => {
  expect(warningsOfRemovedSettings({ PORT: '80', DOCK_SNAPSHOT_FILE_MAX_MIB: '5' })).toEqual([
    'DOCK_SNAPSHOT_FILE_MAX_MIB is no longer a setting: one response has at most 1 GiB of a Snapshot’s file.',
  ])
  expect([...settings].flatMap((name) => warningsOfRemovedSettings({ [name]: 'x' }))).toEqual([])
})

it('has every variable that a program reads', () => {
  const unlisted = sources.flatMap((path) =>
    namesRead(path, read(path))
      .filter((name) => !known.has(name) && !foreign.test(name))
      .map((name) => `${path}: ${name}`),
  )
  expect(unlisted).toEqual([])
})

it('has no setting that nothing reads', () => {
  const seen = new Set(sources.flatMap((path) => namesRead(path, read(path))))
  // The first are read by the name of a distribution or a provider, the last by Node itself.
  const unseen = /^DOCK_MIRROR_|^NODE_EXTRA_CA_CERTS$/
  expect([...settings].filter((name) => !seen.has(name) && !unseen.test(name))).toEqual([])
})
