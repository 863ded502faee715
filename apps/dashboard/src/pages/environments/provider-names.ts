import type { EnvironmentRepository } from '@dock/sdk'

export type GitProvider = EnvironmentRepository['provider']

export const providerNames: Record<GitProvider, string> = { github: 'GitHub', gitlab: 'GitLab' }
