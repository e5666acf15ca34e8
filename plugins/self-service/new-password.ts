import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import {
  maxInteractionLifetime,
  replacePassword,
  type Sessions,
  type Standing,
  type SuspendedInteraction,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { Account } from '../shared/account-store.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { callStore, contextOf, postMail, rememberOwnerIn, type SelfServiceContext } from './flow.ts'
import type { Ticket } from './ticket.ts'

/** The name of this way to sign in, for sign-ins that wait for a second factor. */
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

/** Returns the account, if it still has the address that was proved. Only its owner may act for the account. */
export async function ownAccount(
  { sub = '', email }: Pick<Ticket, 'sub' | 'email'>,
  services: Pick<SelfServiceContext, 'settings'>,
  kit: EndpointKit,
): Promise<Account | undefined> {
  if (!(await kit.isUserActive(sub))) return undefined
  const account = await callStore('find', kit, services, (store) => store.find(sub))
  return account?.emailVerified === true && account.email === email ? account : undefined
}

/** The services that a change of the password uses. */
interface ChangeServices extends Pick<SelfServiceContext, 'settings' | 'outgoing'> {
  readonly sessions: Sessions
}

/**
 * Stores the password of a user who has proved the address, and the second factor if there is one. Returns `undefined`
 * if the change is no longer possible, and `changed` if the account was changed at the same time: its owner can ask for
 * another mail. The same holds if this process dies before the change.
 *
 * @param proved the state of the user when the mail was asked for
 * @returns the state with which the session of the user begins
 */
export async function setNewPassword(
  data: string,
  proved: Standing,
  interaction: SuspendedInteraction,
  services: ChangeServices,
): Promise<Standing | { readonly changed: Pick<NewPassword, 'email'> } | undefined> {
  const { kit } = interaction
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), data)
  if (!parsed.success) return undefined
  const { id, sub, password, ...owned } = parsed.output
  const owner = () => ownAccount({ sub, ...owned }, services, kit)
  const accountBefore = await owner()
  if (accountBefore === undefined) return undefined
  // The form for the factor can be sent again, with another code. It does not live longer than its request.
  const used = `used new password:${id}`
  if (!(await kit.records.insert(used, true, kit.now() + maxInteractionLifetime, keptRecord))) return undefined
  const user = { sub, standing: proved, sessions: services.sessions }
  const { changed: account, standing } = await replacePassword(user, kit, (isAllowed) => {
    const isStillAllowed = async () => (await isAllowed()) && (await owner()) !== undefined
    const changes = { password, version: accountBefore.version, isStillAllowed }
    return callStore('change', kit, services, (store) => store.change(sub, changes))
  })
  if (account === undefined) return (await owner()) && { changed: owned }
  await rememberOwnerIn(account, password, interaction)
  kit.recordUser({ type: 'password_changed', by: 'recovery' }, contextOf(interaction, sub))
  postMail({ kind: 'password_changed', url: kit.endpointUrl('account') }, account.email, interaction, services)
  return standing
}
