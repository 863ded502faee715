/**
 * Files of the repository by which it could name another address of the model to an agent, or start programs in it. They are
 * absent while the agent works: opencode loads plugins of `.opencode` whatever its settings say. git keeps them in its index
 * (`skip-worktree`), so commits are complete.
 */
const folders = ['.opencode', '.claude', '.codex']
const files = ['opencode.json', 'opencode.jsonc', '.mcp.json']

/** A folder may also be a link to another one. */
const patterns = [...folders.flatMap((name) => [name, `${name}/**`]), ...files]
  .map((pattern) => `':(glob)**/${pattern}'`)
  .join(' ')

/** Commands for the clone, as its user. */
export const hideFiles: string = `RUN_HIDDEN=$HOME/.dock/run-hidden
git ls-files -z -- ${patterns} >"$RUN_HIDDEN" &&
  git update-index -z --skip-worktree --stdin <"$RUN_HIDDEN" && xargs -0r rm -f -- <"$RUN_HIDDEN" || exit 1
`

/** What the agent has put in such a place itself stays. */
export const restoreFiles: string = `git ls-files -v -z | sed -zn 's/^S //p' >"$RUN_HIDDEN"
git update-index -z --no-skip-worktree --stdin <"$RUN_HIDDEN"
git checkout-index -q -z --stdin <"$RUN_HIDDEN" || true
`
