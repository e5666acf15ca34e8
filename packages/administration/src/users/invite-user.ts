import type { Json } from '@grantry/core'
import type { AdminInvitation, AdminInvitations } from '../api/host.ts'
import type { AuditedChange } from '../audit.ts'
import { type RefusalReason, refused } from '../refusal.ts'

const problems: Readonly<Record<string, readonly [RefusalReason, message: string, member?: string]>> = {
  address_malformed: ['invalid', 'email must be a mail address, such as carol@example.com', 'email'],
  claims_malformed: [
    'invalid',
    'claims must be an object of at most 4096 characters, without sub, email and email_verified',
    'claims',
  ],
  address_of_provider: [
    'invalid',
    'the domain of this address belongs to a provider, where its users sign in',
    'email',
  ],
  account_exists: ['exists', 'an account has this address already', 'email'],
  too_many_invitations: ['in_use', 'there are 1,000 invitations that no user has accepted; withdraw some of them'],
  mail_failed: ['unsupported', 'the mail server has not accepted the mail; the event mail_failed has the reason'],
}

type Audited = <T>(change: AuditedChange, make: () => Promise<T>) => Promise<T>

/** The content of an invitation. */
export interface InvitedUser {
  readonly email: string
  /** The claim `name`. */
  readonly name?: string | undefined
  readonly claims?: Readonly<Record<string, Json>> | undefined
  /** The language of the mail. */
  readonly locale?: string | undefined
}

/**
 * Invites a user to create an account. The audit trail has the id of the invitation, and not the address.
 *
 * @throws RefusedError
 */
export async function inviteUser(
  { email, name, claims, locale }: InvitedUser,
  { invitations, audited }: { readonly invitations: AdminInvitations; readonly audited: Audited },
): Promise<AdminInvitation> {
  const id = invitations.newId()
  const all = { ...claims, ...(name !== undefined && { name }) }
  return audited({ action: 'user_invited', id }, async () => {
    const invited = await invitations.invite({ id, email, claims: all, locale })
    if (typeof invited !== 'string') return invited
    const [reason, message, member] = problems[invited] ?? ['invalid', 'the invitation is refused']
    throw refused(reason, message, { member })
  })
}

/** Withdraws an invitation. @throws RefusedError if there is none, or it was accepted */
export const withdrawInvitation = (
  id: string,
  { invitations, audited }: { readonly invitations: AdminInvitations; readonly audited: Audited },
): Promise<void> =>
  audited({ action: 'user_invitation_withdrawn', id }, async () => {
    if (await invitations.withdraw(id)) return
    throw refused('not_found', 'there is no such invitation, or it was accepted')
  })
