/** How each agent is started. The prompt is its standard input; `command` also finds it in the file `$DOCK_PROMPT_FILE`. */
import { keyProviders } from '@dock/contract'
import type { RunSettings } from '../run-settings.ts'
import { hideFiles, restoreFiles } from './hidden-files.ts'
import { opencodeConfig, opencodeVariables } from './opencode-config.ts'
import { placeholderKey } from './placeholder-key.ts'

export type AgentStart = { command: string; env: Record<string, string> }

export type AgentInput = {
  agent: string
  settings: Pick<RunSettings, 'model' | 'commandTemplate'>
  /** Continues the agent's session of earlier turns. */
  isContinued: boolean
  /** The providers that the organization has keys of. Null: the Environment passes no keys on. */
  providers: readonly string[] | null
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

const fillOpencodeConfig = `OPENCODE_CONFIG_CONTENT=\${RUN_AGENT_CONFIG//@DOOR@/"$RUN_DOOR"}
export OPENCODE_CONFIG_CONTENT=\${OPENCODE_CONFIG_CONTENT//@FOLDER@/"$PWD"}`

const requireProgram = (program: string): string => `command -v ${program} >/dev/null || {
  echo 'There is no program ${program} in this machine. The operator can build the image debian-13-agents and set DOCK_RUN_IMAGE.'
  exit 127
}
`

/**
 * The repository's `.claude/settings.json` may set variables, such as another address of the model, and `.mcp.json` may
 * start programs. So neither is read. Its instructions are named in the prompt instead.
 */
const claudeFlags = [
  '-p --output-format stream-json --verbose --dangerously-skip-permissions',
  '--setting-sources user --strict-mcp-config',
  "--append-system-prompt 'If the repository has a file CLAUDE.md or AGENTS.md, read it before you begin.'",
].join(' ')

/** Settings of the command line win over those of the repository, which is not trusted besides. */
const codexFlags = [
  'model_provider=dock',
  'model_providers.dock.name=dock',
  'model_providers.dock.base_url=$RUN_DOOR/model/openai/v1',
  'model_providers.dock.env_key=RUN_MODEL_KEY',
  'model_providers.dock.wire_api=responses',
  'projects={ \\"$PWD\\" = { trust_level = \\"untrusted\\" } }',
]
  .map((setting) => `-c "${setting}"`)
  .join(' ')

/** The providers whose models an agent can use. */
const providersFor: Readonly<Record<'opencode' | 'claude-code' | 'codex', readonly string[]>> = {
  opencode: keyProviders,
  'claude-code': ['anthropic'],
  codex: ['openai'],
}

/** Returns the command of the agent, or the reason why it cannot start. */
export function agentCommand({
  agent,
  settings,
  isContinued,
  providers,
}: AgentInput): AgentStart | { reason: string } {
  const { model, commandTemplate } = settings
  if (agent === 'command')
    return commandTemplate
      ? { command: `${prelude}( ${commandTemplate}\n) ${withPrompt}`, env: {} }
      : { reason: 'The installation has no command for its agent. Set one in its settings.' }
  const chosen = model === null ? '' : ' --model "$RUN_MODEL"'
  const start = (
    program: string,
    before: string,
    words: string,
    env: Record<string, string>,
  ): AgentStart => ({
    // In a subshell, because of ~/.bash_logout: see scripts.ts.
    command: `(\n${prelude}${requireProgram(program)}${before}\n${hideFiles}${program} ${words} ${withPrompt}
RUN_STATUS=$?
${restoreFiles}exit $RUN_STATUS
)`,
    env: { ...env, ...(model === null ? {} : { RUN_MODEL: model }) },
  })
  if (agent !== 'opencode' && agent !== 'claude-code' && agent !== 'codex')
    return { reason: `There is no agent ${agent}. Choose another one in the settings of the installation.` }
  if (providers === null)
    return {
      reason:
        'The agent needs a model, and the Environment passes none on: it withholds the keys of agents, or is safe for third parties.',
    }
  const wanted = providersFor[agent]
  const named =
    agent === 'opencode' && model !== null ? wanted.filter((each) => model.startsWith(`${each}/`)) : wanted
  if (named.length === 0)
    return { reason: `Write the model as provider/name, with the provider ${wanted.join(' or ')}.` }
  const usable = named.filter((each) => providers.includes(each))
  if (usable.length === 0)
    return { reason: `The agent needs a key of ${named.join(' or ')}, and the organization has none.` }
  switch (agent) {
    case 'opencode':
      return start(
        'opencode',
        fillOpencodeConfig,
        `run --format json --auto --pure${isContinued ? ' --continue' : ''}${chosen}`,
        { ...opencodeVariables, RUN_AGENT_CONFIG: opencodeConfig(model, usable) },
      )
    case 'claude-code':
      return start(
        'claude',
        'export ANTHROPIC_BASE_URL=$RUN_DOOR/model/anthropic',
        `${claudeFlags}${isContinued ? ' --continue' : ''}${chosen}`,
        {
          ANTHROPIC_API_KEY: placeholderKey,
          DISABLE_AUTOUPDATER: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      )
    case 'codex':
      return start(
        'codex',
        '',
        `exec --json --dangerously-bypass-approvals-and-sandbox ${codexFlags}${chosen}${isContinued ? ' resume --last -' : ''}`,
        { RUN_MODEL_KEY: placeholderKey },
      )
  }
}
