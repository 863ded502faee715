/** Runs by their id, the beginning of it, or the issue that they work on. */
import type { Client, Run } from '@dock/sdk'
import type { Context } from '../program/context.ts'
import { isId, pick } from './pick.ts'
import { findWorkspaceId } from './workspaces.ts'

/** Runs among which a name is looked for. */
const searchedMax = 1_000

/** Returns how people name a Run: `owner/name#7`. */
export function issueOf({ repo, issueNumber }: Pick<Run, 'repo' | 'issueNumber'>): string {
  return `${repo}#${issueNumber}`
}

/** Returns the newest Runs of the workspace that is named, or of the profile, or the first one. */
export async function listRuns(
  context: Context,
  workspace: string | undefined,
  filter: { state?: Run['state']; repo?: string; limit: number },
): Promise<Run[]> {
  const client = await context.client()
  const workspaceId = await findWorkspaceId(context, workspace)
  return client.call('listRuns', { query: { workspaceId, ...filter } })
}

/** Returns the Run that is meant. An issue means its newest Run. */
export async function findRun(
  context: Context,
  text: string,
  workspace: string | undefined,
): Promise<{ client: Client; run: Run }> {
  const client = await context.client()
  if (isId(text)) return { client, run: await client.call('readRun', { params: { id: text }, query: {} }) }
  const runs = await listRuns(context, workspace, { limit: searchedMax })
  const newest = runs.find((each) => issueOf(each) === text)
  return { client, run: newest ?? pick('Run', runs, text, (each) => [issueOf(each)]) }
}
