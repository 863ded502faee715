import { ServiceError } from '@dock/contract'
import { QuarantineRefused } from './quarantine-refused.ts'

/** Waits for the work of an admin's decision on the quarantine. Turns a refusal into an API error with its sentence. */
export async function takeDecision<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof QuarantineRefused)) throw error
    throw new ServiceError(error.reason, error.reason === 'conflict' ? { message: error.message } : undefined)
  }
}
