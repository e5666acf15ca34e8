import type { Json, Kit } from '@grantry/core'
import type { AdminConsents, AdminHost } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'
import { missing } from './refusals.ts'

function consentsOf({ consents }: AdminHost, kit: Pick<Kit, 'refuse'>): AdminConsents {
  if (consents !== undefined) return consents
  throw missing(kit, 'This server has no consents; it has no authorization endpoint')
}

/** The consents of users. */
export const consentOperations: readonly Operation[] = [
  operation({
    id: 'listUserConsents',
    method: 'GET',
    path: '/users/{id}/consents',
    of: ['user'],
    summary: 'List the clients that a user has consented to, with scopes and claims',
    params: nothing,
    status: 200,
    async handle({ host, kit, ids: [sub = ''] }) {
      const consents = await consentsOf(host, kit).list(sub)
      const items = consents.map(
        ({ clientId, scopes, claims }): Json => ({
          clientId,
          scopes: [...scopes],
          claims: [...claims],
        }),
      )
      return { json: { items } }
    },
  }),
  operation({
    id: 'revokeUserConsent',
    method: 'DELETE',
    path: '/users/{id}/consents/{clientId}',
    of: ['user'],
    summary: 'Forget the consent of a user to a client, so that the user is asked again; tokens stay valid',
    params: nothing,
    status: 204,
    async handle({ host, kit, audited, ids: [sub = '', clientId = ''] }) {
      const consents = consentsOf(host, kit)
      const consent = (await consents.list(sub)).find((listed) => listed.clientId === clientId)
      if (consent === undefined) throw missing(kit, 'The user has not consented to this client')
      const before = { clientId, scopes: consent.scopes }
      await audited({ action: 'user_consent_revoked', id: sub, before }, () => consents.revoke(sub, clientId))
      return { status: 204 }
    },
  }),
]
