/** How opencode is configured, so that files of the repository change neither the model nor its address. */
import { placeholderKey } from './placeholder-key.ts'

/**
 * The repository's `opencode.json`, `.opencode` and plugins are not read: they could name a provider of their own and make it
 * the model. The configuration names the repository's instructions instead.
 */
export const opencodeVariables: Readonly<Record<string, string>> = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  // The list of models is part of the program. Others are named by the configuration.
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
}

/**
 * Returns the configuration as JSON. `@DOOR@` stands for the door, `@FOLDER@` for the clone. `model` is `provider/name`;
 * without it opencode chooses one of these providers'.
 */
export function opencodeConfig(model: string | null, providers: readonly string[]): string {
  const [provider, name] = model === null ? [] : (/^([^/]+)\/(.+)$/.exec(model)?.slice(1) ?? [])
  return JSON.stringify({
    share: 'disabled',
    autoupdate: false,
    enabled_providers: providers,
    instructions: ['@FOLDER@/AGENTS.md', '@FOLDER@/CLAUDE.md'],
    provider: Object.fromEntries(
      providers.map((each) => [
        each,
        {
          options: { baseURL: `@DOOR@/model/${each}/v1`, apiKey: placeholderKey },
          // A model that is newer than the program's list.
          ...(each === provider && name !== undefined ? { models: { [name]: {} } } : {}),
        },
      ]),
    ),
  })
}
