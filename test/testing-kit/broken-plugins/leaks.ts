import {
  authorizations,
  defineGrant,
  definePlugin,
  type Grant,
  type GrantKit,
  OAuthError,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { kitOf, offerKit } from '../../support/kit-of.ts'
import {
  type Broken,
  grantType,
  handle,
  holder,
  refuse,
  spend,
  type TicketRequest,
  ticketCase,
  ticketGrant,
} from './tickets.ts'

const link = (kit: GrantKit, text: string) => kit.unseal(text, v.object({ sub: v.string() }))

/** A grant that declares stored grants but redeems a text of its own. */
const sealedLink = (resultOf: (sub: string) => object) =>
  definePlugin('ticket', [
    sealing,
    defineGrant({
      grantType,
      params: v.object({ ticket: v.string() }),
      scope: 'ignored',
      requires: [authorizations],
      stored: { kind: 'link' },
      async handle({ params: { ticket } }, kit) {
        const opened = await link(kit, ticket)
        if (opened === undefined) throw refuse('unknown')
        return { ...resultOf(opened.sub), scopes: ['api1'], ...spend(ticket, kit) }
      },
    }) as Grant,
    offerKit('ticket'),
  ])

const sealedCase = ticketCase({
  succeeds: async ({ provider, clock }) => ({
    ticket: await kitOf(provider, 'ticket').seal({ sub: 'alice' }, clock.now() + 60),
  }),
  boundToClient: false,
})

const describing = (describe: (request: TicketRequest) => OAuthError) =>
  ticketGrant({
    handle(request, kit) {
      if (request.params.ticket.startsWith('GOOD-')) return handle(request, kit)
      throw describe(request)
    },
  })

export const brokenLeaks: readonly Broken[] = [
  {
    defect: 'writes the ticket into a description',
    plugin: describing(({ params }) => refuse('unknown', `The ticket ${params.ticket} is not valid`)),
    cases: ticketCase(),
    // Events contain the description.
    rules: ['value-in-error', 'secret-in-event', 'error-description'],
  },
  {
    defect: 'writes the ticket into a reason',
    plugin: describing(({ params }) => refuse(`unknown ${params.ticket}`)),
    cases: ticketCase(),
    rules: ['secret-in-event'],
  },
  {
    defect: 'joins the ticket to a word of a reason',
    plugin: describing(({ params }) => refuse(`unknown_${params.ticket}`)),
    cases: ticketCase(),
    rules: ['secret-in-event'],
  },
  {
    defect: 'makes the ticket the id of the user',
    plugin: ticketGrant({
      handle: (request, kit) => ({ ...handle(request, kit), subject: { sub: request.params.ticket, amr: ['ticket'] } }),
    }),
    cases: ticketCase(),
    rules: ['secret-in-event', 'secret-in-storage'],
  },
  {
    defect: 'makes the ticket a claim',
    plugin: ticketGrant({
      handle: (request, kit) => ({ ...handle(request, kit), claims: { ticket: request.params.ticket } }),
    }),
    cases: ticketCase(),
    rules: ['secret-in-storage'],
  },
  {
    defect: 'stores the ticket in plain text',
    plugin: ticketGrant({
      async handle(request, kit) {
        await kit.records.put('last', request.params.ticket, kit.now() + 600)
        return handle(request, kit)
      },
    }),
    cases: ticketCase(),
    rules: ['secret-in-storage'],
  },
  {
    defect: 'sends the message of an internal error',
    plugin: describing(() => {
      const cause = new TypeError('connect ECONNREFUSED 192.0.2.7')
      return new OAuthError('invalid_grant', `Failed: ${cause.message}`, { reason: 'plugin:ticket:failed', cause })
    }),
    cases: ticketCase(),
    rules: ['internal-message'],
  },
  {
    defect: 'redeems a sealed text, which outlives the revocation of the user',
    plugin: sealedLink((sub) => ({ subject: { ...holder, sub } })),
    cases: sealedCase,
    rules: ['revoked-user'],
  },
  {
    defect: 'makes the user a claim, so that the core does not know the user',
    plugin: sealedLink((sub) => ({ claims: { user: sub } })),
    cases: sealedCase,
    rules: ['inactive-user', 'revoked-user'],
  },
]
