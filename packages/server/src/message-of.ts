import { isOAuthError } from '@grantry/core'
import { harmlessText } from './harmless-text.ts'

/**
 * What was thrown, in one line, whatever a library or a server has put into its message, and without what a terminal obeys. Of what clients are only
 * told as "temporarily unavailable", what lies behind it.
 */
export function messageOf(thrown: unknown): string {
  if (isOAuthError(thrown) && thrown.cause !== undefined) {
    const { reason } = thrown.details
    return `${reason === 'storage_failed' ? 'the storage failed' : reason}: ${messageOf(thrown.cause)}`
  }
  return harmlessText((thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/gu, ' '))
}
