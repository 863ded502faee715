import { type Client, Dock } from '@dock/sdk'
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { failureOf } from './tool-result.ts'

type Tool<Input extends z.ZodObject> = {
  title: string
  description: string
  input: Input
  /** Changes nothing. */
  readOnly?: true
  /** Removes something for good. */
  destructive?: true
}

/** Adds a tool. `run` throws what the SDK throws; the caller gets it as a result with a sentence. */
export function addTool<Input extends z.ZodObject>(
  server: McpServer,
  name: string,
  { title, description, input, readOnly = false as never, destructive = false as never }: Tool<Input>,
  run: (args: z.output<Input>, signal: AbortSignal) => Promise<CallToolResult>,
): void {
  const annotations = { title, readOnlyHint: readOnly, destructiveHint: destructive, openWorldHint: true }
  server.registerTool(
    name,
    { title, description, inputSchema: input as z.ZodObject, annotations },
    async (args, { mcpReq }) => {
      try {
        return await run(args as z.output<Input>, mcpReq.signal)
      } catch (error) {
        return failureOf(error)
      }
    },
  )
}

const noNul = (text: string): boolean => !text.includes('\0')

/** The input that names a Dock. */
export const dockInput = z.string().min(1).max(100).refine(noNul).describe('Name or id of the Dock')
export const pathInput = z
  .string()
  .min(1)
  .max(4096)
  .refine(noNul)
  .describe('Absolute path, or relative to /home/user/work')
export const commandInput = z.string().min(1).max(65_536).refine(noNul)

/** Returns the Dock with this name or id. */
export function findDock(client: Client, nameOrId: string, signal: AbortSignal): Promise<Dock> {
  return Dock.get(nameOrId, { client, signal })
}
