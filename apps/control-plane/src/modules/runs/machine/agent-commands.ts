/** How each agent is started. The prompt is its standard input; `command` also finds it in the file `$DOCK_PROMPT_FILE`. */
import type { RunSettings } from '../run-settings.ts'

export type AgentStart = { command: string; env: Record<string, string> }

export type AgentInput = {
  agent: string
  settings: Pick<RunSettings, 'model' | 'commandTemplate'>
  /** Continues the agent's session of earlier turns. */
  isContinued: boolean
  mayUseModels: boolean
}

/** `$RUN_DOOR` is the address of the Dock's door, which git's configuration knows. */
const prelude = `exec 2>&1
mkdir -p "$HOME/.dock" && umask 077
export DOCK_PROMPT_FILE=$HOME/.dock/run-prompt.json
cat >"$DOCK_PROMPT_FILE" || exit 1
umask 022
cd "$HOME/work/$RUN_FOLDER" || exit 1
RUN_DOOR=$(git ls-remote --get-url origin)
export RUN_DOOR=\${RUN_DOOR%"/github/$RUN_REPOSITORY.git"}
`
const withPrompt = '<"$DOCK_PROMPT_FILE"'

/** Agents want a key. The door ignores this one, and adds the organization's outside. */
const placeholderKey = 'none'
const doorMark = '@DOOR@'

/** This variable wins over every file of the repository, and `--pure` loads no plugin of it. */
const opencodeConfig = JSON.stringify({
  ...{ share: 'disabled', autoupdate: false },
  provider: Object.fromEntries(
    ['anthropic', 'openai', 'openrouter', 'opencode'].map((name) => [
      name,
      { options: { baseURL: `${doorMark}/model/${name}/v1`, apiKey: placeholderKey } },
    ]),
  ),
})

const codexFlags = [
  'model_provider=dock',
  'model_providers.dock.name=dock',
  'model_providers.dock.base_url=$RUN_DOOR/model/openai/v1',
  'model_providers.dock.env_key=RUN_MODEL_KEY',
  'model_providers.dock.wire_api=responses',
]
  .map((setting) => `-c "${setting}"`)
  .join(' ')

/** Returns the command of the agent, or the reason why it cannot start. */
export function agentCommand({
  agent,
  settings,
  isContinued,
  mayUseModels,
}: AgentInput): AgentStart | { reason: string } {
  const { model, commandTemplate } = settings
  if (agent === 'command')
    return commandTemplate
      ? { command: `${prelude}( ${commandTemplate}\n) ${withPrompt}`, env: {} }
      : { reason: 'The installation has no command for its agent. Set one in its settings.' }
  const chosen = model === null ? '' : ' --model "$RUN_MODEL"'
  const start = (before: string, command: string, env: Record<string, string>): AgentStart => ({
    command: `${prelude}${before}\nexec ${command}${chosen} ${withPrompt}`,
    env: { ...env, ...(model === null ? {} : { RUN_MODEL: model }) },
  })
  if (agent !== 'opencode' && agent !== 'claude-code' && agent !== 'codex')
    return { reason: `There is no agent ${agent}. Choose another one in the settings of the installation.` }
  if (!mayUseModels)
    return {
      reason:
        'The agent needs a model, and the Environment passes none on: it withholds the keys of agents, or is safe for third parties.',
    }
  switch (agent) {
    case 'opencode':
      return start(
        `export OPENCODE_CONFIG_CONTENT=\${RUN_AGENT_CONFIG//${doorMark}/$RUN_DOOR}`,
        `opencode run --format json --auto --pure${isContinued ? ' --continue' : ''}`,
        { RUN_AGENT_CONFIG: opencodeConfig },
      )
    case 'claude-code':
      return start(
        'export ANTHROPIC_BASE_URL=$RUN_DOOR/model/anthropic',
        `claude -p --output-format stream-json --verbose --dangerously-skip-permissions${isContinued ? ' --continue' : ''}`,
        { ANTHROPIC_API_KEY: placeholderKey },
      )
    case 'codex':
      return start(
        '',
        `codex exec${isContinued ? ' resume --last' : ''} --json --dangerously-bypass-approvals-and-sandbox ${codexFlags}`,
        { RUN_MODEL_KEY: placeholderKey },
      )
  }
}
