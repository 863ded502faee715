/** Joins the setup scripts of a Dock's repositories into one. Each runs in its clone; the first failure ends the script. */
import type { RepositoryToClone } from './repositories-to-clone.ts'

/** Marker file: the setup script of this clone has not started. The host creates it together with the clone. */
const mark = '.git/dock-setup'

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the combined script, empty if no repository has a setup script. */
export function setupScriptOf(repositories: readonly RepositoryToClone[]): string {
  return repositories
    .flatMap(({ name, folder, setupScript }) => (setupScript === null ? [] : [{ name, folder, setupScript }]))
    .map(
      ({ name, folder, setupScript }) => `
cd "$HOME/work/"${quoted(folder)} && rm -f ${mark} || exit
bash <(printf %s ${quoted(setupScript)}) </dev/null
code=$?
[ "$code" -eq 0 ] || { printf '%s: its setup script ended with exit code %s\\n' ${quoted(name)} "$code"; exit "$code"; }
`,
    )
    .join('')
}
