/**
 * The commands that the platform runs in the Dock of a Run, as its user. They end without `exit 0`: a login shell then runs
 * ~/.bash_logout, whose status becomes that of the command.
 */

/** Returns the folder of the clone below the work folder. */
export function cloneFolder(fullName: string): string {
  return fullName.split('/').at(-1) ?? fullName
}

/**
 * Checks out the Run's branch: as it is at the provider, or new from the base branch. Local commits of an earlier turn are
 * kept. Prints `base <commit>` last. `RUN_IS_CLONED`: the clone is new, so a fetch would find nothing.
 */
export const checkoutScript: string = `
exec 2>&1
set -e
cd "$HOME/work/$RUN_FOLDER"
git config user.name dock
git config user.email dock@noreply.invalid
git config push.default current
# One request for both: a pattern may match nothing.
[ -n "$RUN_IS_CLONED" ] || git fetch --quiet --prune origin "+refs/heads/$RUN_BASE:refs/remotes/origin/$RUN_BASE" \
  "+refs/heads/$RUN_BRANCH*:refs/remotes/origin/$RUN_BRANCH*"
start=origin/$RUN_BRANCH
git rev-parse --quiet --verify "refs/remotes/$start" >/dev/null || start=origin/$RUN_BASE
if git rev-parse --quiet --verify "refs/heads/$RUN_BRANCH" >/dev/null; then
  git checkout --quiet "$RUN_BRANCH"
  git merge --quiet --ff-only "$start" || true
else
  git checkout --quiet --no-track -b "$RUN_BRANCH" "$start"
fi
printf 'base %s\\n' "$(git merge-base HEAD "origin/$RUN_BASE")"
`

/** Commits what the agent left uncommitted, and pushes the Run's branch. Prints `head <commit>` or `nothing` last. */
export const pushScript: string = `
exec 2>&1
set -e
cd "$HOME/work/$RUN_FOLDER"
git checkout --quiet "$RUN_BRANCH" 2>/dev/null || true
git add --all
git diff --cached --quiet || git commit --quiet --no-verify -m "$RUN_MESSAGE"
if [ -n "$(git rev-list -n 1 "origin/$RUN_BASE..HEAD")" ]; then
  git push --quiet --no-verify origin "HEAD:refs/heads/$RUN_BRANCH"
  printf 'head %s\\n' "$(git rev-parse HEAD)"
else
  printf 'nothing\\n'
fi
`

/** Ends every process of the Dock's user but this shell. */
export const endAllScript = 'kill -KILL -1'

/** Runs the tests in the clone, in a subshell, so that their `exit` is not that of the login shell. */
export function testScript(command: string): string {
  return `exec 2>&1; cd "$HOME/work/$RUN_FOLDER" || exit 1\n(\n${command}\n)\n`
}

/** Where agents keep their sessions, below the home folder. `.dock` is for the administrator's command. */
const sessionFolders = [
  '.local/share/opencode',
  '.local/state/opencode',
  '.claude',
  '.codex/sessions',
  '.dock/session',
  // By this id opencode finds the sessions of a clone whose origin has another address: each machine has a door of its own.
  '"work/$RUN_FOLDER/.git/opencode"',
]

/**
 * Writes the agent's session to standard output as a compressed archive: nothing, or more than the limit if it is larger.
 * `$RUN_FOLDER` is the folder of the clone.
 */
export function packSessionScript(bytesMax: number): string {
  return `
cd "$HOME" || exit 1
set --
for folder in ${sessionFolders.join(' ')}; do [ ! -e "$folder" ] || set -- "$@" "$folder"; done
[ $# -eq 0 ] || tar -cz --exclude=log --exclude=bin --exclude=snapshot -- "$@" 2>/dev/null | head -c ${bytesMax + 1}
`
}

/** Reads the archive from standard input. */
export const unpackSessionScript = 'exec 2>&1; tar -xz -C "$HOME"'
