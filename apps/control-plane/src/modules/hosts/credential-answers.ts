/** Answers what git in Docks asks for, beside the host's other events: a provider may be slow, a heartbeat must not be. */
import type { Logger } from '@dock/foundation'
import type { CredentialAnswer, CredentialAsked, GitQuestion } from '@dock/host-protocol'
import { type HostGateway, HostRefused, HostUnreachable } from './host-gateway.ts'

/** Of one host; git in the Docks of a host that asks for more waits for its own time to run out. */
const questionsMax = 100

type Asker = { dockId: string; hostId: string; generation: number }

/** What a Dock may have; null for nothing. The host is the one that the question came from. */
export type AnswerQuestion = (asker: Asker, question: GitQuestion) => Promise<CredentialAnswer['credential']>

export type CredentialAnswers = {
  /** Begins to answer. */
  answer(hostId: string, event: CredentialAsked): void
  /** Resolves when no question is being answered. */
  settled(): Promise<void>
}

export const createCredentialAnswers = (options: {
  logger: Logger
  gateway: Pick<HostGateway, 'answerCredential'>
  answer: AnswerQuestion
}): CredentialAnswers => {
  const { logger, gateway } = options
  const underWay = new Set<Promise<void>>()
  const questions = new Map<string, number>()

  const answer = async (hostId: string, { askId, dockId, generation, question }: CredentialAsked) => {
    const credential = await options
      .answer({ dockId, hostId, generation }, question)
      .catch((error: unknown) => {
        logger.error({ dockId, err: error }, 'a question for a credential could not be answered')
        return null
      })
    await gateway.answerCredential(hostId, askId, { credential }).catch((error: unknown) => {
      if (!(error instanceof HostUnreachable || error instanceof HostRefused)) throw error
      logger.warn({ dockId, hostId }, 'a host did not take the answer for a Dock')
    })
  }

  return {
    answer: (hostId, event) => {
      const asked = questions.get(hostId) ?? 0
      if (asked >= questionsMax) return
      questions.set(hostId, asked + 1)
      const work = answer(hostId, event)
        .catch((error: unknown) => logger.error({ hostId, err: error }, 'a credential could not be answered'))
        .finally(() => {
          underWay.delete(work)
          const left = (questions.get(hostId) ?? 1) - 1
          if (left > 0) questions.set(hostId, left)
          else questions.delete(hostId)
        })
      underWay.add(work)
    },
    settled: async () => {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
