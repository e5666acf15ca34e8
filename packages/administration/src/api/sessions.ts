import type { Json, Kit } from '@grantry/core'
import { revokeAndSignOut, withdrawAccess } from '../revoke-and-sign-out.ts'
import { resetSecondFactors } from '../users/reset-second-factors.ts'
import type { AdminHost, AdminSession, AdminSessions } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'
import { missing } from './refusals.ts'

function sessionsOf({ sessions }: AdminHost, kit: Pick<Kit, 'refuse'>): AdminSessions {
  if (sessions !== undefined) return sessions
  throw missing(kit, 'This server has no sessions; it has no authorization endpoint')
}

/** Returns the members of a session that the API shows. None of them is a secret. */
const shown = ({ sid, subject: { amr, authTime }, startedAt, expiresAt }: AdminSession): Json => ({
  sid,
  startedAt,
  expiresAt,
  ...(authTime !== undefined && { authTime }),
  ...(amr !== undefined && { amr: [...amr] }),
})

/**
 * The operations on sessions of users, and on everything that was issued to users and clients, even if these are not in
 * the storage.
 */
export const sessionOperations: readonly Operation[] = [
  operation({
    id: 'listUserSessions',
    method: 'GET',
    path: '/users/{id}/sessions',
    of: ['user'],
    summary: 'List the sessions of a user, in all browsers',
    params: nothing,
    status: 200,
    async handle({ host, kit, ids: [sub = ''] }) {
      const sessions = await sessionsOf(host, kit).list(sub)
      return { json: { items: sessions.map(shown) } }
    },
  }),
  operation({
    id: 'endUserSessions',
    method: 'DELETE',
    path: '/users/{id}/sessions',
    of: ['user'],
    summary: 'End all sessions of a user, and inform their clients',
    params: nothing,
    status: 204,
    async handle({ host, kit, audited, ids: [sub = ''] }) {
      const sessions = sessionsOf(host, kit)
      await audited({ action: 'user_sessions_ended', id: sub }, () => sessions.endAll(sub))
      return { status: 204 }
    },
  }),
  operation({
    id: 'endUserSession',
    method: 'DELETE',
    path: '/users/{id}/sessions/{sid}',
    of: ['user'],
    summary: 'End a session of a user, and inform its clients',
    params: nothing,
    status: 204,
    async handle({ host, kit, audited, ids: [sub = '', sid = ''] }) {
      const sessions = sessionsOf(host, kit)
      const listed = await sessions.list(sub)
      if (!listed.some((session) => session.sid === sid)) throw missing(kit, 'The user has no such session')
      await audited({ action: 'user_session_ended', id: sub, before: { sid } }, () => sessions.end(sid))
      return { status: 204 }
    },
  }),
  operation({
    id: 'revokeUser',
    method: 'POST',
    path: '/users/{id}/revoke',
    of: ['user'],
    summary: 'Revoke everything that was issued to a user so far: sessions, codes and tokens',
    params: nothing,
    status: 204,
    async handle({ host, audited, ids: [sub = ''] }) {
      await audited({ action: 'user_revoked', id: sub }, () => revokeAndSignOut({ subject: sub }, host))
      return { status: 204 }
    },
  }),
  operation({
    id: 'revokeUserAtClient',
    method: 'POST',
    path: '/users/{id}/clients/{clientId}/revoke',
    of: ['user', 'client'],
    summary:
      'Revoke the access that a user has given to a client so far, with the consent; the response counts the listed items',
    params: nothing,
    status: 200,
    async handle({ host, audited, ids: [subject = '', clientId = ''] }) {
      const ended = await audited({ action: 'user_access_withdrawn', id: subject, before: { clientId } }, () =>
        withdrawAccess({ subject, clientId }, host),
      )
      return { json: { sub: subject, clientId, ended: { ...ended } } }
    },
  }),
  operation({
    id: 'resetUserSecondFactors',
    method: 'DELETE',
    path: '/users/{id}/second-factors',
    of: ['user'],
    summary: 'Remove the second factors and passkeys of a user, and end sessions and tokens',
    params: nothing,
    protects: 'administrators',
    status: 200,
    async handle({ host, audited, ids: [sub = ''] }) {
      const revoke = () => revokeAndSignOut({ subject: sub }, host)
      const done = await resetSecondFactors(sub, { secondFactors: host.secondFactors, revoke, audited })
      return { json: { sub, ...done } }
    },
  }),
  operation({
    id: 'revokeClient',
    method: 'POST',
    path: '/clients/{id}/revoke',
    of: ['client'],
    summary: 'Revoke everything that was issued to a client so far',
    params: nothing,
    status: 204,
    async handle({ host, audited, ids: [id = ''] }) {
      await audited({ action: 'client_revoked', id }, () => host.revoke({ clientId: id }))
      return { status: 204 }
    },
  }),
]
