/** Tools that make and list Docks and expose their ports. */
import { type Client, Dock } from '@dock/sdk'
import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { addTool, dockInput, findDock } from '../add-tool.ts'
import { dataCharactersMax, toolResult } from '../tool-result.ts'
import { describeDock } from './describe-dock.ts'
import { pageOfLines } from './page-of-lines.ts'

const name = z.string().min(1).max(100)

export function addDockTools(server: McpServer, client: Client): void {
  addTool(
    server,
    'create_dock',
    {
      title: 'Create a Dock',
      description: 'Creates an isolated Linux machine and returns when it is ready.',
      input: z.strictObject({
        name: name.optional().describe('A name that is unique in the workspace'),
        from: z.string().min(1).max(64).optional().describe('Name of a Template'),
        image: z.string().min(1).max(100).optional(),
        cpus: z.int().min(1).max(64).optional(),
        memoryMiB: z.int().min(512).max(262_144).optional(),
        diskGiB: z.int().min(1).max(2048).optional(),
        environment: name.optional().describe('Name or id of an Environment with variables and repositories'),
        ttlSeconds: z.int().min(60).max(2_592_000).optional().describe('Stops the Dock after this time'),
        runtime: z
          .enum(['gvisor', 'microvm'])
          .optional()
          .describe('Leave it out, unless programs need a kernel of their own: microvm'),
        workspaceId: z.uuid().optional().describe('Default: the first workspace'),
      }),
    },
    async (options, signal) => {
      const dock = await Dock.create({ ...options, client, signal, onDispose: 'keep' })
      return toolResult(`Created: ${describeDock(dock.info)}`)
    },
  )
  addTool(
    server,
    'list_docks',
    {
      title: 'List Docks',
      description: 'Lists the Docks that you can see.',
      input: z.strictObject({ skip: z.int().min(0).default(0).describe('How many to leave out') }),
      readOnly: true,
    },
    async ({ skip }, signal) => {
      const docks = await Dock.list({ client, signal })
      const lines = docks.slice(skip).map((dock) => describeDock(dock.info))
      const { text, count } = pageOfLines(lines, dataCharactersMax)
      const next = skip + count
      const more = next < docks.length ? ` Read on with skip: ${next}.` : ''
      return toolResult(`${docks.length} Docks; ${count} of them follow.${more}`, text)
    },
  )
  addTool(
    server,
    'expose_port',
    {
      title: 'Expose a port',
      description:
        'Gives a port of a Dock a public address. Anybody who knows the address reaches what listens on the port.',
      input: z.strictObject({ dock: dockInput, port: z.int().min(1).max(65_535) }),
    },
    async ({ dock, port }, signal) => {
      const { url } = await (await findDock(client, dock, signal)).port(port, { signal })
      return toolResult(
        url === null ? `Port ${port} is exposed. It has no address now.` : `Port ${port} is at ${url}`,
      )
    },
  )
}
