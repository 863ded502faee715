/** Tools that branch, stop, resume and delete Docks. */
import type { Client } from '@dock/sdk'
import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { addTool, dockInput, findDock } from '../add-tool.ts'
import { failure, toolResult } from '../tool-result.ts'
import { quoted } from '../visible-text.ts'
import { describeDock } from './describe-dock.ts'

const onlyDock = z.strictObject({ dock: dockInput })

export function addLifecycleTools(server: McpServer, client: Client): void {
  addTool(
    server,
    'branch_dock',
    {
      title: 'Branch a Dock',
      description: 'Copies a running Dock with its disk. The copy is independent; processes are not copied.',
      input: z.strictObject({ dock: dockInput, name: z.string().min(1).max(100).optional() }),
    },
    async ({ dock, name }, signal) => {
      const source = await findDock(client, dock, signal)
      const copy = await source.branch({ ...(name === undefined ? {} : { name }), signal, onDispose: 'keep' })
      return toolResult(`Branched: ${describeDock(copy.info)}`)
    },
  )
  addTool(
    server,
    'stop_dock',
    {
      title: 'Stop a Dock',
      description:
        'Saves the disk as a Snapshot and stops the Dock. Processes end. resume_dock starts it again.',
      input: onlyDock,
    },
    async ({ dock }, signal) => {
      const found = await findDock(client, dock, signal)
      await found.stop({ signal })
      return toolResult(`Stopped: ${describeDock(found.info)}`)
    },
  )
  addTool(
    server,
    'resume_dock',
    {
      title: 'Resume a Dock',
      description: 'Boots a stopped Dock with its disk and returns when it is ready.',
      input: onlyDock,
    },
    async ({ dock }, signal) => {
      const found = await findDock(client, dock, signal)
      await found.resume({ signal })
      return toolResult(`Resumed: ${describeDock(found.info)}`)
    },
  )
  addTool(
    server,
    'delete_dock',
    {
      title: 'Delete a Dock',
      description:
        'Deletes a Dock with its disk and all its Snapshots, for good. Ask the person first, and give the name of the Dock a second time.',
      input: z.strictObject({
        dock: dockInput,
        name: z.string().max(100).optional().describe('The name of the Dock, or its id if it has no name'),
      }),
      destructive: true,
    },
    async ({ dock, name }, signal) => {
      const found = await findDock(client, dock, signal)
      const expected = found.name ?? found.id
      if (name !== expected)
        return failure(
          `Not deleted. This removes the disk and all Snapshots for good. If the person wants that, call delete_dock again with name: ${quoted(expected)}`,
        )
      await found.delete({ signal })
      return toolResult(`Deleted ${quoted(expected)}, id=${found.id}`)
    },
  )
}
