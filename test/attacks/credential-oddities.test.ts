/**
 * Attack: an Authorization header that two parsers read differently: two schemes in one, no colon, white space, broken
 * or lax base64, bytes that are not text, tokens with odd characters. A gateway in front then admits one caller and the
 * provider sees another.
 *
 * RFC 7617 section 2 (Basic: base64 of id, colon, password), RFC 6750 section 2.1 (Bearer: b64token, one space), RFC
 * 4648 section 3.3 (characters outside the alphabet MUST be refused). The seed, section 5, splits at the first colon.
 */

import { read, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')
const good = base64('web:web-secret')
const request = async (f: Fixture, path: string, authorization: string, body?: BodyInit) => {
  const init = body === undefined ? {} : { method: 'POST', body }
  return read(
    await f.provider.fetch(new Request(`https://id.example.com${path}`, { ...init, headers: { authorization } })),
  )
}
const asClient = (f: Fixture, authorization: string) =>
  request(f, '/connect/token', authorization, new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }))

describe('Basic', () => {
  test.each([
    'Basic',
    'Basic ',
    `Basic\t${good}`,
    `Basic ${good} x`,
    `Basic ${good},`,
    `Basic ${good}, Basic ${good}`,
    `Basic ${good}, Bearer x`,
    `Bearer ${good}`,
    `Bearer x, Basic ${good}`,
    `Digest username="web", Basic ${good}`,
    `Basic realm="x", ${good}`,
    `Basic:${good}`,
    `Basic=${good}`,
    `"Basic" ${good}`,
    `xBasic ${good}`,
    good,
    'Basic web:web-secret',
    `Basic ${base64('web')}`,
    `Basic ${base64('webweb-secret')}`,
    `Basic ${base64(':web-secret')}`,
    `Basic ${base64('web:')}`,
    `Basic ${base64('web: web-secret')}`,
    `Basic ${base64(' web:web-secret')}`,
    `Basic ${base64('web:web-secret\n')}`,
    `Basic ${base64('web:web-secret\0')}`,
    `Basic ${base64('web\0:web-secret')}`,
    `Basic ${base64('\ufeffweb:web-secret')}`,
    `Basic ${base64('web::web-secret')}`,
    `Basic ${base64('web%3Aweb-secret')}`,
    `Basic ${good.slice(0, -1)}`,
    `Basic ${good}====`,
    `Basic ${good.slice(0, 4)} ${good.slice(4)}`,
    `Basic ${good.slice(0, 4)}!${good.slice(4)}`,
    `Basic ${good}*`,
    `Basic ${base64(new Uint8Array([0xff, 0xfe, 0x3a, 0x61]))}`,
    `Basic ${base64(Buffer.from('wéb:sécret', 'latin1'))}`,
    `Basic ${base64(Buffer.from('web:web-secret', 'utf16le'))}`,
    `Basic ${base64('x'.repeat(20_000))}`,
  ])('%s is rejected', async (authorization) => {
    const f = await fixture()
    expect(await asClient(f, authorization)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client', error_description: 'Client authentication failed' },
    })
    expect(f.events.map(({ type }) => type)).not.toContain('client_authentication_succeeded')
  })

  test.each([`Basic ${good}`, `basic ${good}`, `BASIC ${good}`])(
    '%s authenticates the client',
    async (authorization) => {
      expect((await asClient(await fixture(), authorization)).status).toBe(200)
    },
  )

  test('a colon, a percent sign, a plus and characters beyond ASCII in a secret are literal', async () => {
    const secret = 'a:b:%41+c é€😀'
    const client = {
      clientId: 'odd',
      secrets: [{ sha256: sha256Of(secret) }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    }
    const f = await fixture({ clients: [client] })
    expect((await asClient(f, `Basic ${base64(`odd:${secret}`)}`)).status).toBe(200)
    expect((await asClient(f, `Basic ${base64('odd:a:b:A c é€😀')}`)).status).toBe(401)
  })

  test('form-decoding does not turn a wrong secret into another valid one', async () => {
    const f = await fixture()
    expect((await asClient(f, `Basic ${base64('%77eb:web%2Dsecret')}`)).status).toBe(200)
    for (const pair of [
      '%2577eb:web-secret',
      'web:web%252Dsecret',
      'web:web-secret%00',
      'web:web-secret+',
      'web:%',
      'web:%c0%80',
    ]) {
      expect((await asClient(f, `Basic ${base64(pair)}`)).status).toBe(401)
    }
  })
})

describe('Bearer', () => {
  const tokenOf = async (f: Fixture): Promise<string> => {
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid' }
    return (await f.post('token', form, web)).body.access_token
  }
  const userinfo = (f: Fixture, authorization: string) => request(f, '/connect/userinfo', authorization)

  test.each<[string, (token: string) => string]>([
    ['no token', () => 'Bearer'],
    ['an empty token', () => 'Bearer '],
    ['a tab', (token) => `Bearer\t${token}`],
    ['quotes', (token) => `Bearer "${token}"`],
    ['an attribute', (token) => `Bearer token="${token}"`],
    ['a comma after it', (token) => `Bearer ${token},`],
    ['two tokens', (token) => `Bearer ${token}, Bearer ${token}`],
    ['two tokens with a space', (token) => `Bearer ${token} ${token}`],
    ['a character outside the alphabet', (token) => `Bearer ${token}!`],
    ['padding', (token) => `Bearer ${token}=`],
    ['an escape', (token) => `Bearer ${token.slice(0, 5)}%41${token.slice(6)}`],
    ['another case', (token) => `Bearer ${token.toLowerCase() === token ? token.toUpperCase() : token.toLowerCase()}`],
    ['a long text', () => `Bearer ${'a'.repeat(60_000)}`],
  ])('%s is rejected by userinfo', async (_, authorization) => {
    const f = await fixture()
    const { status, body, headers } = await userinfo(f, authorization(await tokenOf(f)))
    expect(status).toBe(401)
    expect(body).toEqual({ error: 'invalid_token', error_description: 'The access token is not valid' })
    expect(headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]*", error="invalid_token", error_description="[^"]*"$/u,
    )
  })

  test.each<[string, (token: string) => string]>([
    ['a colon after the scheme', (token) => `Bearer: ${token}`],
    ['another scheme before it', (token) => `Basic x, Bearer ${token}`],
    ['another scheme', (token) => `Token ${token}`],
    ['the Basic scheme', (token) => `Basic ${base64(`:${token}`)}`],
    ['no scheme', (token) => token],
    ['a prefixed scheme', (token) => `xBearer ${token}`],
    ['DPoP, which binds a token to a key', (token) => `DPoP ${token}`],
  ])('%s is not a credential: the challenge has no error', async (_, authorization) => {
    const f = await fixture()
    const { status, body, headers } = await userinfo(f, authorization(await tokenOf(f)))
    expect([status, body]).toEqual([401, undefined])
    expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]*"$/u)
  })

  test.each(['Bearer', 'bearer', 'BEARER'])('%s and one space give access to userinfo', async (scheme) => {
    const f = await fixture()
    expect((await userinfo(f, `${scheme} ${await tokenOf(f)}`)).status).toBe(200)
  })
})
