import { isOAuthError } from '@grantry/core'
import { harmlessText } from './harmless-text.ts'

/**
 * Returns the message of a thrown value on one line, without terminal control sequences. For an `OAuthError` with a
 * cause, which clients only see as "temporarily unavailable", it returns the reason and the cause.
 */
export function messageOf(thrown: unknown): string {
  if (isOAuthError(thrown) && thrown.cause !== undefined) {
    const { reason } = thrown.details
    return `${reason === 'storage_failed' ? 'the storage failed' : reason}: ${messageOf(thrown.cause)}`
  }
  return harmlessText((thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/gu, ' '))
}
