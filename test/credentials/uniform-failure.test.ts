import { basic, read, sha256Of, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, spaClientId, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }

const expired = {
  ...clients[0],
  clientId: 'expired',
  secrets: [{ sha256: sha256Of(web[1]), expiresAt: 1_800_000_000 }],
}
const disabled = { ...clients[0], clientId: 'disabled', enabled: false }
const setUp = (): Promise<Fixture> => fixture({ clients: [...clients, expired, disabled] })

const send = async (f: Fixture, form: Record<string, string>, authorization?: string): Promise<TestResponse> => {
  const init = {
    method: 'POST',
    body: new URLSearchParams({ ...grant, ...form }),
    ...(authorization !== undefined && { headers: { authorization } }),
  }
  return read(await f.provider.handlers.token(new Request('https://id.example.com/connect/token', init)))
}

const failures: readonly [string, Record<string, string>, string?][] = [
  ['no credentials', {}],
  ['an unknown client in the header', {}, basic(['absent', 'x'])],
  ['an unknown client in the form', { client_id: 'absent', client_secret: 'x' }],
  ['an unknown client without a secret', { client_id: 'absent' }],
  ['a wrong secret in the header', {}, basic(['web', 'x'])],
  ['a wrong secret in the form', { client_id: 'web', client_secret: 'x' }],
  ['a missing secret', { client_id: 'web' }],
  ['an expired secret', {}, basic(['expired', web[1]])],
  ['a disabled client with its secret', {}, basic(['disabled', web[1]])],
  ['a disabled client without its secret', {}, basic(['disabled', 'x'])],
  ['a secret for a public client', {}, basic([spaClientId, 'x'])],
  ['a malformed header', {}, 'Basic ***'],
  ['another scheme', {}, 'Digest username="web"'],
  ['an empty header', {}, ''],
  ['a client_id that is too long', {}, basic(['i'.repeat(101), 'x'])],
  ['a secret that is too long', {}, basic(['web', 's'.repeat(513)])],
]

// Attack: an attacker finds client ids by a difference between "unknown client" and "wrong secret".
describe('a failed client authentication', () => {
  test.each(failures)('2.9 is the same 401: %s', async (_, form, authorization) => {
    const f = await setUp()
    const { status, headers, body } = await send(f, form, authorization)
    expect(status).toBe(401)
    expect(body).toEqual({ error: 'invalid_client', error_description: 'Client authentication failed' })
    expect(headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
    const unknown = await send(await setUp(), {}, basic(['absent', 'x']))
    expect(Object.fromEntries(headers)).toEqual(Object.fromEntries(unknown.headers))
    const failed = f.events.filter((event) => event.type === 'client_authentication_failed')
    expect(failed).toHaveLength(1)
    expect(f.events.some((event) => event.type === 'client_authentication_succeeded')).toBe(false)
  })

  test.each([
    ['the grant type', { grant_type: 'nonsense' }],
    ['the scope', { scope: 'nonsense' }],
    ['a parameter', { grant_type: 'password' }],
  ])('2.9 reveals nothing about %s before the client is authenticated', async (_, form) => {
    const { status, body } = await send(await setUp(), form, basic(['web', 'x']))
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  test('2.9 the operator sees which client failed, and only a fingerprint of an unknown client id', async () => {
    const f = await setUp()
    await send(f, {}, basic(['web', 'x']))
    await send(f, {}, basic(['i'.repeat(600), 'x']))
    await send(f, { client_id: 'absent' })
    const ids = f.events.flatMap((event) =>
      event.type === 'client_authentication_failed' ? [event.presentedClientId] : [],
    )
    expect(ids).toEqual(['web', undefined, undefined])
  })
})
