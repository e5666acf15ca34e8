// A tenant is ended while four processes serve it from one PostgreSQL with latency; and the process that ends it dies.
import { openAdministration } from '@grantry/administration'
import { type AtomicDriver, openEntries, storedKeys } from '@grantry/core'
import { createTenants, storageSpace, tenantsByPath } from '@grantry/core/tenants'
import { storeGrant } from '@grantry/testing'
import { afterEach, expect, test } from 'vitest'
import type { TenantsConfiguration } from '../../packages/server/src/configuration/tenants-schema.ts'
import { findTenant, storedSpace } from '../../packages/server/src/tenants/find-tenant.ts'
import { createRemoval } from '../../packages/server/src/tenants/remove-ended.ts'
import { builtInPlugins, testUsers } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { base, basic, client } from '../tenants/tenants-fixture.ts'

const issuerOf = (name: string): string => `${base}/t/${name}`
const redirectUri = 'https://web.example.com/callback'
const web = {
  ...client,
  grantTypes: ['authorization_code', 'refresh_token', 'password'],
  redirectUris: [redirectUri],
  requirePkce: false,
  refreshToken: { gracePeriod: 0 },
}
const settings: TenantsConfiguration = { by: 'path', prefix: '/t', maxOpen: 100, closeAfter: 600, list: [] }
const unchecked = { client: async () => {}, scope: async () => {}, user: async () => {}, tenant: async () => {} }

describeWithPostgresql('a tenant that is ended', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  /** Administration in a process with its own connections. */
  function administrationOn(storage: AtomicDriver) {
    const entries = openEntries({ issuer: base, storage })
    const all = openAdministration({ entries, check: unchecked, hashPassword: async () => '', revoke: async () => {} })
    return { entries, tenants: all.as({ who: 'test' }).tenants }
  }

  async function service() {
    const { url } = await start()
    const clock = { ms: 0 }
    const connect = async (): Promise<AtomicDriver> => {
      const driver = driverOf({ url })
      await driver.open()
      return withLatency(driver)
    }
    async function process() {
      const storage = await connect()
      const { entries } = administrationOn(storage)
      const tenants = createTenants({
        storage,
        tenantOf: tenantsByPath(),
        runtime: { elapsed: () => clock.ms },
        async find(key) {
          const tenant = await findTenant(settings, entries, key)
          if (tenant === undefined) return undefined
          const open = () => ({
            issuer: issuerOf(key),
            keys: storedKeys(),
            clients: [web],
            scopes: [{ name: 'api1' }],
            users: testUsers().service,
            plugins: builtInPlugins,
          })
          return { name: key, space: tenant.space, version: tenant.version, open }
        },
      })
      closing.push(() => tenants.close())
      const send = async (form: Readonly<Record<string, string>>) => {
        const headers = { authorization: basic(), 'content-type': 'application/x-www-form-urlencoded' }
        const init = { method: 'POST', headers, body: new URLSearchParams(form) }
        const response = await tenants.fetch(new Request(`${issuerOf('acme')}/connect/token`, init))
        const at = clock.ms
        const { refresh_token, access_token } = (await response.json().catch(() => ({}))) as Record<string, string>
        return { status: response.status, at, tokens: `${access_token} ${refresh_token}` }
      }
      return { tenants, send }
    }
    const processes = await Promise.all(Array.from({ length: 4 }, process))
    return { clock, connect, processes }
  }

  test('21.82 codes and refresh tokens are used once, and none after two seconds', async () => {
    const { clock, connect, processes } = await service()
    const admin = administrationOn(await connect())
    await admin.tenants.add({ name: 'acme' })
    const [first] = processes
    if (first === undefined) throw new TypeError('There is no process')
    const login = {
      grant_type: 'password',
      username: 'alice',
      password: 'alice-password',
      scope: 'offline_access api1',
    }
    const credentials = await first.tenants.use('acme', async (provider) => {
      const codes = Array.from({ length: 25 }, () =>
        storeGrant(provider, {
          kind: 'code',
          clientId: 'web',
          redirectUri,
          subject: { sub: '1', amr: ['pwd'] },
          scopes: ['api1'],
        }),
      )
      return (await Promise.all(codes)).map((code) => ({
        grant_type: 'authorization_code',
        code: String(code),
        redirect_uri: redirectUri,
      }))
    })
    expect(credentials).toHaveLength(25)
    const refreshTokens = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const headers = { authorization: basic(), 'content-type': 'application/x-www-form-urlencoded' }
        const init = { method: 'POST', headers, body: new URLSearchParams(login) }
        const response = await first.tenants.fetch(new Request(`${issuerOf('acme')}/connect/token`, init))
        const { refresh_token } = (await response.json()) as { readonly refresh_token: string }
        return { grant_type: 'refresh_token', refresh_token }
      }),
    )
    // Each process has the tenant open.
    await Promise.all(processes.map(({ send }) => send({ grant_type: 'none' })))

    const forms = [...(credentials ?? []), ...refreshTokens]
    const begun = forms.map((form) => Promise.all(processes.map(({ send }) => send(form))))
    // Some have ended before the tenant, some have not.
    await Promise.race(begun)
    await admin.tenants.remove('acme')
    clock.ms += 2000
    for (const responses of await Promise.all(begun)) {
      const succeeded = responses.filter(({ status }) => status === 200)
      // A retry of the same request gets the same tokens.
      expect(new Set(succeeded.map(({ tokens }) => tokens)).size).toBeLessThanOrEqual(1)
      expect(succeeded.filter(({ at }) => at >= 2000)).toEqual([])
    }
    const later = await Promise.all(forms.flatMap((form) => processes.map(({ send }) => send(form))))
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set([404]))
  })

  test('is ended by another process when the first one dies, and its records are removed by a third one', async () => {
    const { clock, connect, processes } = await service()
    const storage = await connect()
    const admin = administrationOn(storage)
    const { createdAt } = await admin.tenants.add({ name: 'acme' })
    const entriesOfTenant = openEntries({
      issuer: issuerOf('acme'),
      storage: storageSpace(storage, storedSpace('acme', createdAt)),
    })
    await Promise.all(Array.from({ length: 150 }, (_, index) => entriesOfTenant.create('client', `c${index}`, {})))
    const send = async () => (await processes[0]?.send({ grant_type: 'none' }))?.status
    expect(await send()).toBe(400)

    // It has noted the end, and dies before the tenant is removed.
    const dying: AtomicDriver = {
      ...storage,
      replaceItem: async () => {
        throw new Error('killed')
      },
    }
    await expect(administrationOn(dying).tenants.remove('acme')).rejects.toThrow()
    clock.ms += 2000
    expect(await send()).toBe(400)
    const later = Date.now() + 121_000
    const removalOn = async () => {
      const driver = await connect()
      return createRemoval(openEntries({ issuer: base, storage: driver }), driver, () => ({ issuer: base }), settings)
    }
    const idle = await removalOn()
    for (let step = 0; step < 3; step += 1) await idle.run(later)
    expect((await entriesOfTenant.list('client', { limit: 1000 })).entries).toHaveLength(150)

    await admin.tenants.remove('acme')
    clock.ms += 2000
    expect(await send()).toBe(404)
    const killed = await removalOn()
    await killed.run(later)
    expect((await entriesOfTenant.list('client', { limit: 1000 })).entries).toHaveLength(50)
    const [third, fourth] = await Promise.all([removalOn(), removalOn()])
    for (let step = 0; step < 15; step += 1) await Promise.all([third.run(later), fourth.run(later)])
    expect((await entriesOfTenant.list('client', { limit: 1000 })).entries).toEqual([])
    expect((await admin.entries.list('ended-tenant', { limit: 10 })).entries).toEqual([])
  })
})
