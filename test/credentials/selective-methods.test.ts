import { type ClientOptions, defineClientAuthentication, definePlugin } from '@grantry/core'
import { createTestProvider, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { common, echo, grantType, lastReason } from './stamp-method.ts'

const fields = ['ticket', 'ticket_type']

/** A method that presents the tickets that begin with a letter. */
const ticketMethod = (method: string, first: string, selective?: true, consumes: readonly string[] = fields) =>
  defineClientAuthentication({
    method,
    consumes,
    ...(selective && { selective }),
    present: ({ ticket, client_id: clientId = '-' }) => (ticket?.startsWith(first) ? { clientId, ticket } : undefined),
    accepts: () => true,
    verify: ({ ticket }) => ticket.endsWith(method) || { reason: 'wrong_ticket' },
  })

const clients: readonly ClientOptions[] = [{ ...common, clientId: 'a', grantTypes: [grantType] }]

async function send(methods: readonly ReturnType<typeof ticketMethod>[], form: Record<string, string>) {
  const f = await createTestProvider({ plugins: [echo, definePlugin('tickets', methods)], clients })
  const body = new URLSearchParams({ grant_type: grantType, scope: 'api1', client_id: 'a', ...form })
  const request = new Request('https://id.example.com/connect/token', { method: 'POST', body })
  const { status } = await read(await f.provider.handlers.token(request))
  const succeeded = f.events.find(({ type }) => type === 'client_authentication_succeeded')
  return { status, method: Object(succeeded).method, reason: lastReason(f) }
}

describe('of two methods that read the same fields', () => {
  const wide = ticketMethod('wide', '')
  const narrow = ticketMethod('narrow', 'n', true)

  test.each([[[wide, narrow]], [[narrow, wide]]])('the selective one is asked first, in any order', async (methods) => {
    expect(await send(methods, { ticket: 'n narrow' })).toMatchObject({ status: 200, method: 'narrow' })
    expect(await send(methods, { ticket: 'x wide' })).toMatchObject({ status: 200, method: 'wide' })
  })

  test('what it has found is not tried with the other one', async () => {
    expect(await send([wide, narrow], { ticket: 'n wide' })).toMatchObject({
      status: 401,
      reason: 'plugin:tickets:wrong_ticket',
    })
  })

  test('two that are not selective are two methods', async () => {
    expect(await send([wide, ticketMethod('second', 'n')], { ticket: 'n wide' })).toMatchObject({
      status: 400,
      reason: 'several_credentials',
    })
  })

  test('fields that it does not read are still those of a second method', async () => {
    const withStamp = ticketMethod('other', 'n', undefined, ['ticket', 'stamp'])
    expect(await send([narrow, withStamp], { ticket: 'n narrow' })).toMatchObject({ status: 400 })
    expect(await send([narrow, wide], { ticket: 'n narrow', client_secret: 'x' })).toMatchObject({ status: 400 })
  })
})
