import { authorizations, defineGrant, definePlugin, type Grant, type GrantResult, OAuthError } from '@grantry/core'
import * as v from 'valibot'
import {
  type Broken,
  grantType,
  handle,
  holder,
  newTicket,
  refuse,
  spend,
  text,
  ticketCase,
  ticketGrant,
} from './tickets.ts'

const optionalTicket = v.object({ ticket: v.optional(text) })

const lenientGrant = (ifMissing: () => never): Grant =>
  defineGrant({
    grantType,
    params: optionalTicket,
    handle({ params: { ticket }, ...request }, kit) {
      return ticket === undefined ? ifMissing() : handle({ ...request, params: { ticket } }, kit)
    },
  }) as Grant

/** A grant that redeems stored grants, with a defect in what differs from a correct one. */
export const linkGrant = (different: Partial<GrantResult> = {}): Grant =>
  defineGrant({
    grantType,
    params: v.object({ link: v.string() }),
    scope: 'ignored',
    requires: [authorizations],
    stored: { kind: 'link' },
    async handle({ client, params }, kit) {
      const stored = await kit.findGrant('link', params.link)
      if (stored === undefined || stored.clientId !== client.clientId) throw refuse('unknown')
      return { redeems: [stored], ...different }
    },
  }) as Grant

export const brokenGrants: readonly Broken[] = [
  { defect: 'has no case', plugin: ticketGrant(), cases: {}, rules: ['cases'] },
  {
    defect: 'refuses everything',
    plugin: ticketGrant({
      handle() {
        throw refuse('closed')
      },
    }),
    cases: ticketCase(),
    rules: ['success'],
  },
  {
    defect: 'parses a parameter without a check',
    plugin: ticketGrant({
      handle: ({ params, ...more }, kit) => handle({ ...more, params: JSON.parse(params.ticket) }, kit),
    }),
    cases: ticketCase({ succeeds: () => ({ ticket: JSON.stringify(newTicket()) }), refused: [] }),
    // The message of the SyntaxError contains the parameter.
    rules: ['server-error', 'secret-in-event'],
  },
  {
    defect: 'fails without its parameter',
    plugin: lenientGrant(() => {
      throw new TypeError('no ticket')
    }),
    cases: ticketCase(),
    rules: ['server-error'],
  },
  {
    defect: 'refuses a missing parameter like a wrong one',
    plugin: lenientGrant(() => {
      throw refuse('missing')
    }),
    cases: ticketCase(),
    rules: ['missing-parameter'],
  },
  {
    defect: 'accepts a text of any length',
    plugin: defineGrant({ grantType, params: v.object({ ticket: text, note: v.string() }), handle }) as Grant,
    cases: ticketCase({ succeeds: () => ({ ...newTicket(), note: 'a note' }) }),
    rules: ['oversized-parameter'],
  },
  {
    defect: 'refuses unknown parameters',
    plugin: defineGrant({ grantType, params: v.strictObject({ ticket: text }), handle }) as Grant,
    cases: ticketCase(),
    rules: ['unknown-parameter'],
  },
  {
    defect: 'grants every scope of the client',
    plugin: ticketGrant({
      handle: ({ client, ...request }, kit) => ({ ...handle({ client, ...request }, kit), scopes: client.scopes }),
    }),
    cases: ticketCase(),
    rules: ['scope-escalation'],
  },
  {
    defect: 'ignores the scope and grants every scope of the client',
    plugin: ticketGrant({
      scope: 'ignored',
      handle: ({ client, ...request }, kit) => ({ ...handle({ client, ...request }, kit), scopes: client.scopes }),
    }),
    cases: ticketCase({ scope: 'api1' }),
    rules: ['scope-escalation'],
  },
  ...[{ claims: {} }, { identityClaims: { sid: 'another' } }, { requestedClaims: {} }, { nonce: 'another' }].map(
    (lost): Broken => ({
      defect: `replaces what was authorized: ${Object.keys(lost)}`,
      plugin: linkGrant(lost),
      cases: { grants: { [grantType]: { succeeds: async ({ authorize }) => ({ link: await authorize() }) } } },
      rules: ['authorization'],
    }),
  ),
  {
    defect: 'returns no scopes',
    plugin: ticketGrant({ handle: (() => ({ subject: holder })) as never }),
    cases: ticketCase(),
    rules: ['server-error'],
  },
  {
    defect: 'sets a claim of the protocol',
    plugin: ticketGrant({ handle: (request, kit) => ({ ...handle(request, kit), claims: { exp: 1 } }) }),
    cases: ticketCase(),
    rules: ['server-error'],
  },
  {
    defect: 'sets the access token',
    plugin: ticketGrant({ handle: (request, kit) => ({ ...handle(request, kit), response: { access_token: 'a' } }) }),
    cases: ticketCase(),
    rules: ['server-error'],
  },
  {
    defect: 'refuses public clients although it is for them',
    plugin: ticketGrant({
      publicClients: true,
      handle(request, kit) {
        if (request.client.public) throw refuse('public')
        return handle(request, kit)
      },
    }),
    cases: ticketCase(),
    rules: ['public-client'],
  },
  {
    defect: 'accepts every ticket',
    plugin: ticketGrant({ handle: ({ params, scopes }, kit) => ({ scopes, ...spend(params.ticket, kit) }) }),
    cases: ticketCase(),
    rules: ['refusal'],
  },
  {
    defect: 'refuses with another error',
    plugin: ticketGrant({
      handle(request, kit) {
        if (request.params.ticket.startsWith('GOOD-')) return handle(request, kit)
        throw new OAuthError('unauthorized_client', 'The client is not allowed', { reason: 'plugin:ticket:unknown' })
      },
    }),
    cases: ticketCase(),
    rules: ['refusal'],
  },
  {
    defect: 'describes each refusal differently',
    plugin: ticketGrant({
      handle(request, kit) {
        if (request.params.ticket.endsWith('-0002')) throw refuse('stolen', 'The ticket was stolen')
        return handle(request, kit)
      },
    }),
    cases: ticketCase({ refused: [{ with: { ticket: 'EVIL-0001' } }, { with: { ticket: 'EVIL-0002' } }] }),
    rules: ['uniform-refusal'],
  },
  {
    defect: 'throws an error code that is not registered',
    plugin: ticketGrant({
      handle(request, kit) {
        if (request.params.ticket.startsWith('GOOD-')) return handle(request, kit)
        throw new OAuthError('invalid_ticket' as never, 'The ticket is not valid', { reason: 'plugin:ticket:unknown' })
      },
    }),
    cases: ticketCase(),
    rules: ['server-error'],
  },
  {
    defect: 'uses a reason of the core',
    plugin: definePlugin('ticket', [
      ticketGrant({
        handle(request, kit) {
          if (request.params.ticket.startsWith('GOOD-')) return handle(request, kit)
          throw new OAuthError('invalid_grant', 'The ticket is not valid', { reason: 'scope_unknown' })
        },
      }),
    ]),
    cases: ticketCase(),
    rules: ['reason'],
  },
  {
    defect: 'uses a reason of another plugin',
    plugin: definePlugin('vouchers', [ticketGrant()]),
    cases: ticketCase(),
    rules: ['reason'],
  },
  {
    defect: 'writes its name with an underscore in a reason',
    plugin: definePlugin('box-office', [
      ticketGrant({
        handle(request, kit) {
          if (request.params.ticket.startsWith('GOOD-')) return handle(request, kit)
          throw new OAuthError('invalid_grant', 'The ticket is not valid', { reason: 'plugin:box_office:unknown' })
        },
      }),
    ]),
    cases: ticketCase(),
    rules: ['reason'],
  },
  {
    defect: 'writes quotes into a description',
    plugin: ticketGrant({
      handle(request, kit) {
        if (request.params.ticket.startsWith('GOOD-')) return handle(request, kit)
        throw refuse('unknown', 'The "ticket" isn’t valid')
      },
    }),
    cases: ticketCase(),
    rules: ['error-description'],
  },
]
