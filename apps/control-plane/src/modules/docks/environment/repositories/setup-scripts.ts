/** The setup scripts of a Dock's repositories as one script: each in its clone, the first that fails is the last. */
import type { RepositoryToClone } from './passed-repositories.ts'

/** In each clone whose script has not been begun: the host makes it with the clone. */
const mark = '.git/dock-setup'

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Of those that have one. */
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
