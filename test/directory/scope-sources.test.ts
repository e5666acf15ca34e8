// Scopes that a plugin keeps, and that change while the provider runs.
import { type ClientOptions, definePlugin, defineScopeSource, type ScopeOptions, type ScopeSource } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, sha256Of, type TestProviderOptions, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const source = (list: ScopeSource['list'], name = 'kept-scopes') => definePlugin(name, [defineScopeSource({ list })])

const kept: ScopeOptions = {
  name: 'kept',
  secrets: [{ sha256: sha256Of('kept-secret') }],
  audience: 'https://kept.example.com',
  claims: ['name'],
}
const asKept = ['kept', 'kept-secret'] as const

const client: ClientOptions = {
  clientId: testClient[0],
  secrets: [{ sha256: sha256Of(testClient[1]) }],
  grantTypes: ['client_credentials', 'password', 'refresh_token'],
  scopes: ['api1', 'kept', 'offline_access'],
}

/** A provider with scopes that the test replaces. Its clients come from a function: no check at start names them. */
async function setUp(first: readonly ScopeOptions[], more: Partial<TestProviderOptions> = {}) {
  const state = { list: () => first, calls: 0, duringRequest: async () => {} }
  const f = await createTestProvider({
    plugins: [
      clientCredentials(),
      password(),
      refreshToken(),
      source(() => {
        state.calls += 1
        return state.list()
      }),
    ],
    scopes: [{ name: 'api1' }],
    clients: { find: () => client },
    users: {
      authenticate: () => ({ sub: '1' }),
      async isActive() {
        await state.duringRequest()
        return true
      },
      claims: () => ({ name: 'Alice', email: 'alice@example.com' }),
    },
    ...more,
  })
  const post = (form: Record<string, string>) => f.post('token', form, testClient)
  async function change(scopes: readonly ScopeOptions[]): Promise<void> {
    state.list = () => scopes
    await f.provider.runTasks()
  }
  return {
    ...f,
    state,
    change,
    token: (scope: string) => post({ grant_type: 'client_credentials', scope }),
    login: (scope: string) => post({ grant_type: 'password', username: 'alice', password: 'p', scope }),
    refresh: (token: string) => post({ grant_type: 'refresh_token', refresh_token: token }),
    introspect: (token: string, as: readonly [string, string] = asKept) => f.post('introspection', { token }, as),
    supported: async () => (await f.get('discovery')).body.scopes_supported as readonly string[],
    failures: () => f.events.filter(({ type }) => type === 'unhandled_failure'),
  }
}

const payload = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

describe('the scopes of a plugin', () => {
  test('are there before the first request, and no request reads them', async () => {
    const { state, token, introspect, supported } = await setUp([kept], { clients: [client] })
    const { body } = await token('kept')
    expect(payload(body.access_token).aud).toBe('https://kept.example.com')
    expect((await introspect(body.access_token)).body).toMatchObject({ active: true, scope: 'kept' })
    expect(await supported()).toEqual(expect.arrayContaining(['api1', 'kept', 'openid']))
    expect(state.calls).toBe(1)
  })

  test('work after the next run of the tasks when they are added', async () => {
    const { token, change, introspect, supported, provider } = await setUp([])
    expect((await token('kept')).body.error).toBe('invalid_scope')
    expect((await introspect('x')).status).toBe(401)
    expect(await supported()).not.toContain('kept')
    await change([kept])
    const { body } = await token('kept')
    expect(payload(body.access_token).aud).toBe('https://kept.example.com')
    expect((await introspect(body.access_token)).body.active).toBe(true)
    expect(await supported()).toContain('kept')
    expect(provider.metadata.scopes_supported).toContain('kept')
  })

  test('are in no new token after they were disabled; those that exist stay valid for other APIs', async () => {
    const { token, login, refresh, change, introspect, supported } = await setUp([
      kept,
      { name: 'api2', secrets: [{ sha256: sha256Of('api2-secret') }] },
    ])
    const both = (await login('kept offline_access')).body
    await change([{ ...kept, enabled: false }])
    expect((await token('kept')).body.error).toBe('invalid_scope')
    expect((await refresh(both.refresh_token)).body.error).toBe('invalid_grant')
    expect((await introspect(both.access_token)).status).toBe(401)
    expect(await supported()).not.toContain('kept')
    await change([kept])
    expect((await introspect(both.access_token)).body.active).toBe(true)
    expect((await refresh(both.refresh_token)).status).toBe(200)
  })

  test('make tokens for their audience alone invalid when they are removed', async () => {
    const { token, change, introspect } = await setUp([kept])
    const { access_token: accessToken } = (await token('kept')).body
    await change([{ ...kept, name: 'other', secrets: [{ sha256: sha256Of('other-secret') }] }])
    expect((await introspect(accessToken)).status).toBe(401)
    expect((await introspect(accessToken, ['other', 'other-secret'])).body).toEqual({ active: false })
  })

  test('change for new requests only: a token has what its request began with', async () => {
    const { state, login, change } = await setUp([kept])
    state.duringRequest = () => change([{ ...kept, audience: 'https://changed.example.com', claims: ['email'] }])
    const { aud, name, email } = payload((await login('kept')).body.access_token)
    expect({ aud, name, email }).toEqual({ aud: 'https://kept.example.com', name: 'Alice', email: undefined })
    const later = payload((await login('kept')).body.access_token)
    expect(later).toMatchObject({ aud: 'https://changed.example.com', email: 'alice@example.com' })
  })

  test('are the same when their source fails, which is an event', async () => {
    const { state, token, provider, failures } = await setUp([kept])
    state.list = () => {
      throw new Error('the database is away')
    }
    await provider.runTasks()
    expect((await token('kept')).status).toBe(200)
    expect(failures()).toMatchObject([{ reason: 'task_failed', cause: { message: 'the database is away' } }])
  })

  test.each([
    [{ name: 'kept', claims: ['exp'] }, 'scopes: kept has the claim exp'],
    [{ name: 'kept', enabled: 'no' } as unknown as ScopeOptions, 'kept-scopes: scope kept'],
    [{ name: 'kept\nforged' }, 'kept-scopes.list()[1]'],
    [{ name: 'api1' }, 'kept-scopes: scope api1: scopes: two scopes have the name api1'],
    [{ name: 'profile' }, 'kept-scopes: scope profile: profile is an identity scope of OpenID Connect'],
    [null as unknown as ScopeOptions, 'kept-scopes.list()[1]'],
  ])('with a mistake are left out alone: %j', async (wrong, message) => {
    const { token, change, failures, supported } = await setUp([kept])
    const otherScope = { name: 'other' }
    await change([otherScope, wrong])
    expect(await supported()).toEqual(expect.arrayContaining(['other', 'api1', 'profile']))
    expect((await token('kept')).body.error).toBe('invalid_scope')
    expect((await token('api1')).status).toBe(200)
    expect(failures()).toMatchObject([{ reason: 'task_failed', cause: { message: expect.stringContaining(message) } }])
    await expect(setUp([otherScope, wrong])).rejects.toThrow(message)
  })

  test('of two plugins with one name prevent the start', async () => {
    const plugins = [clientCredentials(), source(() => [kept], 'one'), source(() => [kept], 'two')]
    await expect(setUp([], { plugins })).rejects.toThrow('two: scope kept: scopes: two scopes have the name kept')
  })

  test('prevent the start when they cannot be read', async () => {
    const failing = (list: ScopeSource['list']) => setUp([], { plugins: [clientCredentials(), source(list)] })
    await expect(failing(() => Promise.reject(new Error('the database is away')))).rejects.toThrow('is away')
    await expect(failing(() => undefined as never)).rejects.toThrow('has not returned an array of scopes')
  })
})
