import { definePlugin, type Grant, type GrantKit, type GrantResult, type Plugin } from '@grantry/core'
import * as v from 'valibot'
import { offerKit } from '../../support/kit-of.ts'
import {
  type Broken,
  handle,
  holder,
  refuse,
  spend,
  type TicketRequest,
  ticketCase,
  ticketGrant,
  ticketOf,
} from './tickets.ts'

type Handle = (request: TicketRequest, kit: GrantKit) => GrantResult | Promise<GrantResult>

const plugin = (handleTicket: Handle): Plugin =>
  definePlugin('ticket', [ticketGrant({ handle: handleTicket }), offerKit('ticket')])

/** What a correct plugin returns, without the spent ticket. */
function unspent(request: TicketRequest, kit: GrantKit): GrantResult {
  const { redeems: _, ...result } = handle(request, kit)
  return result
}

/** Remembers in memory which tickets are spent. */
function withMemory(): Grant {
  const spent = new Set<string>()
  return ticketGrant({
    handle(request, kit) {
      const result = unspent(request, kit)
      if (spent.has(request.params.ticket)) throw refuse('spent')
      spent.add(request.params.ticket)
      return result
    },
  })
}

/** Inserts a record for a ticket. Returns `false` if there is one. */
const insert = ({ params }: TicketRequest, kit: GrantKit): Promise<boolean> =>
  kit.records.insert(`spent ${params.ticket}`, true, kit.now() + 600)

/** The client that a stored ticket belongs to. */
const ownerOf = ({ params }: TicketRequest, kit: GrantKit) => kit.records.get(params.ticket, v.string())

const stored = ticketCase({ succeeds: ticketOf })
const bound = ticketCase({ succeeds: ticketOf, boundToClient: true })

export const brokenSingleUse: readonly Broken[] = [
  {
    defect: 'does not spend the ticket',
    plugin: ticketGrant({ handle: unspent }),
    cases: ticketCase(),
    rules: ['concurrent-use', 'replay', 'retry-after-failure'],
  },
  {
    defect: 'reads the ticket and then deletes it',
    plugin: plugin(async (request, kit) => {
      if ((await ownerOf(request, kit)) === undefined) throw refuse('unknown')
      await kit.records.delete(request.params.ticket)
      return { subject: holder, scopes: request.scopes }
    }),
    cases: stored,
    rules: ['concurrent-use'],
  },
  {
    defect: 'reads whether the ticket is spent and then writes it',
    plugin: plugin(async (request, kit) => {
      const key = `spent ${request.params.ticket}`
      if ((await kit.records.get(key, v.boolean())) !== undefined) throw refuse('spent')
      await kit.records.put(key, true, kit.now() + 600)
      return unspent(request, kit)
    }),
    cases: ticketCase(),
    rules: ['concurrent-use'],
  },
  {
    defect: 'spends another credential in each request',
    plugin: ticketGrant({
      handle: (request, kit) => ({ ...unspent(request, kit), ...spend(kit.randomId(), kit) }),
    }),
    cases: ticketCase(),
    rules: ['concurrent-use', 'replay', 'retry-after-failure'],
  },
  {
    defect: 'remembers spent tickets for seconds',
    plugin: ticketGrant({
      handle: (request, kit) => ({
        ...unspent(request, kit),
        redeems: [kit.redemption(request.params.ticket, kit.now() + 5)],
      }),
    }),
    cases: ticketCase(),
    rules: ['replay', 'retry-after-failure'],
  },
  {
    defect: 'remembers spent tickets in the memory of each process',
    plugin: withMemory,
    cases: ticketCase(),
    rules: ['concurrent-use', 'two-issuers'],
  },
  {
    defect: 'remembers spent tickets for all providers of the process',
    plugin: withMemory(),
    cases: ticketCase(),
    rules: ['two-issuers'],
  },
  {
    defect: 'accepts the ticket if the storage fails',
    plugin: plugin(async (request, kit) => {
      const isFirst = await insert(request, kit).catch(() => true)
      if (!isFirst) throw refuse('spent')
      return unspent(request, kit)
    }),
    cases: ticketCase(),
    rules: ['retry-after-failure'],
  },
  {
    defect: 'refuses the ticket if the storage fails',
    plugin: plugin(async (request, kit) => {
      const isFirst = await insert(request, kit).catch(() => false)
      if (!isFirst) throw refuse('spent')
      return unspent(request, kit)
    }),
    cases: ticketCase(),
    rules: ['storage-failure'],
  },
  {
    defect: 'fails if the storage fails',
    plugin: plugin(async (request, kit) => {
      const isFirst = await insert(request, kit).catch(() => {
        throw new TypeError('no storage')
      })
      if (!isFirst) throw refuse('spent')
      return unspent(request, kit)
    }),
    cases: ticketCase(),
    rules: ['server-error'],
  },
  {
    defect: 'does not compare the client of the ticket',
    plugin: plugin(async (request, kit) => {
      if ((await ownerOf(request, kit)) === undefined) throw refuse('unknown')
      return { subject: holder, scopes: request.scopes, ...spend(request.params.ticket, kit) }
    }),
    cases: bound,
    rules: ['foreign-client'],
  },
  {
    defect: 'spends the ticket before it compares the client',
    plugin: plugin(async (request, kit) => {
      const owner = await ownerOf(request, kit)
      if (owner === undefined || !(await insert(request, kit))) throw refuse('unknown')
      if (owner !== request.client.clientId) throw refuse('client_mismatch')
      return { subject: holder, scopes: request.scopes }
    }),
    cases: bound,
    rules: ['foreign-client'],
  },
]
