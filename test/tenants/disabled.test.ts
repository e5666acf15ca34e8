import * as v from 'valibot'
import { expect, test } from 'vitest'
import { tenantsSchema } from '../../packages/server/src/configuration/tenants-schema.ts'
import { findTenant } from '../../packages/server/src/tenants/find-tenant.ts'

test('a tenant that is disabled is not found, so that no request reaches it', async () => {
  const tenants = v.parse(tenantsSchema, { list: [{ name: 'acme' }, { name: 'former', enabled: false }] })
  expect(await findTenant(tenants, undefined, 'acme')).toMatchObject({ tenant: { name: 'acme' } })
  expect(await findTenant(tenants, undefined, 'former')).toBeUndefined()
  expect(await findTenant(tenants, undefined, 'nosuch')).toBeUndefined()
})
