import {
  createProvider,
  defineFields,
  defineGrantCheck,
  definePlugin,
  type PluginPart,
  type ProviderOptions,
  signingKeys,
} from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { mapDriver } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const start = (plugins: unknown, more: Partial<ProviderOptions> = {}) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [],
    plugins: plugins as ProviderOptions['plugins'],
    ...more,
  })

const refusal = (message: unknown) => ({ name: 'TypeError', message })

const grant = (more: object) => ({
  ...testGrant({ grantType: 'urn:example:badge', handle: ({ scopes }) => ({ scopes }) }),
  ...more,
})

const check = (more: object) => ({
  ...defineGrantCheck({ settles: 'proof_key', grantTypes: ['authorization_code'], params: v.object({}), check() {} }),
  ...more,
})

const word = (...parts: readonly object[]) => definePlugin('word', parts as readonly PluginPart[])

describe('plugins', () => {
  test('rejects two plugins with the same name, also when one is nested', async () => {
    const message = 'plugins: two plugins have the name client_credentials; remove or rename one of them'
    await expect(start([clientCredentials(), [[clientCredentials()]]])).rejects.toMatchObject(refusal(message))
    const secondProofKey = definePlugin('proof-key', [defineFields({})])
    const second = 'plugins: two plugins have the name proof-key; remove or rename one of them'
    await expect(start([proofKey(), secondProofKey])).rejects.toMatchObject(refusal(second))
  })

  test('rejects two plugins with the same grant type, and names both', async () => {
    const message =
      'plugins: client_credentials and word both provide the grant type client_credentials; remove one of them'
    await expect(start([clientCredentials(), word(clientCredentials())])).rejects.toMatchObject(refusal(message))
  })

  test('rejects two checks that settle the same demand: neither takes precedence', async () => {
    const message = 'plugins: proof-key and word both provide a check of the demand proof_key; remove one of them'
    await expect(start([authorizationCode(), proofKey(), word(check({}))])).rejects.toMatchObject(refusal(message))
  })

  test.each(['', 'Badge', 'two words', '9', 'a_b', 'x'.repeat(51)])(
    'rejects a plugin with the name %j',
    async (name) => {
      const message = `plugins: "${name}" is not a valid name of a plugin; use lower-case letters, digits and hyphens`
      await expect(start([definePlugin(name, [grant({})])])).rejects.toMatchObject(refusal(message))
    },
  )

  test.each([undefined, 7, { name: 'badge', parts: [] }])(
    'says how a plugin is defined for the name %j',
    async (name) => {
      const message = 'plugins: the name must be a text: definePlugin(name, [part])'
      await expect(start([definePlugin(name as never, undefined as never)])).rejects.toMatchObject(refusal(message))
    },
  )

  test.each([
    ['a plugin as its part', [proofKey()]],
    ['a part of an unknown kind', [grant({ kind: 'grnt' })]],
    ['undefined as its part', [undefined]],
  ])('rejects a plugin with %s', async (_what, parts) => {
    const message = expect.stringMatching(/^plugins: word has an entry in parts that is not a part of a plugin/u)
    await expect(start([definePlugin('word', parts as never)])).rejects.toMatchObject(refusal(message))
  })

  test.each<[string, unknown, string]>([
    ['a factory that was not called', clientCredentials, 'did you forget to call its factory, as in password()?'],
    ['a list', [grant({})], 'it is an array; put its parts into parts, as in [...list]'],
  ])('rejects a plugin with %s as its part, and says what to do', async (_what, part, hint) => {
    const message = `plugins: word has an entry in parts that is not a part of a plugin; ${hint}`
    await expect(start([definePlugin('word', [part] as never)])).rejects.toMatchObject(refusal(message))
  })

  test.each([undefined, null, []])('rejects a plugin with the parts %j', async (parts) => {
    const message = 'plugins: word has no parts'
    await expect(start([definePlugin('word', parts as never)])).rejects.toMatchObject(refusal(message))
  })

  test('rejects a check without a plugin around it, which would have no name', async () => {
    const message = 'plugins: a part other than a grant needs a name; use definePlugin(name, [part])'
    await expect(start([authorizationCode(), check({})])).rejects.toMatchObject(refusal(message))
  })

  test.each([
    ['a factory that was not called', clientCredentials],
    ['a name', 'password'],
    ['true', true],
  ])('rejects %s as a plugin', async (_what, entry) => {
    const message = 'plugins: an entry is not a plugin; did you forget to call its factory, as in password()?'
    await expect(start([entry])).rejects.toMatchObject(refusal(message))
  })

  test.each([
    ['an empty object', {}],
    ['a promise', Promise.resolve(clientCredentials())],
    ['what signIn() returns', signIn({ pages: createPages() })],
  ])('rejects %s as a plugin, and asks for the plugin that needs it', async (_what, entry) => {
    await expect(start([entry])).rejects.toMatchObject(
      refusal('plugins: an entry is not a plugin; is it an option of one?'),
    )
  })

  test('rejects an unknown kind, and suggests the one that it could be', async () => {
    const message = 'plugins: an entry is not a plugin; did you mean the kind grant?'
    await expect(start([grant({ kind: 'grnt' })])).rejects.toMatchObject(refusal(message))
  })

  test('rejects a factory instead of the list', async () => {
    const message = 'createProvider(): plugins must be an array of plugins'
    await expect(start(clientCredentials)).rejects.toMatchObject(refusal(message))
  })

  test('accepts false, null, undefined and nested arrays: the list may contain conditions', async () => {
    const plugins = [false, null, undefined, [clientCredentials(), [authorizationCode(), [false, [proofKey()]]]]]
    const { grantTypes } = await start(plugins)
    expect(grantTypes).toEqual(['client_credentials', 'authorization_code'])
  })

  test('accepts a single plugin without a list', async () => {
    const { grantTypes } = await start(clientCredentials())
    expect(grantTypes).toEqual(['client_credentials'])
  })

  test.each(['', 'two words', 'a"b', 'x'.repeat(101), undefined, 7])(
    'rejects a grant of the type %j',
    async (grantType) => {
      const message = expect.stringMatching(
        /^plugins: the grant.*: grantType must be a short name or an absolute URI of at most 100 characters$/u,
      )
      await expect(start([grant({ grantType })])).rejects.toMatchObject(refusal(message))
    },
  )

  test('accepts a grant type of exactly 100 characters', async () => {
    const grantType = 'x'.repeat(100)
    await expect(start([grant({ grantType })])).resolves.toMatchObject({ grantTypes: [grantType] })
  })

  test.each([
    ['no handle()', { handle: undefined }, 'handle must be a function'],
    ['no params', { params: undefined }, 'params must be a Standard Schema, such as v.object()'],
    ['params that are null', { params: null }, 'params must be a Standard Schema, such as v.object()'],
    [
      'params that are not a schema',
      { params: { badge_id: v.string() } },
      'params must be a Standard Schema, such as v.object()',
    ],
  ])('rejects a grant with %s at start, not at the first request', async (_what, more, problem) => {
    const message = `plugins: the grant urn:example:badge: ${problem}`
    await expect(start([grant(more)])).rejects.toMatchObject(refusal(message))
  })

  // A typo would change the meaning silently: `scope: 'requierd'` would make the scope optional.
  test.each([
    ['scope', { scope: 'requierd' }],
    ['requires', { requires: ['users.autenticate'] }],
    ['withoutUser', { withoutUser: 'yes' }],
  ])('rejects a grant with an unknown value of %s', async (name, more) => {
    const message = expect.stringMatching(new RegExp(`^plugins: .*urn:example:badge.*${name}`, 'u'))
    await expect(start([grant(more)])).rejects.toMatchObject(refusal(message))
  })

  test.each([
    ['settles a demand without a name', { settles: '' }],
    ['has an authorization without check()', { authorization: { params: v.object({}) } }],
    ['names no grant types', { grantTypes: undefined }],
    ['has no params', { params: undefined }],
    ['has no check()', { check: undefined }],
  ])('rejects a check that %s at start, with a readable message', async (_what, more) => {
    const message = expect.stringMatching(/^plugins: the grant check of word: /u)
    await expect(start([authorizationCode(), word(check(more))])).rejects.toMatchObject(refusal(message))
  })

  test.each([
    ['a list and a string', ['S256'], 'S256'],
    ['two texts', 'S256', 'plain'],
    ['a list and one with a number', ['S256'], ['plain', 1]],
    ['two equal booleans', true, true],
  ])('rejects two plugins whose values of one discovery member cannot be merged: %s', async (_, value, otherValue) => {
    const first = definePlugin('one', [defineFields({ metadata: { example_supported: value } })])
    const second = definePlugin('other', [defineFields({ metadata: { example_supported: otherValue } })])
    const message =
      'plugins: one and other set example_supported in the discovery document; only arrays of strings are merged'
    await expect(start([authorizationCode(), first, second])).rejects.toMatchObject(refusal(message))
  })

  test.each([
    ['id_token_signing_alg_values_supported', ['HS256']],
    ['subject_types_supported', ['pairwise']],
    ['scopes_supported', ['admin']],
    ['introspection_endpoint_auth_methods_supported', ['none']],
    ['registration_endpoint', 'https://attacker.example.com'],
    ['jwks_uri', 'https://attacker.example.com'],
    ['token_endpoint_auth_methods_supported', 'private_key_jwt'],
    ['response_modes_supported', [1]],
    ['__proto__', ['x']],
  ])('rejects a plugin that sets %s, which belongs to the core, to %j', async (name, value) => {
    const metadata = JSON.parse(JSON.stringify({ x: value }).replace('"x"', JSON.stringify(name)))
    const message = expect.stringMatching(new RegExp(`^plugins: word .*${name}`, 'u'))
    await expect(start([word(defineFields({ metadata }))])).rejects.toMatchObject(refusal(message))
  })

  // A client trusts the discovery document for the issuer and for the endpoints that receive secrets.
  test.each(['issuer', 'token_endpoint', 'jwks_uri'])(
    'rejects a plugin that sets %s in the discovery document',
    async (name) => {
      const fields = defineFields({ metadata: { [name]: 'https://attacker.example.com' } })
      const message = expect.stringMatching(new RegExp(`^plugins: .*${name}`, 'u'))
      await expect(start([word(fields)])).rejects.toMatchObject(refusal(message))
    },
  )

  test.each([
    ['no users', {}],
    ['users without authenticate()', { users: { isActive: () => true } }],
  ])('rejects password() with %s', async (_what, more) => {
    const message = 'users: the grant type password requires authenticate()'
    await expect(start([password()], more)).rejects.toMatchObject(refusal(message))
  })
})
