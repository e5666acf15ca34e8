import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import {
  isOutdated,
  type SuspendedInteraction,
  standingEntries,
  standingIn,
  standingOf,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { Account } from '../shared/account-store.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { createMailed, mailedLifetime } from '../shared/mailed-code.ts'
import type { MailPurpose } from './self-service-pages.ts'

const text = v.string()

/**
 * The action that a mailed link or code permits. A ticket belongs to one request of one browser. A later ticket for the
 * same purpose in the same browser replaces it.
 */
const schema = v.object({
  id: text,
  interaction: text,
  /** The address of the account, or of the one to create. */
  address: text,
  /** The hash of the link. */
  link: text,
  /** Sealed, because a reader of the storage could find a code of eight digits from its hash. */
  code: text,
  /** Absent for an account that is to be created, and for an address without one. */
  sub: v.exactOptional(text),
  name: v.exactOptional(text),
  /** The address of the account at that time. */
  email: v.exactOptional(text),
  /** Whether the ticket proves something. A ticket for an unknown address proves nothing, but takes the same time. */
  counts: v.boolean(),
  expiresAt: v.number(),
  ...standingEntries,
})
export type Ticket = v.InferOutput<typeof schema>

/** What a mail contains. */
export interface MailedSecrets {
  readonly link: string
  readonly code: string
}

/** No user has this `sub`. */
const unusedSub = ' '

const keyOf = (purpose: MailPurpose, browser: string): string => `mailed ticket:${purpose}:${browser}`

/** Stores a ticket for the browser of the request. Takes the same time whether or not the address has an account. */
export async function createTicket(
  purpose: MailPurpose,
  {
    address,
    account,
    counts,
  }: { readonly address: string; readonly account: Account | undefined; readonly counts: boolean },
  interaction: Pick<SuspendedInteraction, 'kit' | 'browser' | 'id'>,
): Promise<MailedSecrets & { readonly ticket: Ticket }> {
  const { kit, browser } = interaction
  const standing = standingIn(await standingOf(kit, account?.sub ?? unusedSub))
  const link = kit.randomId()
  const expiresAt = kit.now() + mailedLifetime
  const { code, stored } = await createMailed({ counts, expiresAt }, kit)
  const ticket: Ticket = {
    ...stored,
    interaction: interaction.id,
    address,
    link: kit.sha256(link),
    ...(account !== undefined && { sub: account.sub, name: account.username }),
    ...(account?.email !== undefined && { email: account.email }),
    ...standing,
  }
  await kit.records.put(keyOf(purpose, browser), ticket, expiresAt)
  return { ticket, link, code }
}

/** Returns the ticket of the browser; `undefined` if it has expired, or its user has a new password since. Spends nothing. */
export async function findTicket(
  purpose: MailPurpose,
  { kit, browser, id }: SuspendedInteraction,
): Promise<Ticket | undefined> {
  const ticket = await kit.records.get(keyOf(purpose, browser), schema)
  if (ticket === undefined || ticket.interaction !== id || ticket.expiresAt <= kit.now()) return undefined
  const standing = await standingOf(kit, ticket.sub ?? unusedSub)
  return isOutdated(ticket, standing) ? undefined : ticket
}

/** Whether a link belongs to the ticket. */
export const isLinkOf = (ticket: Ticket, link: string, kit: Pick<EndpointKit, 'equals' | 'sha256'>): boolean =>
  kit.equals(ticket.link, kit.sha256(link)) && ticket.counts

/**
 * The maximum number of names and passwords that can be tried with a ticket: a tried name reveals whether it is taken,
 * and a tried password can call a service.
 */
const maxEntries = 20

/** Counts what the user has entered with a proof. `false` after too many. */
export const countEntry = async ({ id, expiresAt }: Ticket, kit: EndpointKit): Promise<boolean> =>
  (await kit.records.increment(`mailed entries:${id}`, expiresAt + clockSkew)) <= maxEntries
