/**
 * Clones a Dock's repositories into the work folder, as the Dock user. Each clone is made in a temporary folder and moved
 * into place when complete, so an existing clone is always complete and is left unchanged. git reaches the repositories
 * through the Dock's git door, so the Dock never holds a credential.
 */
import type { ClonedRepositories, CloneRepositories, Repository } from '@dock/host-protocol'
import { type RuntimeDriver, SandboxGone, type SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { dockUser, loginShell } from '../sandboxes/login-shell.ts'
import { writeGitConfig } from './git-config.ts'

const clonesAtOnce = 3
const outputBytesMax = 16 * 1024
const reasonLengthMax = 1024
// Exit codes: 0 already cloned; 3 cloned; 4 cloned now or before, with a setup script still to run; 5 another file is in
// the way; anything else comes from git. Secret files of the Environment may exist already: they are kept, and git ignores
// them.
const script = `
for name in "\${!GIT_@}"; do
  case "$name" in GIT_SSL_*) ;; *) unset "$name" ;; esac
done
unset SSH_ASKPASS
export GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https:http LC_ALL=C
[ -d "$HOME/work" ] || mkdir -p "$HOME/work" || exit 20
cd "$HOME/work" || exit 20
list=$HOME/.dock/environment-files
listed=()
[ ! -f "$list" ] || mapfile -d '' -t listed <"$list"
ignore() {
  local file
  for file in "\${listed[@]}"; do
    case "$file" in "$DOCK_FOLDER"/*) ;; *) continue ;; esac
    file=/\${file#"$DOCK_FOLDER"/}
    file=\${file//[][*?\\\\]/\\\\&}
    grep -qxF -- "$file" "$1/info/exclude" 2>/dev/null || { mkdir -p "$1/info" && printf '%s\\n' "$file" >>"$1/info/exclude"; }
  done
}
if [ -e "$DOCK_FOLDER/.git" ]; then
  [ ! -d "$DOCK_FOLDER/.git" ] || ignore "$DOCK_FOLDER/.git"
  [ ! -f "$DOCK_FOLDER/.git/dock-setup" ] || exit 4
  exit 0
fi
if [ -e "$DOCK_FOLDER" ] || [ -L "$DOCK_FOLDER" ]; then
  if [ -L "$DOCK_FOLDER" ] || [ ! -d "$DOCK_FOLDER" ]; then exit 5; fi
  while IFS= read -rd '' found; do
    known=
    for file in "\${listed[@]}"; do [ "$file" != "$found" ] || known=1; done
    [ -n "$known" ] || exit 5
  done < <(find "$DOCK_FOLDER" ! -type d -print0)
fi
made=$HOME/.dock/clone-$DOCK_REPOSITORY
rm -rf "$made" && mkdir -p "$HOME/.dock" || exit 20
trap 'rm -rf "$made"' EXIT
branch=()
[ -z "$DOCK_BRANCH" ] || branch=("--branch=$DOCK_BRANCH")
# Do not follow redirects: they would need a credential that is not here, and the error of the git door explains more.
git -c core.askPass= -c credential.helper= -c http.followRedirects=false clone --quiet "\${branch[@]}" -- "$DOCK_URL" "$made" </dev/null || exit 21
ignore "$made/.git"
[ -z "$DOCK_SETUP" ] || : >"$made/.git/dock-setup" || exit 20
if [ -d "$DOCK_FOLDER" ]; then
  # Only secret files exist here: move git's folder in, then check out every file that does not exist yet.
  mv "$made/.git" "$DOCK_FOLDER/.git" || exit 20
  git -C "$DOCK_FOLDER" checkout-index --all --quiet 2>/dev/null
else
  mv -T "$made" "$DOCK_FOLDER" || exit 20
fi
[ -z "$DOCK_SETUP" ] || exit 4
exit 3
`

const lastWords = (stderr: Buffer): string => {
  const text = stderr.toString('utf8').trim()
  return text.length > reasonLengthMax ? `…${text.slice(-reasonLengthMax)}` : text
}

type Outcome = 'there' | 'cloned' | 'toSetUp' | { reason: string }

const cloneOne = async (
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  repository: Repository,
  timeoutMs: number,
): Promise<Outcome> => {
  if (timeoutMs <= 0) return { reason: 'no time was left for this repository' }
  const { exitCode, timedOut, stderr } = await driver.exec(sandbox, {
    ...loginShell(script, {
      DOCK_REPOSITORY: repository.id,
      DOCK_URL: repository.url,
      DOCK_FOLDER: repository.folder,
      DOCK_BRANCH: repository.branch ?? '',
      DOCK_SETUP: repository.hasSetupScript ? '1' : '',
    }),
    ...{ cwd: dockUser.home, timeoutMs, outputLimitBytes: outputBytesMax },
  })
  if (timedOut) return { reason: 'cloning took too long' }
  if (exitCode === 0) return 'there'
  if (exitCode === 3) return 'cloned'
  if (exitCode === 4) return 'toSetUp'
  if (exitCode === 5) return { reason: `work/${repository.folder} exists and is not this repository` }
  return { reason: lastWords(stderr) || `exit code ${exitCode}` }
}

/** Clones the repositories that are missing. `gateway` is the address of this Dock's git door. */
export async function cloneRepositories(
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  { repositories, timeoutMs }: CloneRepositories,
  gateway: string,
): Promise<ClonedRepositories> {
  const endsAt = performance.now() + timeoutMs
  await writeGitConfig(driver, sandbox, repositories, gateway)
  const result: ClonedRepositories = { failed: [], cloned: [], toSetUp: [] }
  const left = [...repositories]
  const work = async (): Promise<void> => {
    for (let each = left.shift(); each; each = left.shift()) {
      const { id } = each
      const outcome = await cloneOne(driver, sandbox, each, Math.floor(endsAt - performance.now()))
      if (typeof outcome === 'object') result.failed.push({ id, reason: outcome.reason })
      if (outcome === 'toSetUp') result.toSetUp.push(id)
      if (outcome === 'cloned') result.cloned.push(id)
    }
  }
  await Promise.all(Array.from({ length: clonesAtOnce }, work))
  return result
}

/** Clones the missing repositories in the Dock's sandbox of this generation. */
export async function cloneInDock(dock: DockState, request: CloneRepositories): Promise<ClonedRepositories> {
  const { sandbox, release } = await dock.use(request.generation)
  const { driver, networks, gitDoors } = dock.parts
  try {
    const network = networks.find(dock.dockId)
    if (!network) throw new Error('the Dock has no network')
    await gitDoors.open(dock.dockId, network.gateway)
    return await cloneRepositories(driver, sandbox, request, network.gateway)
  } catch (error) {
    if (dock.live === sandbox && !(error instanceof SandboxGone)) throw error
    throw new AgentRefusal('not_running', 'the Dock ended while its repositories were cloned', {
      cause: error,
    })
  } finally {
    release()
  }
}
