import {
  authorizations,
  type Capability,
  defineGrant,
  definePlugin,
  type Plugins,
  type Proposal,
  type ProviderEvent,
  passwords,
  sealing,
  type UserService,
} from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, loginPage } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { dpop } from '@grantry/plugins/dpop'
import { password } from '@grantry/plugins/password'
import { type SignInOptions, signIn } from '@grantry/plugins/sign-in'
import { createTestProvider, storeGrant, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { testGrant } from '../support/test-grant.ts'

const users: UserService = { authenticate: ({ password }) => (password === 'right' ? { sub: 'alice' } : undefined) }
const credentials = { username: 'alice', password: 'right' }
const grantType = 'urn:example:pin'

/** A grant that checks a password, with or without naming the capability. */
const pin = (requires?: readonly Capability[]) =>
  testGrant({
    grantType,
    ...(requires !== undefined && { requires }),
    async handle({ scopes }, kit) {
      const subject = await kit.authenticateUser(credentials)
      if (subject === undefined) throw kit.refuse('invalid_grant', 'Not valid', 'unknown')
      return { subject, scopes }
    },
  })

async function warningsOf(plugins: Plugins, more: { readonly users?: UserService } = { users }) {
  const events: ProviderEvent[] = []
  await createTestProvider({ plugins, ...more, observe: (event) => void events.push(event) })
  return events.flatMap((event) =>
    event.type === 'startup_warning' && event.reason === 'passwords_unchecked' ? [event.message] : [],
  )
}

describe('the capability passwords', () => {
  const problem =
    'authenticateUser(): no plugin has the capability passwords of @grantry/core; add it to your plugin, or to the option plugins'

  test.each([
    ['requires of a grant', pin([passwords])],
    ['the parts of a plugin', definePlugin('pin', [pin(), passwords])],
    ['the option plugins', [pin(), passwords]],
    ['another plugin', [pin(), password()]],
    ['several plugins, and twice in one', [pin([passwords, passwords]), password(), passwords]],
  ])('is available with %s', async (_where, plugins) => {
    const { provider, post } = await createTestProvider({ plugins, users })
    const { status } = await post('token', { grant_type: grantType, scope: 'openid' }, testClient)
    expect(status).toBe(200)
    expect(await provider.authenticateUser(credentials, {})).toMatchObject({ sub: 'alice' })
  })

  test('a program contains the core twice: the copy of a plugin is the same capability', async () => {
    const { provider } = await createTestProvider({ plugins: [pin([{ ...passwords }]), passwords], users })
    expect(await provider.authenticateUser(credentials, {})).toMatchObject({ sub: 'alice' })
  })

  test('without it, no function checks a password, and the error names what to add', async () => {
    const plugins = [pin(), definePlugin('kit', [offerKit('kit')])]
    const { provider, post } = await createTestProvider({ plugins, users })
    const { status, body, failure } = await post('token', { grant_type: grantType, scope: 'openid' }, testClient)
    expect([status, body.error, (failure as Error).message]).toEqual([500, 'server_error', problem])
    for (const { authenticateUser } of [provider, kitOf(provider, 'kit')]) {
      await expect(authenticateUser(credentials, {})).rejects.toMatchObject({ name: 'TypeError', message: problem })
    }
  })

  test('a grant that requires it is refused at start without users.authenticate', async () => {
    const start = createTestProvider({ plugins: pin([passwords]), users: { isActive: () => true } })
    await expect(start).rejects.toThrow(`users: the grant type ${grantType} requires authenticate()`)
  })

  test.each([
    ['no users', undefined],
    ['users without authenticate()', { isActive: () => true }],
  ])('an endpoint that requires it is refused at start with %s, as signIn() is', async (_what, users) => {
    const pages = createPages()
    const start = (options: Partial<SignInOptions> = {}) =>
      createTestProvider({
        plugins: [authorizationEndpoint({ interaction: signIn({ pages, ...options }), pages })],
        users,
      })
    const message = 'users: the endpoint signIn of authorization-endpoint requires authenticate()'
    await expect(start()).rejects.toThrow(message)
    await expect(start({ passwords: false, ways: [{ links: () => [], parts: () => [] }] })).resolves.toBeDefined()
    await expect(createTestProvider({ plugins: [loginPage()], users })).resolves.toBeDefined()
  })

  test('warns at start about a users.authenticate that is never called', async () => {
    expect(await warningsOf(clientCredentials())).toEqual([
      'No plugin has the capability passwords, so users.authenticate is never called; add password(), signIn(), loginPage(), or passwords of @grantry/core (docs/guides/embedding.md)',
    ])
    expect(await warningsOf(clientCredentials(), { users: { isActive: () => true } })).toEqual([])
    for (const plugin of [password(), loginPage(), passwords]) expect(await warningsOf(plugin)).toEqual([])
  })

  test.each([
    ['the name of a host function', ['users.authenticate'], 'requires[0] must be a capability, not a string'],
    ['a plugin', [password()], 'requires[0]'],
    ['the capability alone', passwords, 'requires must be an array of capabilities, such as [passwords]'],
    [
      'one with a misspelled name',
      [{ ...passwords, name: 'password' }],
      'requires[0].name must be one of passwords, authorizations, sealing',
    ],
  ])('a grant that requires %s is refused at start', async (_what, requires, message) => {
    await expect(createTestProvider({ plugins: pin(requires as readonly Capability[]) })).rejects.toThrow(message)
  })
})

describe('the capability authorizations', () => {
  const linkType = 'urn:example:link'
  const linkGrant = (requires?: readonly Capability[]) =>
    defineGrant({
      grantType: linkType,
      params: v.object({ link: v.string() }),
      scope: 'ignored',
      stored: { kind: 'link' },
      ...(requires !== undefined && { requires }),
      async handle({ params: { link } }, kit) {
        const stored = await kit.findGrant('link', link)
        if (stored === undefined) throw kit.refuse('invalid_grant', 'Not valid', 'unknown')
        return { redeems: [stored] }
      },
    })
  const request = { kind: 'link', clientId: testClient[0], scopes: ['api1'] }
  const subject = { sub: 'alice', amr: ['email'] }

  test.each([
    ['requires of the grant', linkGrant([authorizations])],
    ['the parts of a plugin', definePlugin('link', [linkGrant(), authorizations])],
    ['the option plugins', [linkGrant(), authorizations]],
    ['another plugin', [linkGrant(), authorizationCode()]],
  ])('is available with %s', async (_where, plugins) => {
    const { provider, post } = await createTestProvider({ plugins })
    const link = await storeGrant(provider, { ...request, subject })
    expect((await post('token', { grant_type: linkType, link }, testClient)).status).toBe(200)
  })

  test('a grant whose stored grants nothing stores is refused at start', async () => {
    await expect(createTestProvider({ plugins: linkGrant() })).rejects.toThrow(
      `plugins: the grant type ${linkType} redeems stored grants, but no plugin has the capability authorizations; add requires: [authorizations] to the grant`,
    )
  })

  test('without it, no function stores anything, and the error names what to add', async () => {
    const { provider } = await createTestProvider({
      plugins: [clientCredentials(), definePlugin('kit', [offerKit('kit')])],
    })
    const problem = (name: string) => ({
      name: 'TypeError',
      message: `${name}(): no plugin has the capability authorizations of @grantry/core; add it to your plugin, or to the option plugins`,
    })
    const kit = kitOf(provider, 'kit')
    const waiting = { value: {}, store: async () => 'stored', remove: async () => {} }
    for (const { openAuthorization, authorize } of [provider, kit]) {
      await expect(openAuthorization(request)).rejects.toMatchObject(problem('openAuthorization'))
      await expect(authorize({} as Proposal, { subject })).rejects.toMatchObject(problem('authorize'))
    }
    await expect(kit.limitWaiting({ clientAddress: '192.0.2.1' }, waiting)).rejects.toMatchObject(
      problem('limitWaiting'),
    )
  })
})

describe('the capability sealing', () => {
  const text = v.literal('sealed')

  test.each([
    ['the parts of the plugin', definePlugin('kit', [offerKit('kit'), sealing])],
    ['the option plugins', [definePlugin('kit', [offerKit('kit')]), sealing]],
    ['another plugin', [definePlugin('kit', [offerKit('kit')]), dpop()]],
  ])('is available with %s', async (_where, plugins) => {
    const { provider, clock } = await createTestProvider({ plugins })
    const kit = kitOf(provider, 'kit')
    expect(await kit.unseal(await kit.seal('sealed', clock.now() + 60), text)).toBe('sealed')
  })

  test('without it, nothing is sealed, and the error names what to add', async () => {
    const { provider, clock } = await createTestProvider({ plugins: definePlugin('kit', [offerKit('kit')]) })
    const { seal, unseal } = kitOf(provider, 'kit')
    const problem = /seal\(\): no plugin has the capability sealing of @grantry\/core/u
    await expect(seal('sealed', clock.now() + 60)).rejects.toThrow(problem)
    await expect(unseal('a.b', text)).rejects.toThrow(problem)
  })
})
