/** What the scripted model sees of a request, and what it replies, in any of the three protocols. */

export type Json = Record<string, unknown>

/** What an agent asks. */
export type Asked = {
  /** What the person wrote, oldest first. One more for each turn of a session. */
  prompts: string[]
  /** Results of tools, of all turns. */
  results: string[]
  /** Names of the tools that the agent offers. Agents also ask without tools, for titles and summaries. */
  tools: string[]
}

export type ModelReply = { text: string } | { command: string }

/** A use of one of the agent's tools. */
export type ToolUse = { name: string; input: Json }

/** A reply as the agent understands it. */
export type Said = { text: string } | ToolUse

export type ModelProtocol = {
  path: string
  read(body: Json): Asked
  /** The events of a stream, in order. */
  events(said: Said, model: string): { type: string; data: Json }[]
  /** The response to a request without a stream. */
  whole(said: Said, model: string): Json
}

/** The tokens that every reply claims to have used. */
export const tokensOfReply = { input: 100, output: 20 }

let last = 0
export function newId(prefix: string): string {
  last += 1
  return `${prefix}_${last.toString().padStart(24, '0')}`
}

export function isToolUse(said: Said): said is ToolUse {
  return 'name' in said
}

/** The tools by which agents run commands, and what each takes. */
const shells: Readonly<Record<string, (command: string) => Json>> = {
  bash: (command) => ({ command, description: 'Works on the issue' }),
  Bash: (command) => ({ command, description: 'Works on the issue' }),
  shell: (command) => ({ command: ['bash', '-lc', command] }),
  shell_command: (command) => ({ command }),
  exec_command: (command) => ({ cmd: command }),
}

/** Turns a reply into one with the agent's own tool. Throws if it has none that runs commands. */
export function sayWith(tools: readonly string[], reply: ModelReply): Said {
  if ('text' in reply) return reply
  const name = tools.find((tool) => Object.hasOwn(shells, tool))
  if (name === undefined) throw new Error(`no tool runs commands: ${tools.join(', ')}`)
  return { name, input: shells[name]!(reply.command) }
}

/** Returns the text of content that is a text, or a list of parts with texts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: Json) => (typeof part.text === 'string' ? part.text : textOf(part.content)))
    .join('\n')
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : []
}
