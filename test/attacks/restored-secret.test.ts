/**
 * Attack: a secret has leaked, and was rotated out. A backup of before is restored, and brings the secret back together with the
 * memory that it was never replaced; or the client is removed, and added again with the secret. A thief authenticates again.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { declarationOf, makePlan, openAdministration, refusalOf, storedEntries } from '@grantry/administration'
import { type AtomicDriver, hashSecret, openEntries, type ProviderOptions, type ScopeOptions } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { api1, builtInPlugins, clients, fixture, scopes, web } from '../support/fixture.ts'

const issuer = 'https://id.example.com'
const leaked = 'leaked'
const shop = { ...clients[0], clientId: 'shop', secrets: [hashSecret(leaked)] }

async function serve(storage: AtomicDriver, more: Partial<ProviderOptions> = {}) {
  await storage.open?.()
  const entries = openEntries({ issuer, storage })
  const f = await fixture({ storage, plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 5 })], ...more })
  const managers = openAdministration({
    entries,
    check: {
      client: async (client) => f.provider.checkClient(client),
      scope: async (scope) => f.provider.checkScope(scope),
      user: async () => {},
    },
    hashPassword: async () => '',
    revoke: f.provider.revoke,
    now: () => f.clock.now() * 1000,
  }).as({ who: 'admin' })
  const ask = async (secret: string, clientId = 'shop') =>
    (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, [clientId, secret])).status
  return { f, ...managers, ask }
}

describe('a restored backup', () => {
  /** Returns a copy of the storage before the rotation, and the line of the configuration that the rotation returned. */
  async function rotated() {
    const directory = sharedDirectory('restored')
    const [present, backup] = [join(directory, 'present'), join(directory, 'backup')]
    const service = await serve(filesystemDriver({ directory: present }))
    await service.clients.add(shop)
    cpSync(present, backup, { recursive: true })
    const { replaced } = await service.clients.rotateSecret('shop', 0)
    expect(await service.ask(leaked)).toBe(401)
    return { backup: filesystemDriver({ directory: backup }), refusedSecrets: replaced }
  }

  test('does not bring a secret back that the configuration refuses', async () => {
    const { backup, refusedSecrets } = await rotated()
    expect(refusedSecrets).toEqual([`sha256:${hashSecret(leaked).sha256.replace(/=+$/u, '')}`])
    const { f, ask, clients: manager } = await serve(backup, { refusedSecrets })
    expect(await ask(leaked)).toBe(401)
    expect(f.events.find(({ type }) => type === 'client_authentication_failed')).toMatchObject({
      reason: 'secret_refused',
    })
    const { secret } = await manager.rotateSecret('shop', 0)
    f.clock.advance(1)
    expect(await ask(secret)).toBe(200)
  })

  test('brings it back if the configuration does not refuse it, which is why the line is necessary', async () => {
    const { backup } = await rotated()
    expect(await (await serve(backup)).ask(leaked)).toBe(200)
  })
})

const [sha256, sha512] = [
  `sha256:${hashSecret(leaked).sha256}`,
  `sha512:${btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-512', new TextEncoder().encode(leaked)))))}`,
]

describe.each([sha256, sha512])('with the refused secret %s', (name) => {
  const refusedSecrets = [name]
  const byBoth = [hashSecret(leaked), { sha512: sha512.slice('sha512:'.length) }]

  test.each(byBoth)('no client in the storage authenticates with %j', async (stored) => {
    const storage = memoryDriver()
    const { clients: manager } = await serve(storage)
    await manager.add({ ...shop, secrets: [stored, hashSecret('right')] })
    const { ask } = await serve(storage, { refusedSecrets })
    expect([await ask(leaked), await ask('right')]).toEqual([401, 200])
  })

  test('no client of a function of the host does', async () => {
    let calls = 0
    const { ask } = await serve(memoryDriver(), {
      refusedSecrets,
      clients: {
        find: (clientId) => clients.find((client) => client.clientId === clientId),
        verifySecret: () => {
          calls += 1
          return true
        },
      },
    })
    expect([await ask(leaked, web[0]), calls]).toEqual([401, 0])
    expect([await ask('any', web[0]), calls]).toEqual([200, 1])
  })

  test('no API does', async () => {
    // Stored by the other hash, so that the configuration starts.
    const leaking: ScopeOptions = { name: 'leaking', secrets: [byBoth[name === sha256 ? 1 : 0] as object] }
    const { f } = await serve(memoryDriver(), { refusedSecrets, scopes: [...scopes, leaking] })
    expect((await f.post('introspection', { token: 'x' }, api1)).status).toBe(200)
    expect((await f.post('introspection', { token: 'x' }, ['leaking', leaked])).status).toBe(401)
  })
})

test('a refused secret is in no configuration, plan or change', async () => {
  const refusedSecrets = [sha256]
  const message = /secrets\[0\] is in refusedSecrets/u
  await expect(fixture({ refusedSecrets, clients: [{ ...shop, secrets: [hashSecret(leaked)] }] })).rejects.toThrow(
    message,
  )
  await expect(fixture({ refusedSecrets, scopes: [{ name: 'x', secrets: [hashSecret(leaked)] }] })).rejects.toThrow(
    message,
  )
  const { clients: manager, scopes: scopeManager } = await serve(memoryDriver(), { refusedSecrets })
  await expect(manager.add(shop)).rejects.toThrow(message)
  await expect(scopeManager.add({ name: 'x', secrets: [hashSecret(leaked)] })).rejects.toThrow(message)
  await manager.add({ ...shop, secrets: [hashSecret('right')] })
  await expect(manager.edit('shop', { secrets: [hashSecret(leaked)] })).rejects.toThrow(message)
})

test.each(['leaked', 'sha256:', 'sha256:QQ==', 'md5:QQ==', ''])('%j is no name of a secret', async (name) => {
  await expect(fixture({ refusedSecrets: [name] })).rejects.toThrow(/refusedSecrets\[0\] must be sha256:/u)
})

describe('a client that is removed and added again', () => {
  test('does not get a secret back that was replaced before', async () => {
    const { clients: manager, scopes: _, ...managers } = await serve(memoryDriver())
    await manager.add(shop)
    await manager.rotateSecret('shop', 0)
    await manager.remove('shop')
    const refusal = await manager.add(shop).catch(refusalOf)
    expect(refusal).toMatchObject({ reason: 'invalid', member: 'secrets[0]' })
    const content = { clients: [shop] }
    const all = { ...managers, clients: manager, scopes: _ }
    await expect(makePlan(declarationOf([{ file: 'git.json', content }]), all, { prune: false })).rejects.toThrow(
      /git\.json.*secrets\[0\] of the client shop was replaced/u,
    )
    // Also after a second time.
    await manager.add({ ...shop, secrets: [hashSecret('second')] })
    await manager.rotateSecret('shop', 0)
    await manager.remove('shop')
    for (const secret of [leaked, 'second']) {
      await expect(manager.add({ ...shop, secrets: [hashSecret(secret)] })).rejects.toThrow(/was replaced/u)
    }
    expect((await manager.add({ ...shop, secrets: [hashSecret('third')] })).client.id).toBe('shop')
  })

  test('can have the secret with which it was removed', async () => {
    const { clients: manager, ask } = await serve(memoryDriver())
    await manager.add(shop)
    await manager.remove('shop')
    await manager.add(shop)
    expect(await ask(leaked)).toBe(200)
  })
})
