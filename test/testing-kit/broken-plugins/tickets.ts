import { createHash } from 'node:crypto'
import { defineGrant, type Grant, type GrantKit, type GrantResult, OAuthError, type Plugins } from '@grantry/core'
import type { CaseContext, GrantCase, PluginCases, PluginRule } from '@grantry/testing'
import * as v from 'valibot'
import { kitOf } from '../../support/kit-of.ts'

/** A plugin that is broken on purpose. */
export interface Broken {
  readonly defect: string
  readonly plugin: Plugins | (() => Plugins)
  readonly cases: PluginCases
  /** Exactly the rules that it breaks. */
  readonly rules: readonly PluginRule[]
}

export const grantType = 'urn:example:ticket'

export const refuse = (reason: string, text = 'The ticket is not valid'): OAuthError =>
  new OAuthError('invalid_grant', text, { reason: `plugin:ticket:${reason}` })

export const text = v.pipe(v.string(), v.maxLength(100))
const params = v.object({ ticket: text })
type Handle = Grant<typeof params>['handle']
export type TicketRequest = Parameters<Handle>[0]

/** Spends a ticket as a correct plugin does. */
export const spend = (ticket: string, kit: GrantKit) => ({ redeems: [kit.redemption(ticket, kit.now() + 600)] })

export const holder = { sub: 'holder', amr: ['ticket'] }

/** What a correct plugin returns. */
export function handle({ params: { ticket }, scopes }: TicketRequest, kit: GrantKit): GrantResult {
  if (!ticket.startsWith('GOOD-')) throw refuse('unknown')
  return { subject: holder, scopes, ...spend(ticket, kit) }
}

/** A grant that redeems tickets, with a defect in what differs from a correct one. */
export const ticketGrant = (different: Partial<Omit<Grant<typeof params>, 'kind'>> = {}): Grant =>
  defineGrant({ grantType, params, handle, ...different }) as Grant

let tickets = 0

/** Returns a ticket that was not used, and that cannot be guessed. */
export const newTicket = () => {
  tickets += 1
  return { ticket: `GOOD-${createHash('sha256').update(String(tickets)).digest('hex').slice(0, 32)}` }
}

export const ticketCase = (different: Partial<GrantCase> = {}): PluginCases => ({
  grants: { [grantType]: { succeeds: newTicket, refused: [{ with: { ticket: 'EVIL-0001' } }], ...different } },
})

/** Stores a ticket for the client in the records of the plugin. */
export async function ticketOf({ provider, clock, clientId }: CaseContext): Promise<{ ticket: string }> {
  const { ticket } = newTicket()
  await kitOf(provider, 'ticket').records.put(ticket, clientId, clock.now() + 600)
  return { ticket }
}
