import { decodeJwt } from '@grantry/core'
import type { CheckedRequest } from '@grantry/plugins/authorization-endpoint'
import { expect, test } from 'vitest'
import { answer } from './browser.ts'
import { hostSignIn, request, setUp } from './parties.ts'

async function ask(claims: string) {
  let checked: CheckedRequest | undefined
  const f = await setUp({
    interact(interaction) {
      checked = interaction.request
      return hostSignIn.interact(interaction)
    },
  })
  const parameters = answer(await f.browser().open(f.urlOf({ ...request, claims })))
  return { parameters, checked }
}

test('11.20 reads the claims for userinfo and for the identity token', async () => {
  const { checked, parameters } = await ask(
    JSON.stringify({
      userinfo: { given_name: { essential: true }, nickname: null, 'http://example.info/claims/groups': {} },
      id_token: { auth_time: { essential: true, extra: 1 }, acr: { values: ['a', 'b'] }, sub: { value: 'alice' } },
    }),
  )
  expect(parameters.code).toBeDefined()
  expect(checked?.claims).toEqual({
    userinfo: [
      { name: 'given_name', essential: true, values: undefined },
      { name: 'nickname', essential: false, values: undefined },
      { name: 'http://example.info/claims/groups', essential: false, values: undefined },
    ],
    identityToken: [
      { name: 'auth_time', essential: true, values: undefined },
      { name: 'acr', essential: false, values: ['a', 'b'] },
      { name: 'sub', essential: false, values: ['alice'] },
    ],
  })
})

test.each([
  ['unknown members at the top', '{"elsewhere":{"name":null},"userinfo":null}'],
  ['unknown members of a claim', '{"userinfo":{"name":{"essential":"yes","purpose":"x","value":null}}}'],
  ['names of prototypes', '{"userinfo":{"__proto__":null,"constructor":{"essential":true}}}'],
  ['an empty object', '{}'],
])('11.20 ignores %s', async (_name, claims) => {
  expect((await ask(claims)).parameters.code).toBeDefined()
})

test.each([
  ['no JSON', 'x'],
  ['an array', '[]'],
  ['a text', '"userinfo"'],
  ['null', 'null'],
  ['a section that is a list', '{"userinfo":["name"]}'],
  ['a claim that is a text', '{"id_token":{"name":"x"}}'],
  ['a claim that is a list', '{"id_token":{"name":[]}}'],
  ['values that are no list', '{"id_token":{"name":{"values":"x"}}}'],
  [
    '51 claims',
    JSON.stringify({ userinfo: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`c${i}`, null])) }),
  ],
  ['a name of 101 characters', JSON.stringify({ userinfo: { ['c'.repeat(101)]: null } })],
  ['5,001 characters', JSON.stringify({ userinfo: { name: { value: 'x'.repeat(5000) } } })],
  ['2,000 nested lists', `{"userinfo":{"name":{"value":${'['.repeat(2000)}`],
])('11.20 refuses %s', async (_name, claims) => {
  expect((await ask(claims)).parameters).toMatchObject({ error: 'invalid_request', state: request.state })
})

test('11.20 discovery announces the parameter', async () => {
  const { provider } = await setUp()
  expect(provider.metadata.claims_parameter_supported).toBe(true)
})

const scopes = [
  { name: 'openid', identity: true, claims: ['sub'] },
  { name: 'profile', identity: true, claims: ['name', 'nickname'] },
  { name: 'email', identity: true, claims: ['email'] },
  { name: 'api1' },
]
const users = {
  authenticate: () => undefined,
  claims: () => ({ name: 'Alice', nickname: 'Al', email: 'alice@example.com' }),
}

async function claimsFor(parameters: Readonly<Record<string, string>>) {
  const f = await setUp(undefined, {}, { users, scopes })
  const { code } = answer(await f.browser().open(f.urlOf({ ...request, ...parameters })))
  const { body } = await f.redeem(code)
  const userinfo = await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
  return { identity: decodeJwt(body.id_token)?.claims, userinfo: userinfo.body }
}

test('11.20 userinfo and the identity token contain the claims that were requested for each', async () => {
  const claims = JSON.stringify({ userinfo: { name: { essential: true } }, id_token: { nickname: null, acr: null } })
  const { identity, userinfo } = await claimsFor({ claims })
  expect(userinfo).toEqual({ sub: 'alice', name: 'Alice' })
  expect(identity).toMatchObject({ nickname: 'Al' })
  expect(identity).not.toHaveProperty('name')
  expect(identity).not.toHaveProperty('acr')
})

test('11.20 claims of scopes that the client may not request are left out', async () => {
  const claims = JSON.stringify({ userinfo: { email: { essential: true } }, id_token: { email: null } })
  const { identity, userinfo } = await claimsFor({ claims })
  expect(userinfo).toEqual({ sub: 'alice' })
  expect(identity).not.toHaveProperty('email')
})
