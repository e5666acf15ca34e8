import { type ClientOptions, defineClientAuthentication, definePlugin } from '@grantry/core'
import { basic, createTestProvider, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { common, echo, grantType, lastReason, secrets } from './stamp-method.ts'

/** The clients for which a method has been asked. */
const asked: string[] = []

/** A method that reads the connection. All requests on it have the certificate, so it selects no method. */
const connectionMethod = (method: string, accepted: string) =>
  defineClientAuthentication({
    method,
    consumes: [],
    implicit: true,
    present({ client_id: clientId }, { clientCertificate }) {
      return clientId === undefined || clientCertificate === undefined ? undefined : { clientId, clientCertificate }
    },
    accepts: ({ clientId }) => clientId.startsWith(accepted),
    verify({ clientCertificate: { der } }, client) {
      asked.push(`${method} ${client?.clientId}`)
      return der === client?.clientId || { reason: 'other_certificate' }
    },
  })

const plugin = definePlugin('connection', [connectionMethod('first_way', 'a'), connectionMethod('second_way', 'b')])
const grantTypes = [grantType]
const clients: readonly ClientOptions[] = [
  { ...common, clientId: 'a', grantTypes },
  { ...common, clientId: 'b', grantTypes },
  { ...common, clientId: 'ab', grantTypes, tokenEndpointAuthMethod: 'first_way' },
  { ...common, clientId: 'web', grantTypes, secrets },
]

async function send(clientId: string | undefined, der: string | undefined, headers: Record<string, string> = {}) {
  asked.length = 0
  const f = await createTestProvider({ plugins: [echo, plugin], clients })
  const form = { grant_type: grantType, scope: 'api1', ...(clientId !== undefined && { client_id: clientId }) }
  const body = new URLSearchParams(form)
  const request = new Request('https://id.example.com/connect/token', { method: 'POST', body, headers })
  const clientCertificate = der === undefined ? undefined : { der, verified: true }
  const response = await read(await f.provider.handlers.token(request, { clientCertificate }))
  const succeeded = f.events.find(({ type }) => type === 'client_authentication_succeeded')
  return { ...response, method: Object(succeeded).method, reason: lastReason(f), events: f.events }
}

describe('of several methods that read the connection', () => {
  test('the one that accepts the client is used', async () => {
    expect(await send('a', 'a')).toMatchObject({ status: 200, method: 'first_way' })
    expect(asked).toEqual(['first_way a'])
    expect(await send('b', 'b')).toMatchObject({ status: 200, method: 'second_way' })
    expect(asked).toEqual(['second_way b'])
    expect(await send('ab', 'ab')).toMatchObject({ status: 200, method: 'first_way' })
  })

  test('a wrong certificate is refused', async () => {
    expect(await send('a', 'b')).toMatchObject({ status: 401, reason: 'plugin:connection:other_certificate' })
  })

  test('one is asked for an unknown client, as for a known one', async () => {
    expect(await send('c', 'c')).toMatchObject({ status: 401, reason: 'client_unknown' })
    expect(asked).toEqual(['second_way undefined'])
  })

  test('none authenticates a client with a secret', async () => {
    expect((await send('web', 'web')).status).toBe(401)
  })
})

test('a client on a connection with a certificate can authenticate with its secret', async () => {
  const response = await send(undefined, 'a', { authorization: basic(['web', 'web-secret']) })
  expect(response).toMatchObject({ status: 200, method: 'client_secret_basic' })
  expect(asked).toEqual([])
})

test('a request without a certificate authenticates none of these clients', async () => {
  expect(await send('a', undefined)).toMatchObject({ status: 401, reason: 'secret_missing' })
})

test('events do not contain the certificate', async () => {
  const { events } = await send('a', 'certificate-in-base64')
  expect(events.length).toBeGreaterThan(0)
  expect(JSON.stringify(events)).not.toContain('certificate-in-base64')
})
