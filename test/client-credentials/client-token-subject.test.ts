import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, testUsers, web, webJwt } from '../support/fixture.ts'

const named = { clientTokenSubject: 'client_id' } as const

const clientToken = async (f: Fixture, client = webJwt): Promise<string> =>
  (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, client)).body.access_token

const userToken = async (f: Fixture, client = webJwt): Promise<string> => {
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid api1' }
  return (await f.post('token', form, client)).body.access_token
}

describe('sub of a client-only token', () => {
  test('3.91 is absent without the option, in both formats', async () => {
    for (const options of [{}, { clientTokenSubject: 'none' as const }]) {
      const f = await fixture(options)
      expect(decodeJwt(await clientToken(f))).not.toHaveProperty('sub')
      expect((await f.post('introspection', { token: await clientToken(f, web) }, api1)).body).not.toHaveProperty('sub')
    }
  })

  test('3.91 with the option a JWT names the client, and nothing else about a user', async () => {
    const f = await fixture(named)
    const claims = decodeJwt(await clientToken(f))
    expect(claims).toMatchObject({ sub: webJwt[0], client_id: webJwt[0] })
    for (const name of ['auth_time', 'idp', 'amr', 'acr']) expect(claims).not.toHaveProperty(name)
  })

  test('3.91 with the option a reference token has none: it is not a JWT', async () => {
    const f = await fixture(named)
    const { body } = await f.post('introspection', { token: await clientToken(f, web) }, api1)
    expect(body).toMatchObject({ active: true, client_id: web[0] })
    expect(body).not.toHaveProperty('sub')
  })

  test('3.91 the option does not change the tokens of users', async () => {
    const f = await fixture(named)
    expect(decodeJwt(await userToken(f))).toMatchObject({
      sub: '1',
      client_id: webJwt[0],
      auth_time: expect.any(Number),
    })
  })

  test('3.91 introspection and access token validation show the claims of the JWT', async () => {
    const f = await fixture(named)
    const token = await clientToken(f)
    expect((await f.post('introspection', { token }, api1)).body).toMatchObject({ active: true, sub: webJwt[0] })
    expect((await f.get('accessTokenValidation', { token })).body).toMatchObject({ sub: webJwt[0] })
    expect(await f.provider.inspect(token)).toMatchObject({ valid: true, claims: { sub: webJwt[0] } })
  })

  test('3.91 the user service is not called for a client, and no event names it as a user', async () => {
    const asked: string[] = []
    const { service } = testUsers()
    const isActive = (sub: string) => {
      asked.push(sub)
      return service.isActive?.(sub) ?? false
    }
    const f = await fixture({ ...named, users: { ...service, isActive } })
    const token = await clientToken(f)
    expect((await f.post('introspection', { token }, api1)).body.active).toBe(true)
    expect((await f.get('accessTokenValidation', { token })).status).toBe(200)
    expect((await f.post('revocation', { token }, webJwt)).status).toBe(200)
    expect(asked).toEqual([])
    expect(f.events.filter((event) => event.sub !== undefined)).toEqual([])
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'token_revoked' }))
  })

  test('3.91 rejects another value at start', async () => {
    await expect(fixture({ clientTokenSubject: 'sub' as 'none' })).rejects.toThrow(
      'createProvider(): clientTokenSubject must be "none" or "client_id"',
    )
  })
})
