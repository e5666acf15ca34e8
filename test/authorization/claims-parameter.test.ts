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
