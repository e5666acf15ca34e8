import { isOAuthError } from '@grantry/core'
import { sanitizeText } from './sanitize-text.ts'

/**
 * Returns the message of a thrown value on one line, without terminal control sequences. For an `OAuthError` with a
 * cause, which clients only see as "temporarily unavailable", it returns the reason and the cause.
 */
export function errorMessage(thrown: unknown): string {
  if (isOAuthError(thrown) && thrown.cause !== undefined) {
    const { reason } = thrown.details
    return `${reason === 'storage_failed' ? 'the storage failed' : reason}: ${errorMessage(thrown.cause)}`
  }
  return sanitizeText((thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/gu, ' '))
}

/** Returns the message of an error without the `createProvider(): ` prefix: the operator has not called a function. */
export const configurationMessage = (cause: unknown): string =>
  errorMessage(cause).replace(/^createProvider\(\): /u, '')

/** Returns why the system refused access to a file: its error code, or the message where a runtime gives no code. */
export const fileErrorReason = (cause: unknown): string =>
  (cause as { readonly code?: string }).code ?? errorMessage(cause)

/** Wraps an error so that its message starts with the file that the operator wrote. */
export const errorInFile = (cause: unknown, file: string): Error =>
  new TypeError(`${file}: ${configurationMessage(cause)}`, { cause })
