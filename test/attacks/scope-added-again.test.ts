// A scope is removed with `--force`, and later another API gets its name. The attacker is a client of the old API that keeps
// its tokens and consents, or still names the scope: none of them may have the new one.
import { openAdministration, refusalOf, storedEntries } from '@grantry/administration'
import {
  type ClientOptions,
  definePlugin,
  defineScopeSource,
  openEntries,
  type ScopeOptions,
  webRuntime,
} from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { signIn } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { answer, type Page } from '../authorization/browser.ts'
import { clients } from '../authorization/parties.ts'
import { setUpSignIn, testPages } from '../sign-in/parties.ts'
import { builtInPlugins, fixture } from '../support/fixture.ts'

const issuer = 'https://id.example.com'
const accepted = async () => {}

async function setting() {
  const storage = memoryDriver()
  let time = 1_800_000_000
  const entries = openEntries({ issuer, storage, runtime: { ...webRuntime, now: () => time } })
  const f = await fixture({
    storage,
    users: { authenticate: ({ username }) => ({ sub: username }), isActive: () => true },
    plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 0, now: () => time * 1000 })],
  })
  time = f.clock.now()
  const administration = openAdministration({
    entries,
    check: { client: accepted, scope: accepted, user: accepted },
    hashPassword: async () => '',
    revoke: f.provider.revoke,
    now: () => time * 1000,
  })
  async function pass(seconds: number): Promise<void> {
    f.clock.advance(seconds)
    time = f.clock.now()
    await f.provider.runTasks()
  }
  const managers = administration.as({ who: 'alice' })
  const addScope = (secret: string) => managers.scopes.add({ name: 'pay', secrets: [{ sha256: sha256Of(secret) }] })
  const trail = async () => (await administration.audit({ limit: 20 })).records
  await addScope('old-secret')
  await pass(6)
  const clientOf = async (clientId: string, accessTokenFormat: 'jwt' | 'reference') => {
    const grantTypes = ['password', 'refresh_token', 'client_credentials']
    const client = { clientId, grantTypes, accessTokenFormat, scopes: ['pay', 'api2', 'offline_access'] }
    const { secret = '' } = await managers.clients.add(client)
    return [clientId, secret] as const
  }
  const login = (client: readonly [string, string], scope = 'pay api2 offline_access') =>
    f.post('token', { grant_type: 'password', username: 'u', password: 'p', scope }, client)
  const isActive = async (token: unknown, api: readonly [string, string] = ['pay', 'new-secret']) =>
    (await f.post('introspection', { token: String(token) }, api)).body.active
  return { ...f, ...managers, addScope, clientOf, entries, isActive, login, pass, trail }
}

const refusalIn = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (thrown: unknown) => ({ ...refusalOf(thrown), message: (thrown as Error).message }),
  )

describe('a scope that was removed by force', () => {
  test('is taken from the clients that have it, and the trail shows each of them', async () => {
    const { clientOf, clients, scopes, trail } = await setting()
    await clientOf('shop', 'jwt')
    await clients.add({ clientId: 'other', public: true, scopes: ['api2'] })
    const { version } = await clients.show('other')
    await scopes.remove('pay', { force: true })
    expect((await clients.show('shop')).value.scopes).toEqual(['api2', 'offline_access'])
    expect((await clients.show('other')).version).toBe(version)
    expect((await trail()).slice(0, 2)).toMatchObject([
      { action: 'scope_removed', id: 'pay' },
      { action: 'client_changed', id: 'shop', before: { scopes: ['pay', 'api2', 'offline_access'] } },
    ])
  })

  test('keeps the clients if the version is outdated', async () => {
    const { clientOf, clients, scopes } = await setting()
    await clientOf('shop', 'jwt')
    expect(await refusalIn(scopes.remove('pay', { force: true, version: 'old' }))).toMatchObject({ reason: 'outdated' })
    expect((await clients.show('shop')).value.scopes).toContain('pay')
  })

  test('is not added again before every server knows of the removal', async () => {
    const { addScope, pass, scopes } = await setting()
    await scopes.remove('pay')
    await pass(60)
    const refusal = await refusalIn(addScope('new-secret'))
    expect(refusal).toMatchObject({ reason: 'in_use', member: 'name' })
    expect(refusal?.message).toMatch(
      /the scope pay was removed at 2027-01-15T\S+Z.*add it again after 2027-01-15T\S+Z/u,
    )
    await pass(61)
    await addScope('new-secret')
  })

  test('is not added again while a client names it', async () => {
    const { addScope, clients, entries, pass, scopes } = await setting()
    await scopes.remove('pay', { force: true })
    // Such as a client whose check was made before the removal.
    await clients.add({ clientId: 'late', public: true, scopes: ['pay'] })
    await pass(200)
    expect(await refusalIn(addScope('new-secret'))).toMatchObject({
      reason: 'in_use',
      message: expect.stringContaining('(late)'),
    })
    expect(await entries.get('scope', 'pay')).toBeUndefined()
    await clients.edit('late', { scopes: ['api2'] })
    await addScope('new-secret')
  })
})

describe.each(['jwt', 'reference'] as const)('with access tokens of the format %s', (format) => {
  test('tokens of the old scope do not have the new one, and keep their other scopes', async () => {
    const { addScope, clientOf, clients, isActive, login, pass, post, scopes } = await setting()
    const shop = await clientOf('shop', format)
    const old = (await login(shop)).body
    expect(await isActive(old.access_token, ['pay', 'old-secret'])).toBe(true)
    await scopes.remove('pay', { force: true })
    await pass(200)
    await addScope('new-secret')
    await clients.edit('shop', { scopes: ['pay', 'api2', 'offline_access'] })
    await pass(6)
    expect(await isActive(old.access_token)).toBe(false)
    expect(await isActive(old.access_token, ['api2', 'api2-secret'])).toBe(true)
    const refresh = { grant_type: 'refresh_token', refresh_token: String(old.refresh_token) }
    expect((await post('token', { ...refresh, scope: 'pay' }, shop)).status).toBe(400)
    expect((await post('token', { ...refresh, scope: 'pay api2' }, shop)).status).toBe(400)
    expect((await post('token', refresh, shop)).body).toMatchObject({ error: 'invalid_grant' })
    const narrowed = await post('token', { ...refresh, scope: 'api2' }, shop)
    expect(narrowed.body.scope).toBe('api2')
    const next = { ...refresh, refresh_token: String(narrowed.body.refresh_token) }
    expect((await post('token', next, shop)).status).toBe(400)
    const again = (await login(shop)).body
    expect(await isActive(again.access_token)).toBe(true)
    const refreshed = await post('token', { ...refresh, refresh_token: String(again.refresh_token) }, shop)
    expect(refreshed.body.scope).toBe('pay api2 offline_access')
    expect(await isActive(refreshed.body.access_token)).toBe(true)
  })
})

test('a consent to the old scope does not answer for the new one, and keeps its other scopes', async () => {
  let pay: ScopeOptions = { name: 'pay' }
  const source = definePlugin('stored-scopes', [defineScopeSource({ list: () => [pay] })])
  const endpoint = authorizationEndpoint({ interaction: signIn({ pages: testPages }) })
  const plugins = [authorizationCode(), proofKey(), refreshToken(), endpoint]
  const client = { ...clients[0], clientId: 'web', scopes: ['openid', 'profile', 'pay'] } as ClientOptions
  const { start, clock, provider } = await setUpSignIn({}, { clients: [client], plugins: [...plugins, source] })
  const allow = async ({ submit }: Awaited<ReturnType<typeof start>>, page: Page) =>
    submit('consent', { decision: 'allow' }, page)
  const first = await start({ scope: 'openid profile pay' })
  await allow(first, await first.enter('alice'))
  const answered = async (scope: string) => answer((await start({ scope, prompt: 'none' }, first.browser)).page)
  expect(await answered('openid pay')).toHaveProperty('code')
  clock.advance(120)
  pay = { name: 'pay', grantedSince: clock.now() }
  await provider.runTasks()
  expect(await answered('openid pay')).toMatchObject({ error: 'consent_required' })
  expect(await answered('openid profile')).toHaveProperty('code')
  const withoutPay = await start({ scope: 'openid' }, first.browser)
  expect(answer(withoutPay.page)).toHaveProperty('code')
  // What is added to an earlier consent is of its own time.
  const again = await start({ scope: 'openid pay' }, first.browser)
  await allow(again, again.page)
  expect(await answered('openid profile pay')).toHaveProperty('code')
})

test('a page that has shown the old scope gives no code for the new one', async () => {
  let pay: ScopeOptions = { name: 'pay' }
  const source = definePlugin('stored-scopes', [defineScopeSource({ list: () => [pay] })])
  const endpoint = authorizationEndpoint({ interaction: signIn({ pages: testPages }) })
  const client = { ...clients[0], clientId: 'web', scopes: ['openid', 'pay'] } as ClientOptions
  const plugins = [authorizationCode(), proofKey(), refreshToken(), endpoint, source]
  const { start, clock, provider } = await setUpSignIn({}, { clients: [client], plugins })
  const { enter, submit, browser } = await start({ scope: 'openid pay' })
  const page = await enter('alice')
  clock.advance(120)
  pay = { name: 'pay', grantedSince: clock.now() }
  await provider.runTasks()
  expect(answer(await submit('consent', { decision: 'allow' }, page))).not.toHaveProperty('code')
  const next = await start({ scope: 'openid pay' }, browser)
  expect(answer(await next.submit('consent', { decision: 'allow' }, next.page))).toHaveProperty('code')
})
