import type { Json, Kit } from '@grantry/core'
import * as v from 'valibot'
import { inviteUser, withdrawInvitation } from '../users/invite-user.ts'
import type { AdminHost, AdminInvitation, AdminInvitations } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'
import { missing } from './refusals.ts'

function invitationsOf({ invitations }: AdminHost, kit: Pick<Kit, 'refuse'>): AdminInvitations {
  if (invitations !== undefined) return invitations
  throw missing(kit, 'Users do not create accounts by invitation here')
}

const shown = ({ id, email, claims, invitedAt, expiresAt }: AdminInvitation): Json => ({
  id,
  email,
  claims: claims as Json,
  invitedAt,
  expiresAt,
})

const text = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most))

export const invitationOperations: readonly Operation[] = [
  operation({
    id: 'listInvitations',
    method: 'GET',
    path: '/invitations',
    summary: 'List the invitations that no user has accepted yet, the newest first',
    params: nothing,
    status: 200,
    async handle({ host, kit }) {
      return { json: { items: (await invitationsOf(host, kit).list()).map(shown) } }
    },
  }),
  operation({
    id: 'inviteUser',
    method: 'POST',
    path: '/invitations',
    summary: 'Invite a user by mail to create an account; an earlier invitation to the same address ends',
    params: v.strictObject({
      email: text(254),
      name: v.optional(text(256)),
      claims: v.optional(v.record(v.string(), v.unknown())),
      locale: v.optional(text(35)),
    }),
    repeatable: true,
    status: 201,
    async handle({ host, kit, audited, params: { claims, ...members } }) {
      const invitations = invitationsOf(host, kit)
      const invited = { ...members, claims: claims as Readonly<Record<string, Json>> | undefined }
      return { status: 201, json: shown(await inviteUser(invited, { invitations, audited })) }
    },
  }),
  operation({
    id: 'withdrawInvitation',
    method: 'DELETE',
    path: '/invitations/{id}',
    summary: 'Withdraw an invitation, so that its link no longer works',
    params: nothing,
    status: 204,
    async handle({ host, kit, audited, ids: [id = ''] }) {
      const invitations = invitationsOf(host, kit)
      if (id.length > 64) throw missing(kit, 'There is no such invitation')
      await withdrawInvitation(id, { invitations, audited })
      return { status: 204 }
    },
  }),
]
