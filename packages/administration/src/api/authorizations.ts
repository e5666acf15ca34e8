import type { Json, Kit } from '@grantry/core'
import type { AdminAuthorizations, AdminHost } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'
import { missing } from './refusals.ts'

function authorizationsOf({ authorizations }: AdminHost, kit: Pick<Kit, 'refuse'>): AdminAuthorizations {
  if (authorizations !== undefined) return authorizations
  throw missing(kit, 'This server has no authorizations of users; it has no authorization endpoint')
}

/** The authorizations that users have given to installations of clients. */
export const authorizationOperations: readonly Operation[] = [
  operation({
    id: 'listUserAuthorizations',
    method: 'GET',
    path: '/users/{id}/authorizations',
    of: ['user'],
    summary: 'List the installations of clients that have lasting access for a user, the newest first',
    params: nothing,
    status: 200,
    async handle({ host, kit, ids: [sub = ''] }) {
      const authorizations = await authorizationsOf(host, kit).list(sub)
      const items = authorizations.map(
        ({ scopes, audiences, ...authorization }): Json => ({
          ...authorization,
          scopes: [...scopes],
          audiences: [...audiences],
        }),
      )
      return { json: { items } }
    },
  }),
  operation({
    id: 'endUserAuthorization',
    method: 'DELETE',
    path: '/users/{id}/authorizations/{family}',
    of: ['user'],
    summary:
      'End the access of one installation: its refresh token, and its access tokens where they are validated here',
    params: nothing,
    status: 204,
    async handle({ host, kit, audited, ids: [sub = '', family = ''] }) {
      const authorization = (await authorizationsOf(host, kit).list(sub)).find((listed) => listed.family === family)
      if (authorization === undefined) throw missing(kit, 'The user has no such authorization')
      const before = { family, clientId: authorization.clientId }
      await audited({ action: 'user_authorization_ended', id: sub, before }, () => host.revoke({ family }))
      return { status: 204 }
    },
  }),
]
