/** What git in a Dock is given when it asks: a token, if the repository is one of those that its Environment passes on. */
import type { Logger } from '@dock/foundation'
import type { BootedDock } from '../docks/index.ts'
import {
  type EnvironmentContext,
  type GitAddress,
  type GitServers,
  isAddressOf,
  passedRepositories,
} from '../environments/index.ts'
import { type Connector, type GitCredential, ProviderUnavailable } from './connector.ts'

/** Null for what is not to be had; the reason is in the log, the credential nowhere. */
export type AnswerCredential = (dock: BootedDock, asked: GitAddress) => Promise<GitCredential | null>

export const createAnswerCredential = (
  context: Pick<EnvironmentContext, 'db' | 'sealer'> & { logger: Logger },
  servers: GitServers,
  connector: Connector,
): AnswerCredential => {
  const { logger } = context
  return async (dock, asked) => {
    const { dockId } = dock
    const passed = await passedRepositories(context, dock)
    const repository = passed?.repositories.find((each) => isAddressOf(servers, each, asked))
    if (!passed || !repository) {
      logger.info({ dockId }, 'a Dock asked for a repository that it does not have')
      return null
    }
    const log = { dockId, repositoryId: repository.id }
    try {
      const credential = await connector.tokenFor(passed.organizationId, repository)
      if (!credential) logger.info(log, 'nobody’s linked sign-in reaches a repository')
      return credential
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error
      logger.warn({ ...log, err: error }, 'a provider of repositories could not be asked')
      return null
    }
  }
}
