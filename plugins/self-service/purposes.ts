import { type EndpointKit, isSameAddress, type Reply } from '@grantry/core'
import { type SuspendedInteraction, standingIn } from '../authorization-endpoint/authorization-endpoint.ts'
import type { Account } from '../shared/account-store.ts'
import { newPasswordProblem } from '../shared/new-passwords.ts'
import type { WayUser } from '../sign-in/sign-in.ts'
import { type Addressed, callStore, contextOf, type Purpose, rememberOwnerIn, type SelfServiceContext } from './flow.ts'
import { type NewPassword, ownAccount, wayName } from './new-password.ts'
import type { MailPurpose } from './self-service-pages.ts'

/** The `amr` of a sign-in with a mail, for which RFC 8176 has no value. */
const amr = ['email']

const nameForm = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{1,62}[\p{L}\p{N}]$/u

/** Invisible characters, with which a name would look like another one. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

/** More marks above and below a letter than languages have: they climb over the lines around them. */
const manyMarks = /[\p{Mn}\p{Me}]{5}/u

/** Whether a user can choose this name. */
export const isNameForm = (name: string): boolean =>
  nameForm.test(name) && !invisible.test(name) && !manyMarks.test(name.normalize('NFD'))

const checkPassword = (
  password: string,
  names: readonly string[],
  by: MailPurpose,
  { settings }: SelfServiceContext,
  kit: EndpointKit,
) => newPasswordProblem(password, names, by, settings.passwords, kit)

/** Begins the session of a user who has proved the address. A user with a second factor proves it first. */
const signInWith = (
  { sub, username, ...more }: Pick<WayUser, 'standing' | 'pending'> & Pick<Account, 'sub' | 'username'>,
  interaction: SuspendedInteraction,
  { tools }: SelfServiceContext,
): Promise<Reply> => tools.signIn({ subject: { sub, amr }, name: username, ...more }, interaction)

const findByEmail = (address: string, services: SelfServiceContext, kit: EndpointKit) =>
  callStore('findByEmail', kit, services, (store) => store.findByEmail(address))

/** Whether the address of the account is this one, not only one that the store treats as equal. */
const hasAddress = ({ email }: Account, address: string): boolean =>
  email !== undefined && isSameAddress(email, address)

/** Finds an account for a mail. An unknown address gets none. */
async function lookUpAccount(address: string, services: SelfServiceContext, kit: EndpointKit): Promise<Addressed> {
  const match = await findByEmail(address, services, kit)
  const account = match && hasAddress(match, address) ? match : undefined
  // The mail goes to the stored address: another spelling can be another mailbox.
  const to = account?.emailVerified === true ? account.email : undefined
  return { account, counts: to !== undefined, mail: to === undefined ? undefined : { kind: 'itself', to } }
}

/**
 * A user who has forgotten the password chooses another one. The new password takes effect after the second factor, if
 * the user has one, is proved.
 */
export const recovery: Purpose = {
  name: 'recovery',
  asksForPassword: true,
  asksForName: false,
  contains: { link: true, code: true },
  lookUp: lookUpAccount,
  problem: ({ password }, { address, name = address }, services, kit) =>
    checkPassword(password, [name, address], 'recovery', services, kit),
  async finish({ password }, ticket, interaction, services) {
    const { id, sub = '', name = '', email = '' } = ticket
    if ((await ownAccount(ticket, services, interaction.kit)) === undefined) return undefined
    const pending = { way: wayName, data: JSON.stringify({ id, sub, email, password } satisfies NewPassword) }
    return signInWith({ sub, username: name, standing: standingIn(ticket), pending }, interaction, services)
  },
}

/** A user creates an account. It does not exist before its address is proved. */
export const signUp = (names: 'address' | 'username'): Purpose => ({
  name: 'sign_up',
  asksForPassword: true,
  asksForName: names === 'username',
  contains: { link: true, code: true },
  async lookUp(address, services, kit) {
    const [verified, named] = await Promise.all([
      findByEmail(address, services, kit),
      callStore('findByName', kit, services, (store) => store.findByName(address)),
    ])
    const account = verified ?? (names === 'address' ? named : undefined)
    if (account === undefined) return { account, counts: true, mail: { kind: 'itself', to: address } }
    // The mail goes to the stored address only if the two are the same mailbox: each mailbox has its own limit.
    const to = verified !== undefined && hasAddress(verified, address) ? verified.email : undefined
    return { account, counts: false, mail: { kind: 'account_exists', to: to ?? address } }
  },
  async problem({ username, password }, { address }, services, kit) {
    const isNamed = names === 'username'
    if (isNamed && !isNameForm(username)) return 'name_malformed'
    const holder = isNamed && (await callStore('findByName', kit, services, (store) => store.findByName(username)))
    if (holder) return 'name_taken'
    return checkPassword(password, [username, address], 'sign_up', services, kit)
  },
  async finish({ username: chosen, password }, { address: email }, interaction, services) {
    const { kit } = interaction
    const username = names === 'username' ? chosen : email
    const account = await callStore('create', kit, services, (store) =>
      store.create({ username, email, emailVerified: true, password }),
    )
    if (account === 'taken') return undefined
    await rememberOwnerIn(account, password, interaction)
    kit.recordUser({ type: 'account_created', by: 'sign_up' }, contextOf(interaction, account.sub))
    // The standing of a new user is empty: any revocation since then ends the session.
    return signInWith({ sub: account.sub, username: account.username, standing: {} }, interaction, services)
  },
})

/** A user signs in with a mail instead of a password. */
export const mailSignIn = (mail: 'link' | 'code' | 'both'): Purpose => ({
  name: 'sign_in',
  asksForPassword: false,
  asksForName: false,
  contains: { link: mail !== 'code', code: mail !== 'link' },
  lookUp: lookUpAccount,
  problem: async () => undefined,
  async finish(_, ticket, interaction, services) {
    const { sub = '', name = '' } = ticket
    if ((await ownAccount(ticket, services, interaction.kit)) === undefined) return undefined
    // The standing when the mail was sent: a revocation, or a new password, can come in between.
    return signInWith({ sub, username: name, standing: standingIn(ticket) }, interaction, services)
  },
})
