// Tenants that an administrator creates and ends by command while four processes of the server run on one storage.
import { sha256Of } from '@grantry/testing'
import { expect } from 'vitest'
import { post, type Service, soonEverywhere } from './service.ts'

const form = { grant_type: 'client_credentials', scope: 'api1' }
export const listed = {
  name: 'listed',
  clients: [
    {
      clientId: 'web',
      secrets: [{ sha256: sha256Of('secret') }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    },
  ],
  scopes: [{ name: 'api1' }],
}

export async function tenantsChange({ command, inProcess, everywhere }: Service): Promise<void> {
  const tokens = (tenant: string, secret = 'secret') =>
    everywhere((origin) => post(`${origin}/t/${tenant}/connect/token`, ['web', secret], form))
  const statuses = async (tenant: string, secret?: string) =>
    new Set((await tokens(tenant, secret)).map(({ status }) => status))
  const keys = async (tenant: string) => {
    const ofEach = await everywhere(async (origin) =>
      Promise.all(
        Array.from({ length: 25 }, async () => {
          const response = await fetch(`${origin}/t/${tenant}/.well-known/jwks`)
          const { keys } = (await response.json()) as { keys: readonly { kid: string }[] }
          return keys.map(({ kid }) => kid).join()
        }),
      ),
    )
    return new Set(ofEach.flat())
  }
  const create = async (tenant: string): Promise<string> => {
    await command('tenants', 'create', tenant)
    await command('scopes', 'add', 'api1', '--tenant', tenant)
    const grants = ['--grant', 'client_credentials', '--scope', 'api1']
    return JSON.parse(await command('--tenant', tenant, 'clients', 'add', 'web', ...grants, '--json')).secret
  }

  expect(await statuses('listed')).toEqual(new Set([200]))
  expect(await statuses('acme')).toEqual(new Set([404]))
  const secret = await create('acme')
  await soonEverywhere(async () => expect(await statuses('acme', secret)).toEqual(new Set([200])))
  // 100 requests in four processes create the keys once.
  await command('tenants', 'create', 'beta')
  await soonEverywhere(async () =>
    expect(
      await everywhere(async (origin) => (await fetch(`${origin}/t/beta/.well-known/openid-configuration`)).status),
    ).toEqual([200, 200, 200, 200]),
  )
  expect((await keys('beta')).size).toBe(1)
  expect(await keys('acme')).not.toEqual(await keys('beta'))
  expect(await statuses('beta', secret)).toEqual(new Set([401]))

  await command('tenants', 'end', 'acme')
  await soonEverywhere(async () => expect(await statuses('acme', secret)).toEqual(new Set([404])))
  const again = await create('acme')
  await soonEverywhere(async () => expect(await statuses('acme', again)).toEqual(new Set([200])))
  expect(await statuses('acme', secret)).toEqual(new Set([401]))

  const codes = await Promise.all([1, 2].map(() => inProcess('tenants', 'create', 'gamma')))
  expect(codes.sort()).toEqual([0, 1])
  const names = JSON.parse(await command('tenants', 'list', '--json')).map(({ name }: { name: string }) => name)
  expect(names).toEqual(['listed', 'acme', 'beta', 'gamma'])
}
