import { foldedAddress, isOAuthError, isSameAddress, type OAuthError, type Reply } from '@grantry/core'
import * as v from 'valibot'
import type { Account, AccountStore } from '../shared/account-store.ts'
import { addressIn, mailboxOf } from '../shared/mail-address.ts'
import { countAddress, countNetwork, countSent } from '../shared/mail-limits.ts'
import { createMailed, isMailedCode, isMailedSpent, mailedLifetime, spendMailed } from '../shared/mailed-code.ts'
import { countMailedCode } from '../shared/mailed-code-limits.ts'
import type { AddressProblem } from './account-pages.ts'
import { accountOf, callAccounts } from './accounts.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { signsInWithAddress, takeAddress } from './take-address.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

export const addressPaths = { ask: 'email', prove: 'email/code' } as const

/** The change that a mailed code permits. It belongs to one session of one browser, and a later code replaces it. */
const schema = v.object({
  id: v.string(),
  code: v.string(),
  counts: v.boolean(),
  expiresAt: v.number(),
  sub: v.string(),
  /** The new address. */
  address: v.string(),
  /** The address when the code was sent: the code has no effect if the address was changed since. */
  before: v.string(),
})
type Ticket = v.InferOutput<typeof schema>

/** The id of a session is in its cookie, and in no other browser. */
const keyOf = ({ session, kit }: Visit): string => `mailed address:${kit.sha256(session.sid)}`

async function findTicket(visit: Visit): Promise<Ticket | undefined> {
  const { kit, session } = visit
  const ticket = await kit.records.get(keyOf(visit), schema)
  if (ticket === undefined || ticket.sub !== session.subject.sub || ticket.expiresAt <= kit.now()) return undefined
  return (await isMailedSpent(ticket, kit)) ? undefined : ticket
}

/** Mails that one user can ask for in an hour. */
const maxPerUser = 10
const hour = 3600

async function countUser({ kit, session }: Visit): Promise<void> {
  const current = Math.floor(kit.now() / hour)
  const end = (current + 1) * hour
  const count = await kit.records.increment(
    `mailed addresses:${JSON.stringify([session.subject.sub, current])}`,
    end + 60,
  )
  if (count <= maxPerUser) return
  const more = { status: 429, retryAfter: end - kit.now() } as const
  throw kit.refuse('slow_down', 'Too many mails were requested', 'mail_limit', more)
}

/** Calls a function. Returns the refusal if a limit is reached. */
async function limited<T>(call: () => Promise<T>): Promise<{ readonly result: T } | { readonly refusal: OAuthError }> {
  try {
    return { result: await call() }
  } catch (error) {
    if (!isOAuthError(error) || error.code !== 'slow_down') throw error
    return { refusal: error }
  }
}

const tooMany = (refusal: OAuthError) =>
  ({ problem: 'too_many_attempts', retryAfter: refusal.details.retryAfter }) as const

interface State {
  readonly problem?: AddressProblem | undefined
  readonly retryAfter?: number | undefined
}

const formOf = async (visit: Visit, path: string) => ({
  subjectName: nameIn(visit.session),
  form: { action: urlOf(visit.kit, path), fields: { form_token: await formTokenFor({ ...visit, path }) } },
  back: urlOf(visit.kit),
})

async function askPage(visit: Visit, { pages }: AccountServices, address: string, state: State = {}): Promise<Reply> {
  return pages.changeAddress({ ...(await formOf(visit, addressPaths.ask)), address, ...state }, visit.locale)
}

async function codePage(visit: Visit, ticket: Ticket, { pages }: AccountServices, state: State = {}): Promise<Reply> {
  const { address, expiresAt } = ticket
  const minutes = Math.max(1, Math.ceil((expiresAt - visit.kit.now()) / 60))
  const view = { ...(await formOf(visit, addressPaths.prove)), address, minutes, ...state }
  return pages.proveAddress({ ...view, again: urlOf(visit.kit, addressPaths.ask) }, visit.locale)
}

/**
 * Returns the mailbox of another user who has the address; `undefined` if no user has it. Takes the same time in both
 * cases.
 */
async function otherOwner(address: string, account: Account, visit: Visit, services: AccountServices) {
  const find = (call: (store: AccountStore) => ReturnType<AccountStore['find']>) => callAccounts(visit, services, call)
  const [proved, named] = await Promise.all([
    find((store) => store.findByEmail(address)),
    find((store) => store.findByName(address)),
  ])
  const owner = proved ?? (signsInWithAddress(account) ? named : undefined)
  if (owner === undefined || owner.sub === account.sub) return undefined
  // The stored spelling of the same mailbox, or the named address. An address that differs is another mailbox, with
  // its own limit.
  return owner.email !== undefined && isSameAddress(owner.email, address) ? owner.email : address
}

/** Mails a code to the new address. The response is the same if the address belongs to another user, who gets another mail. */
async function sendCode(address: string, account: Account, visit: Visit, services: AccountServices): Promise<Reply> {
  const { kit, request, locale, session } = visit
  const { mailLimits, pages, outgoing } = services
  const counted = await limited(async () => {
    await countUser(visit)
    const { clientAddress } = request
    await countNetwork(clientAddress, mailLimits, kit)
    // Counts with the mails that strangers request, because the user has not proved the address.
    await countAddress(mailboxOf(address), { clientAddress, isKnown: false }, mailLimits, kit)
    const owner = await otherOwner(address, account, visit, services)
    await countSent({ isSent: true, kind: 'address', whose: session.subject.sub }, mailLimits, kit)
    return owner
  })
  if ('refusal' in counted) {
    return { ...(await askPage(visit, services, address, tooMany(counted.refusal))), error: counted.refusal }
  }
  const owner = counted.result
  const { code, stored } = await createMailed(
    { counts: owner === undefined, expiresAt: kit.now() + mailedLifetime },
    kit,
  )
  const ticket = { ...stored, sub: account.sub, address, before: account.email ?? '' }
  await kit.records.put(keyOf(visit), ticket, ticket.expiresAt)
  kit.recordUser(
    { type: 'mail_requested', purpose: 'address' },
    { sub: account.sub, clientAddress: request.clientAddress },
  )
  const service = new URL(kit.issuer).host
  const minutes = mailedLifetime / 60
  const mail =
    owner === undefined
      ? pages.addressMail({ kind: 'code', service, code, minutes }, locale)
      : pages.addressMail({ kind: 'taken', service }, locale)
  outgoing?.post('address', { to: owner ?? address, ...mail }, kit)
  return codePage(visit, ticket, services)
}

/** The page that asks for an address: a new one, or the current one if it was never proved. */
export const changeAddress: ChangePage = {
  keeps: 'address',
  async show(visit, services) {
    const account = await accountOf(visit, services)
    if (account === undefined || services.outgoing === undefined) return undefined
    return askPage(visit, services, account.emailVerified ? '' : (account.email ?? ''))
  },
  async submit({ address: entered = '' }, visit, services) {
    const account = await accountOf(visit, services)
    if (account === undefined || services.outgoing === undefined) return 'gone'
    const address = addressIn(entered)
    if (address === undefined) return askPage(visit, services, entered.slice(0, 254), { problem: 'address_malformed' })
    if (account.emailVerified && account.email === address) {
      return askPage(visit, services, address, { problem: 'address_known' })
    }
    return sendCode(address, account, visit, services)
  },
}

/** The page that checks the code of the mail. */
export const proveAddress: ChangePage = {
  keeps: 'address',
  async show(visit, services) {
    const ticket = await findTicket(visit)
    return ticket && codePage(visit, ticket, services)
  },
  async submit({ code = '' }, visit, services) {
    const { kit, request, session } = visit
    const ticket = await findTicket(visit)
    if (ticket === undefined) return 'gone'
    const context = { sub: session.subject.sub, clientAddress: request.clientAddress }
    const failed = (reason: string): void =>
      kit.recordUser({ type: 'mail_proof_failed', purpose: 'address', reason }, context)
    // Counts guesses by the address, for all accounts. Separate from the limit of the codes that sign the owner of
    // the address in, which strangers must not use up.
    const name = `new address ${foldedAddress(ticket.address)}`
    const checked = await limited(async () => {
      const owned = { name, sub: session.subject.sub }
      const counted = await countMailedCode(owned, request.clientAddress, services.mailLimits, kit)
      const isRight = await isMailedCode(ticket, code, kit)
      if (isRight) await counted.succeed()
      return isRight
    })
    if ('refusal' in checked) {
      failed(checked.refusal.details.reason)
      return { ...(await codePage(visit, ticket, services, tooMany(checked.refusal))), error: checked.refusal }
    }
    if (!checked.result) {
      failed('wrong_code')
      return codePage(visit, ticket, services, { problem: 'wrong_code' })
    }
    if (await spendMailed(ticket, kit)) return takeAddress(ticket, visit, services)
    failed('proof_used')
    return 'gone'
  },
}

/** Returns what the overview shows. */
export const addressView = (account: Account | undefined, { kit }: Visit, { outgoing }: AccountServices) =>
  account &&
  outgoing && {
    address: account.email,
    isVerified: account.emailVerified,
    change: urlOf(kit, addressPaths.ask),
  }
