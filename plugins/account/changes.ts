import type { Visit } from './visit.ts'

/** What a user has changed on the account page. */
export type AccountChange = 'session_ended' | 'sessions_ended' | 'access_withdrawn'

/** Records a change. */
export function noteChange(change: AccountChange, { session, request, kit }: Visit): void {
  const context = { sub: session.subject.sub, clientAddress: request.clientAddress }
  kit.recordUser({ type: 'account_changed', change }, context)
}
