/**
 * Attack: an attacker registers a client whose id is the `sub` of a user, and presents its token as one of that user.
 * This works if code takes "has a `sub`" for "is a user", because the tokens of clients have one (RFC 9068 section
 * 2.2).
 *
 * RFC 9068 section 5 and RFC 9700 section 4.15: the token of a client must not be mistaken for that of a user. Here
 * only the tokens of users have the time of a login.
 */
import { defineGrant } from '@grantry/core'
import { type Credentials, sha256Of } from '@grantry/testing'
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import * as v from 'valibot'
import { beforeEach, expect, test } from 'vitest'
import { api1, builtInPlugins, type Fixture, fixture } from '../support/fixture.ts'

/** Its id is the `sub` of alice. */
const impostor: Credentials = ['1', 'impostor-secret']

const exchange = defineGrant({
  grantType: 'urn:example:exchange',
  params: v.object({ subject_token: v.string() }),
  async handle({ params, scopes }, kit) {
    const claims = (await kit.validateToken(params.subject_token, 'access_token'))?.claims
    const sub = claims?.sub
    return typeof sub === 'string' ? { subject: { sub, amr: ['exchange'] }, scopes } : { scopes }
  },
})

let f: Fixture
let sign: (claims: JWTPayload) => Promise<string>

beforeEach(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  sign = (claims) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'at+jwt' }).sign(privateKey)
  f = await fixture({
    clientTokenSubject: 'client_id',
    keys: [{ ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }],
    plugins: [...builtInPlugins, exchange],
    clients: [
      {
        clientId: impostor[0],
        secrets: [{ sha256: sha256Of(impostor[1]) }],
        grantTypes: ['client_credentials', 'password', 'refresh_token', exchange.grantType],
        scopes: ['openid', 'profile', 'offline_access', 'api1'],
      },
    ],
  })
})

const token = async (form: Record<string, string>): Promise<string> =>
  (await f.post('token', { scope: 'api1', ...form }, impostor)).body.access_token
const clientToken = () => token({ grant_type: 'client_credentials' })
const userToken = (scope = 'openid profile api1') =>
  token({ grant_type: 'password', username: 'alice', password: 'alice-password', scope })
const userinfo = (bearer: string) => f.get('userinfo', {}, { authorization: `Bearer ${bearer}` })
const isActive = async (of: string) => (await f.post('introspection', { token: of }, api1)).body.active

test('a client cannot request openid, and userinfo rejects its token', async () => {
  for (const scope of ['openid', 'openid api1', 'profile']) {
    const refused = await f.post('token', { grant_type: 'client_credentials', scope }, impostor)
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_scope'])
  }
  expect(decodeJwt(await clientToken())).toMatchObject({ sub: '1', client_id: '1' })
  expect((await userinfo(await clientToken())).status).toBe(403)
})

test('userinfo rejects even a client-only token that holds openid', async () => {
  const claims = { ...decodeJwt(await clientToken()), scope: 'openid profile', aud: 'https://id.example.com/resources' }
  const refused = await userinfo(await sign(claims))
  expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
  expect(f.events.at(-1)).not.toHaveProperty('sub')
  // The same claims are valid for the user, who has logged in.
  const response = await userinfo(await sign({ ...claims, auth_time: 1_799_999_999, idp: 'local', amr: ['pwd'] }))
  expect([response.status, response.body.name]).toEqual([200, 'Alice Smith'])
})

test('a custom grant that takes the subject of a presented token does not get the client as a user', async () => {
  const issued = (subject_token: string) => token({ grant_type: exchange.grantType, subject_token })
  expect(decodeJwt(await issued(await userToken()))).toMatchObject({ sub: '1', amr: ['exchange'] })
  expect(decodeJwt(await issued(await clientToken()))).not.toHaveProperty('amr')
  const widened = { grant_type: exchange.grantType, subject_token: await clientToken(), scope: 'openid' }
  expect((await f.post('token', widened, impostor)).body.error).toBe('invalid_scope')
})

test('a revocation of the user does not affect the client, and vice versa', async () => {
  const [client, user] = [await clientToken(), await userToken()]
  Object.assign(f.users.alice ?? {}, { active: false })
  expect([await isActive(client), await isActive(user)]).toEqual([true, false])
  Object.assign(f.users.alice ?? {}, { active: true })
  await f.provider.revoke({ subject: '1' })
  expect([await isActive(client), await isActive(user)]).toEqual([true, false])
  // A token issued after the revocation of the user is valid, even if a token of the client was presented for it.
  const exchanged = await token({ grant_type: exchange.grantType, subject_token: await userToken() })
  expect(await isActive(exchanged)).toBe(true)
  await f.provider.revoke({ clientId: '1' })
  expect([await isActive(client), await isActive(exchanged)]).toEqual([false, false])
})

test('a user whose sub is the id of the client stays a user', async () => {
  expect((await userinfo(await userToken())).body).toMatchObject({ sub: '1', name: 'Alice Smith' })
  expect(f.events.filter(({ sub }) => sub === '1').length).toBeGreaterThan(0)
})
