/**
 * Attack: several tenants are issuers of one process, with one storage. An attacker who owns a tenant, with clients, users and
 * APIs of the same names as those of another one, presents there what the other tenant has issued, or acts on it.
 *
 * RFC 9700 section 4.4 (mix-up); decision 168.
 */
import { expect, test } from 'vitest'
import { credentialAttacks } from '../tenants/credential-attacks.ts'
import { base, basic, tenantsFixture } from '../tenants/tenants-fixture.ts'

credentialAttacks('what a tenant has issued', async () => undefined)

test('21.83 a client of a tenant is unknown at another one, and so is its token', async () => {
  const tenants = tenantsFixture()
  tenants.directory.set('beta', { version: '1', options: { clients: [] } })
  const form = { grant_type: 'client_credentials', scope: 'api1' }
  expect((await tenants.token(`${base}/t/beta/connect/token`, form)).status).toBe(401)
  const { access_token: token } = await (await tenants.token(`${base}/t/acme/connect/token`, form)).json()
  const authorization = basic('api1', 'api1-secret')
  const introspected = await tenants.token(`${base}/t/beta/connect/introspect`, { token }, { authorization })
  expect(await introspected.json()).toEqual({ active: false })
})
