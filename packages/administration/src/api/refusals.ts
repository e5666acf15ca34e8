import { configurationProblems, type Kit, type OAuthError } from '@grantry/core'
import { type ChangeRefusal, refusalOf } from '../refusal.ts'

const statuses = {
  not_found: 404,
  exists: 409,
  outdated: 412,
  unreadable: 409,
  in_use: 409,
  unsupported: 409,
} as const satisfies Partial<Record<ChangeRefusal['reason'], number>>

const sentence = (message: string): string => `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`

/** Returns the refusal of a request whose change a manager has refused; any other error unchanged. */
export function problemOf(thrown: unknown, kit: Pick<Kit, 'refuse'>): unknown {
  const refusal = refusalOf(thrown)
  if (refusal === undefined) return thrown
  const { reason, member } = refusal
  const message = configurationProblems(thrown).map(sentence).join('. ')
  // The message repeats ids and values of the request, which events must not contain.
  return kit.refuse('invalid_request', 'The change is refused', reason, {
    explanation: message,
    ...(reason !== 'invalid' && { status: statuses[reason] }),
    ...(member !== undefined && { member }),
  })
}

/** Refuses a request whose parameter or member is wrong. */
export const wrong = (kit: Pick<Kit, 'refuse'>, message: string, member?: string): OAuthError =>
  kit.refuse('invalid_request', 'A member or parameter is wrong', 'invalid', { explanation: message, member })

/** Refuses a request for something that does not exist. */
export const missing = (kit: Pick<Kit, 'refuse'>, message: string): OAuthError =>
  kit.refuse('invalid_request', message, 'not_found', { status: 404 })
