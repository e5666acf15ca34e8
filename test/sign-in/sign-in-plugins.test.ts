import { decodeJwt, type PluginPart, type Plugins } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { type SignInPluginsOptions, signInEndpoint, signInPlugins } from '@grantry/plugins/sign-in-plugins'
import { upstream } from '@grantry/plugins/upstream'
import { createTestProvider, type TestProviderOptions } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { parseConfiguration } from '../../packages/core/src/config-schema.ts'
import {
  createNamedPlugin,
  loadNamedPlugins,
  namedPluginSchema,
} from '../../packages/server/src/configuration/named-plugins.ts'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { challenge, clients, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'

await loadNamedPlugins()

const pages = createPages()
const acme = { name: 'acme', displayName: 'Acme', issuer: 'https://acme.example', clientId: 'us', clientSecret: 'x' }
const secondFactors = { encryptionSecrets: ['0123456789abcdef0123456789abcdef'] }
const { store, authenticate } = memoryAccounts([aliceAccount])
const account = { pages: createAccountPages() }
const accounts = {
  store,
  mailer: { send: () => undefined },
  pages: createSelfServicePages({ host: 'id.example.com' }),
  signUp: 'open',
  mail: 'both',
} as const

async function setUp(options: Partial<SignInPluginsOptions> = {}, more: Partial<TestProviderOptions> = {}) {
  const f = await createTestProvider({
    plugins: signInPlugins({ pages, ...options }),
    clients,
    users: { authenticate, claims: () => ({}) },
    ...more,
  })
  const { issuer } = f.provider
  const browser = createBrowser(f.provider)
  const begin = (parameters: Readonly<Record<string, string>> = {}) =>
    browser.open(`${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...parameters })}`)
  async function signedIn(parameters: Readonly<Record<string, string>> = {}) {
    const form = { ...hiddenFields(await begin(parameters)), username: 'alice', password: 'alice-password' }
    const consent = await browser.submit(`${issuer}/connect/signin`, form)
    return browser.submit(`${issuer}/connect/consent`, { ...hiddenFields(consent), decision: 'allow' })
  }
  const redeem = (code: string | undefined, form: Readonly<Record<string, string>> = {}) =>
    f.post('token', { grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri, ...form }, web)
  return { ...f, browser, begin, signedIn, redeem }
}

const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }

describe('signInPlugins()', () => {
  test('signs a user in, with PKCE and a refresh token', async () => {
    const f = await setUp()
    const { code } = answer(await f.signedIn({ ...pkce, scope: 'openid offline_access' }))
    const { body } = await f.redeem(code, { code_verifier: verifier })
    expect(decodeJwt(body.id_token)?.claims.sub).toBe('alice')
    const refreshed = await f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)
    expect(refreshed.status).toBe(200)
  })

  // A program with a list of its own can forget proofKey(): its codes then need no verifier.
  test('refuses a code without its verifier', async () => {
    const f = await setUp()
    const { code } = answer(await f.signedIn(pkce))
    expect((await f.redeem(code)).body.error).toBe('invalid_grant')
  })

  test('shows on the page of the account what users sign in with', async () => {
    const f = await setUp({ account, accounts, passkeys: true, secondFactors, providers: [acme] })
    const page = await f.begin()
    for (const way of ['Acme', 'id="create"', 'id="passkey"']) expect(page.html).toContain(way)
    await f.signedIn()
    const { html } = await f.browser.open(`${f.provider.issuer}/account`)
    for (const change of ['account/app', 'account/passkey', 'account/password', 'account/provider'])
      expect(html).toContain(change)
  })

  test.each<readonly [string, object, RegExp]>([
    ['a misspelled option', { provider: [acme] }, /^signInPlugins\(\): provider .*did you mean providers\?/u],
    ['options without pages', { pages: undefined }, /pages must be the pages of createPages\(\)/u],
    ['no way to sign in', { passwords: false }, /with passwords: false, users need another way to sign in/u],
    ['a demand without a factor', { account: { ...account, requireSecondFactor: true } }, /require secondFactors/u],
    ['a profile without accounts', { account: { ...account, profile: ['name'] } }, /profile requires accounts/u],
  ])('refuses %s', (_name, options, message) => {
    expect(() => signInPlugins({ pages, ...options })).toThrow(message)
  })

  test.each<readonly [string, Partial<SignInPluginsOptions>]>([
    ['providers as upstream()', { providers: upstream({ providers: [acme], accounts: store }) }],
    ['passkeys as storedPasskeys()', { passkeys: storedPasskeys({ rpId: 'id.example.com' }), account }],
    ['factors of the host', { secondFactors: [{ amr: 'otp', isSetUp: () => false, verify: () => false }] }],
  ])('takes %s', async (_name, options) => {
    expect((await setUp(options)).provider.paths.signIn).toBe('/connect/signin')
  })
})

/** The names of the parts of plugins: endpoints, host functions and so on. */
const partsOf = (plugins: Plugins): readonly string[] => {
  if (!plugins) return []
  if (Array.isArray(plugins)) return plugins.flatMap(partsOf)
  const { kind, parts = [] } = plugins as { readonly kind: string; readonly parts?: readonly PluginPart[] }
  return kind === 'plugin' ? parts.map((part) => `${part.kind} ${'name' in part ? String(part.name) : ''}`) : [kind]
}

test.each<readonly [string, object, Partial<SignInPluginsOptions>]>([
  ['no options', {}, {}],
  ['other providers', { providers: [acme] }, { providers: [acme] }],
  ['passkeys and factors', { passkeys: true, secondFactors, account: {} }, { passkeys: true, secondFactors, account }],
])('the ready server has the same parts, with %s', (_name, json, options) => {
  const entry = { name: 'sign-in', ...json } as Parameters<typeof createNamedPlugin>[0]
  const parsed = parseConfiguration(namedPluginSchema(entry.name), entry, '') as typeof entry
  expect(partsOf(createNamedPlugin(parsed, [parsed]))).toEqual(partsOf(signInEndpoint({ pages, ...options })))
})
