import * as z from 'zod'
import { count, integer, isPlainText, textOfBytes, timestamp, uuid } from '../fields.ts'
import { limits } from '../limits.ts'
import { executionTarget } from './runs.ts'

const { github } = limits

/** What a Run works with. */
export const codingAgents = ['opencode', 'claude-code', 'codex', 'command'] as const
export const codingAgent = z.enum(codingAgents)
export type CodingAgent = z.output<typeof codingAgent>
/** The agent of a newly linked repository. */
export const defaultCodingAgent: CodingAgent = 'opencode'

/** `installationId` is the provider's number. */
export const installation = z.strictObject({
  id: uuid,
  installationId: integer,
  workspaceId: uuid,
  createdBy: uuid,
  repos: z.array(z.string()),
  agent: z.string(),
  testCommand: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Installation = z.output<typeof installation>

const oneLine = (max: number) =>
  z.string().trim().min(1).max(max).refine(isPlainText, 'must be one line, without control characters')

export const testCommand = textOfBytes(1, github.commandBytesMax).nullable()

export const installationSettings = z.strictObject({
  executionTarget,
  environmentId: uuid.nullable(),
  budgetCents: z.int().min(github.budgetCents.min).max(github.budgetCents.max),
  timeoutSeconds: z.int().min(github.timeoutSeconds.min).max(github.timeoutSeconds.max),
  label: oneLine(github.labelLengthMax).nullable(),
  model: oneLine(github.modelLengthMax).nullable(),
  commandTemplate: textOfBytes(1, github.commandBytesMax).nullable(),
  allowWorkflowFiles: z.boolean(),
})
export type InstallationSettings = z.output<typeof installationSettings>

export const githubApp = z.strictObject({
  configured: z.boolean(),
  source: z.enum(['settings', 'manifest']).nullable(),
  slug: z.string().nullable(),
  url: z.string().nullable(),
  oauthConfigured: z.boolean(),
})
export type GithubApp = z.output<typeof githubApp>

export const githubManifest = z.strictObject({ url: z.string(), manifest: z.string(), state: z.string() })
export type GithubManifest = z.output<typeof githubManifest>

export const githubLink = z.strictObject({ url: z.string() })

export const githubRepository = z.strictObject({
  repositoryId: count,
  fullName: z.string(),
  isPrivate: z.boolean(),
})

export const githubChoice = z.strictObject({
  installationId: integer,
  account: z.string(),
  repositories: z.array(githubRepository),
})
export type GithubChoice = z.output<typeof githubChoice>

export const githubChoices = z.strictObject({
  selection: z.string(),
  installations: z.array(githubChoice),
  isComplete: z.boolean(),
  installUrl: z.string(),
})
export type GithubChoices = z.output<typeof githubChoices>
