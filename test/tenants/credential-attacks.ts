import { describe, expect, test } from 'vitest'
import { base, basic, client, type FixtureOptions, type TenantsFixture, tenantsFixture } from './tenants-fixture.ts'

const at = (tenant: string, path: string): string => `${base}/t/${tenant}${path}`
const login = {
  grant_type: 'password',
  username: 'alice',
  password: 'alice-password',
  scope: 'openid offline_access api1',
}

async function issued(tenants: TenantsFixture, tenant = 'acme') {
  const response = await tenants.token(at(tenant, '/connect/token'), login)
  expect(response.status).toBe(200)
  return (await response.json()) as { access_token: string; refresh_token: string; id_token: string }
}

const userInfo = (tenants: TenantsFixture, tenant: string, token: string) =>
  tenants.fetch(new Request(at(tenant, '/connect/userinfo'), { headers: { authorization: `Bearer ${token}` } }))

const isActive = async (tenants: TenantsFixture, tenant: string, token: string): Promise<unknown> => {
  const authorization = basic('api1', 'api1-secret')
  const response = await tenants.token(at(tenant, '/connect/introspect'), { token }, { authorization })
  return ((await response.json()) as { active: unknown }).active
}

/** Defines attacks with what a tenant has issued, on one storage. */
export function credentialAttacks(title: string, storageOf: () => Promise<FixtureOptions['storage']>): void {
  const setting = async (format: 'jwt' | 'reference' = 'reference'): Promise<TenantsFixture> => {
    return tenantsFixture({
      storage: await storageOf(),
      options: { clients: [{ ...client, accessTokenFormat: format }] },
    })
  }

  describe(title, () => {
    test.each(['reference', 'jwt'] as const)('a %s token of a tenant is unknown at another one', async (format) => {
      const tenants = await setting(format)
      const { access_token: token } = await issued(tenants)
      expect((await userInfo(tenants, 'beta', token)).status).toBe(401)
      expect(await isActive(tenants, 'beta', token)).toBe(false)
      expect((await userInfo(tenants, 'acme', token)).status).toBe(200)
      expect(await isActive(tenants, 'acme', token)).toBe(true)
    })

    test.each(['reference', 'jwt'] as const)('another tenant cannot revoke a %s token', async (format) => {
      const tenants = await setting(format)
      const { access_token: token, refresh_token: refresh } = await issued(tenants)
      for (const presented of [token, refresh]) {
        await tenants.token(at('beta', '/connect/revocation'), { token: presented })
      }
      expect(await isActive(tenants, 'acme', token)).toBe(true)
      const renewed = { grant_type: 'refresh_token', refresh_token: refresh }
      expect((await tenants.token(at('acme', '/connect/token'), renewed)).status).toBe(200)
    })

    test('a refresh token is unknown at another tenant, and is not spent there', async () => {
      const tenants = await setting()
      const { refresh_token: refresh } = await issued(tenants)
      const renewed = { grant_type: 'refresh_token', refresh_token: refresh }
      const theft = await tenants.token(at('beta', '/connect/token'), renewed)
      expect([theft.status, await theft.json()]).toMatchObject([400, { error: 'invalid_grant' }])
      expect((await tenants.token(at('acme', '/connect/token'), renewed)).status).toBe(200)
    })

    test('a revocation of a client or a user at another tenant changes nothing', async () => {
      const tenants = await setting()
      const { access_token: token } = await issued(tenants)
      await tenants.use('beta', async ({ revoke }) => {
        await revoke({ clientId: 'web' })
        await revoke({ subject: '1' })
      })
      expect(await isActive(tenants, 'acme', token)).toBe(true)
    })

    test('wrong passwords at another tenant shut no user out', async () => {
      const tenants = await setting()
      const guess = { ...login, password: 'wrong' }
      const statuses: number[] = []
      for (let tries = 0; tries < 30; tries += 1) {
        statuses.push((await tenants.token(at('beta', '/connect/token'), guess)).status)
      }
      expect(statuses.at(-1)).toBe(429)
      await issued(tenants)
    })
  })
}
