import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import type { Credentials } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { setUp, tv, verificationUri } from './parties.ts'

describe('the device authorization request', () => {
  test('returns the codes (RFC 8628 section 3.2)', async () => {
    const { start } = await setUp()
    const { status, headers, body } = await start()
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/u),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/u),
      verification_uri: verificationUri,
      verification_uri_complete: `${verificationUri}?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
  })

  test('is announced in the discovery document', async () => {
    const { provider } = await setUp()
    expect(provider.metadata).toMatchObject({
      device_authorization_endpoint: 'https://id.example.com/connect/deviceauthorization',
      grant_types_supported: [deviceGrantType, 'refresh_token'],
    })
  })

  test('of a public client needs only its id', async () => {
    const { start } = await setUp()
    expect((await start({ client_id: 'lamp', scope: 'api1' }, null)).status).toBe(200)
  })

  test.each<[string, Record<string, string>, Credentials, number, string]>([
    ['without a scope', {}, tv, 400, 'invalid_scope'],
    ['with an unknown scope', { scope: 'api9' }, tv, 400, 'invalid_scope'],
    ['with a wrong secret', { scope: 'api1' }, ['tv', 'wrong'], 401, 'invalid_client'],
    ['of a client without the grant type', { scope: 'api1' }, ['web', 's'], 400, 'unauthorized_client'],
  ])('%s is refused', async (_, form, as, status, error) => {
    const { start } = await setUp()
    const response = await start(form, as)
    expect([response.status, response.body.error]).toEqual([status, error])
  })

  test('keeps the query of the verification URI', async () => {
    const uri = 'https://example.com/device?lang=en'
    const { start } = await setUp({ plugins: [deviceAuthorization({ verificationUri: uri }), refreshToken()] })
    const { body } = await start()
    expect(body.verification_uri_complete).toBe(`${uri}&user_code=${body.user_code}`)
  })

  test.each([
    [{ verificationUri: 'device' }, /verificationUri must be a URL/u],
    [{ verificationUri, lifetime: 0 }, /lifetime must be 1 to 3600 seconds/u],
    [{ verificationUri, interval: 61 }, /interval must be 1 to 60 seconds/u],
    [{ verificationUri, intervall: 5 }, /deviceAuthorization\(\): intervall/u],
  ])('an option that is malformed is an error at startup: %j', (options, message) => {
    expect(() => deviceAuthorization(options)).toThrow(message)
  })
})
