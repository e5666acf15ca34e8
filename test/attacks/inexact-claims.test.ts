// Attack: as inexact-numbers.test.ts, where no file and no request to the admin API has the number: a claim that a function of
// the host or a module returns, one that an API reads from a token, one that a client requests, one typed into the console.
import { pathToFileURL } from 'node:url'
import {
  configurationProblems,
  definePlugin,
  inexactNumber,
  inexactNumberIn,
  parseConfiguration,
  parseExactJson,
} from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationRequests, loginPage } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { createTestProvider, testClient } from '@grantry/testing'
import { CompactSign } from 'jose'
import { describe, expect, test } from 'vitest'
import { parseExactJson as parseAtTheApi } from '../../packages/resource-server/src/exact-json.ts'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { request, clients as signInClients } from '../authorization/parties.ts'
import { audience, bearing, createIssuer, issuer, keyNamed, start } from '../resource-server/issuer.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const exact: readonly string[] = ['0', '-0', '9007199254740991', '-9007199254740991', '1e15', '0.1', '1.5e-7', '0e-400']
const inexact: readonly string[] = [
  ...['9007199254740992', '9007199254740993', '-9007199254740993', '12345678901234567890', '1e400', '-1e400', '1e16'],
  ...['1e-400', '-1e-400', '0.1E-400', '4e-324'],
]
const ofHosts: readonly number[] = [2 ** 53, -(2 ** 53), 1e300, Number.POSITIVE_INFINITY, Number.NaN]

describe('a resource server', () => {
  const base = `"iss":"${issuer}","aud":"${audience}","sub":"alice","exp":${start + 300}`

  /** Returns the claims of a JWT, and of a reference token, with these members. */
  async function claimsOf(members: string) {
    const { privateKey } = await keyNamed('one')
    const jwt = await new CompactSign(new TextEncoder().encode(`{${base},${members}}`))
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
      .sign(privateKey)
    const t = await createIssuer()
    t.responses.set(`${issuer}/introspect`, () => new Response(`{"active":true,${base},${members}}`))
    const api = createResourceServer({ ...t.options, introspection: { clientId: 'orders', clientSecret: 's' } })
    return Promise.all(
      [jwt, 'a-reference-token'].map(async (token) => {
        const { token: accessToken, reason } = await api.authorize(bearing(token))
        return accessToken?.claims ?? reason
      }),
    )
  }

  test.each([...exact, ...inexact])('gives an API %s as the issuer has written it', async (number) => {
    const value = exact.includes(number) ? Number(number) : number
    for (const claims of await claimsOf(`"employee":${number},"of":{"ids":[${number}]}`))
      expect(claims).toMatchObject({ employee: value, of: { ids: [value] } })
  })

  test.each(inexact)('refuses a token with the time %s', async (number) => {
    for (const time of ['nbf', 'iat'])
      expect(await claimsOf(`"${time}":${number}`)).toEqual(Array(2).fill('claims_malformed'))
  })

  test.each(ofHosts)('refuses the required claim %d', async (number) => {
    const { options } = await createIssuer()
    expect(() => createResourceServer({ ...options, requiredClaims: { employee: number } })).toThrow(
      'requiredClaims.employee is a number that JSON does not keep exactly',
    )
  })

  test('reads JSON as the provider does', () => {
    const texts = [
      `[0.${'0'.repeat(400)}1]`,
      '{"a \\" 9007199254740993": "1e400 \\\\"}',
      '[9007199254740993.0, "\\\\\\"9007199254740993"]',
      '[1]',
    ]
    for (const text of [...exact, ...inexact, ...texts]) expect(parseAtTheApi(text)).toEqual(parseExactJson(text))
    expect(() => parseAtTheApi('{"a": 9007199254740993')).toThrow(SyntaxError)
  })
})

describe('a claim of the host', () => {
  test.each(ofHosts)('with the number %d ends the request with an event', async (number) => {
    for (const claim of [number, { ids: [1, number] }]) {
      const f = await fixture()
      Object.assign(f.users.alice?.claims ?? {}, { name: claim })
      const { body } = await f.post(
        'token',
        { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid profile' },
        web,
      )
      const response = await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
      expect([response.status, response.body.error]).toEqual([500, 'server_error'])
      expect(JSON.stringify(f.events)).toContain(
        `users.claims: name${typeof claim === 'number' ? '' : '.ids[1]'} ${inexactNumber}`,
      )
    }
  })

  test('with cycles is searched once', () => {
    const role: Record<string, unknown> = { users: [] }
    role.users = Array.from({ length: 10 }, () => ({ role, twin: { role } }))
    expect(inexactNumberIn({ role, id: 2 ** 53 })).toBe('id')
  })

  test.each(ofHosts)('with the number %d from a grant is a defect of the grant', async (number) => {
    const grant = testGrant({
      grantType: 'urn:example:custom',
      handle: async () => ({ subject: { sub: '1', amr: ['pwd'] }, scopes: ['api1'], claims: { ids: [number] } }),
    })
    const f = await createTestProvider({
      plugins: [definePlugin('custom', [grant])],
      scopes: [{ name: 'api1' }],
    })
    const { status } = await f.post('token', { grant_type: 'urn:example:custom', scope: 'api1' }, testClient)
    expect(status).toBe(500)
    expect(JSON.stringify(f.events)).toContain(`claims.ids[0] ${inexactNumber}`)
  })

  test.each(ofHosts)('with the number %d in a module is a mistake of the configuration', (number) => {
    const user = { sub: '1', username: 'ann', password: 'plain', claims: { of: { id: number } } }
    const input = { issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' }, clients: [], users: [user] }
    const thrown = (): unknown => {
      try {
        return parseConfiguration(configurationSchema, input, '')
      } catch (cause) {
        return cause
      }
    }
    expect(configurationProblems(thrown())).toContain(`users[0].claims has of.id, which ${inexactNumber}`)
  })
})

test.each(inexact)('a client can request a claim with the value %s', async (number) => {
  const f = await createTestProvider({
    plugins: [authorizationCode(), proofKey(), loginPage({ trusted: true })],
    clients: signInClients.map((client) => ({ ...client, grantTypes: ['authorization_code'] })),
  })
  const requests = f.provider.use(authorizationRequests)
  const claims = `{"id_token":{"sub":{"value":${number}}}}`
  const form = new URLSearchParams({ ...request, claims })
  const parsed = await requests.parse(new Request(`https://id.example.com/login?${form}`))
  if ('response' in parsed) throw new Error('The request was refused')
  const answer = async (sub: string) =>
    (
      await requests.respond(parsed, { subject: { sub, amr: ['pwd'] }, scopes: parsed.scopes, consented: true })
    ).response.headers.get('location')
  // The text of the number, and not its neighbour.
  expect(await answer(String(Number(number) + 2))).toContain('error=login_required')
  expect(await answer(number)).toContain('code=')
})

describe('the console', () => {
  const load = () =>
    import(pathToFileURL('packages/console/src/page/exact-json.js').href) as Promise<{
      readonly inexactNumber: string
      readonly parseJson: (text: string) => unknown
      readonly parseNumber: (text: string) => unknown
    }>

  test('refuses numbers with the sentence of the server', async () => {
    const { inexactNumber: sentence, parseJson, parseNumber } = await load()
    expect(sentence).toBe(inexactNumber)
    for (const number of inexact) {
      expect(() => parseJson(`{"employee":[${number}]}`)).toThrow(inexactNumber)
      expect(() => parseJson(`{"of":{"employee":${number}}}`)).toThrow(`employee ${inexactNumber}`)
      expect(() => parseJson(number)).toThrow(`It ${inexactNumber}`)
      expect(() => parseNumber(number)).toThrow(`It ${inexactNumber}`)
    }
    for (const text of ['{', '', '01']) expect(() => parseJson(text)).toThrow('This is not JSON.')
    expect(() => parseNumber('ten')).toThrow('Type a number.')
  })

  test('keeps all other numbers', async () => {
    const { parseJson, parseNumber } = await load()
    for (const number of exact) {
      expect([parseJson(number), parseNumber(number)]).toEqual([Number(number), Number(number)])
      expect(parseJson(`{"a":[${number},"1e400"]}`)).toEqual({ a: [Number(number), '1e400'] })
    }
  })
})
