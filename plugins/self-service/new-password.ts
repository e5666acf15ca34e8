import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import {
  isOutdated,
  maxInteractionLifetime,
  type Sessions,
  type SuspendedInteraction,
  standingOf,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { callStore, contextOf, postMail, rememberOwnerIn, type SelfServiceContext } from './flow.ts'
import type { Ticket } from './ticket.ts'

/** The name of the way, for what waits until its user has proved a second factor. */
export const wayName = 'accounts'

const schema = v.object({
  /** That of the ticket. */
  id: v.string(),
  sub: v.string(),
  email: v.string(),
  password: v.string(),
})

/** The password that a user has chosen with a mail. */
export type NewPassword = v.InferOutput<typeof schema>

/** Whether the account still has the address that was proved. Only its owner may act for the account. */
export async function isStillOwner(
  { sub = '', email }: Pick<Ticket, 'sub' | 'email'>,
  services: Pick<SelfServiceContext, 'settings'>,
  kit: EndpointKit,
): Promise<boolean> {
  if (!(await kit.isUserActive(sub))) return false
  const account = await callStore('find', kit, services, (store) => store.find(sub))
  return account?.emailVerified === true && account.email === email
}

/** What a change of the password uses. */
interface ChangeServices extends Pick<SelfServiceContext, 'settings' | 'outgoing'> {
  readonly sessions: Sessions
}

/** Ends what an attacker got with the old password. */
async function endAll(sub: string, kit: EndpointKit, { settings, sessions }: ChangeServices): Promise<void> {
  await kit.callHost('selfService.revoke', () => settings.revoke(sub))
  await sessions.endAll(kit, sub)
}

/**
 * Stores the password of a user who has proved the address, and the second factor if there is one. `false` if that is no
 * longer possible.
 *
 * What the user had ends first: if this process dies after the change, no session is left that the old password has begun,
 * and if it dies before, the user asks for another mail. It ends again afterwards, for sign-ins in between.
 */
export async function setNewPassword(
  data: string,
  interaction: SuspendedInteraction,
  services: ChangeServices,
): Promise<boolean> {
  const { kit } = interaction
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), data)
  if (!parsed.success) return false
  const { id, sub, email, password } = parsed.output
  if (!(await isStillOwner({ sub, email }, services, kit))) return false
  // The form for the factor can be sent again, with another code. It does not live longer than its request.
  const used = `used new password:${id}`
  if (!(await kit.records.insert(used, true, kit.now() + maxInteractionLifetime, keptRecord))) return false
  await endAll(sub, kit, services)
  const standing = await standingOf(kit, sub)
  const isStillAllowed = async (): Promise<boolean> =>
    (await isStillOwner({ sub, email }, services, kit)) && !isOutdated(standing, await standingOf(kit, sub))
  const account = await callStore('change', kit, services, (store) => store.change(sub, { password, isStillAllowed }))
  if (account === undefined || account === 'taken') return false
  await endAll(sub, kit, services)
  await rememberOwnerIn(account, password, interaction)
  kit.recordUser({ type: 'password_changed', by: 'recovery' }, contextOf(interaction, sub))
  postMail({ kind: 'password_changed', url: kit.endpointUrl('account') }, account.email, interaction, services)
  return true
}
