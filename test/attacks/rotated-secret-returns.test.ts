/**
 * Attack: a secret has leaked, and was rotated out. It comes back by `apply` of the file that is still in Git, by an edit that a
 * script repeats, or with a later end. A thief who has it can authenticate again.
 */
import { declarationOf, type Managers, makePlan, openAdministration, refusalOf } from '@grantry/administration'
import { hashSecret, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'

const leaked = hashSecret('leaked')
/** The same hash as other programs write it. */
const spelled = { sha256: leaked.sha256.replace(/=+$/u, '') }
/** The same 32 bytes: the last of the 43 characters has two bits that belong to none of them. */
const last = Buffer.from(leaked.sha256.slice(40, 44), 'base64')[1] ?? 0
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const padded = { sha256: `${leaked.sha256.slice(0, 42)}${alphabet[((last & 15) << 2) | 3]}=` }

function administer() {
  let time = 1_800_000_000
  const managers = openAdministration({
    entries: openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() }),
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async () => '',
    revoke: async () => {},
    now: () => time * 1000,
  }).as({ who: 'alice' })
  return {
    ...managers,
    now: () => time,
    wait(seconds: number) {
      time += seconds
    },
  }
}

type Service = ReturnType<typeof administer>

const client = { clientId: 'shop', grantTypes: ['client_credentials'], scopes: ['api1'] }
const secretsOf = async ({ clients }: Service) => (await clients.show('shop')).value.secrets ?? []

/** Ways to end a secret. */
const rotations: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
  'a rotation': ({ clients }) => clients.rotateSecret('shop', 0),
  'a rotation with an overlap that is over': async ({ clients, wait }) => {
    await clients.rotateSecret('shop', 60)
    wait(61)
    await clients.rotateSecret('shop', 60)
  },
  'two rotations': async ({ clients }) => {
    await clients.rotateSecret('shop', 0)
    await clients.rotateSecret('shop', 0)
  },
  'an edit': ({ clients }) => clients.edit('shop', { secrets: [hashSecret('new')] }),
  'an edit that leaves none': ({ clients }) => clients.edit('shop', { secrets: [] }),
}

const planOf = (managers: Managers, secrets: readonly object[]) =>
  makePlan(declarationOf([{ file: 'git.json', content: { clients: [{ ...client, secrets }] } }]), managers, {
    prune: false,
  })

/** Ways to bring it back. */
const returns: Readonly<Record<string, (service: Service, secret: object) => Promise<unknown>>> = {
  'a plan of a file': (service, secret) => planOf(service, [secret]),
  'a plan with further secrets': (service, secret) => planOf(service, [hashSecret('new'), secret]),
  'an edit': ({ clients }, secret) => clients.edit('shop', { secrets: [secret] }),
  'an edit that keeps the others': async (service, secret) =>
    service.clients.edit('shop', { secrets: [...(await secretsOf(service)), secret] }),
  'a replacement': ({ clients }, secret) => clients.replace('shop', (current) => ({ ...current, secrets: [secret] })),
}

test('the spelling with other bits is one of the same hash', () => {
  expect(padded.sha256).not.toBe(leaked.sha256)
  expect(Buffer.from(padded.sha256, 'base64')).toEqual(Buffer.from(leaked.sha256, 'base64'))
})

describe('a leaked secret that was ended', () => {
  const cases = Object.keys(rotations).flatMap((rotation) => Object.keys(returns).map((way) => ({ rotation, way })))

  test.each(cases)('by $rotation does not come back by $way', async ({ rotation, way }) => {
    for (const secret of [leaked, spelled, padded, { ...leaked, expiresAt: 2_000_000_000 }]) {
      const service = administer()
      await service.clients.add({ ...client, secrets: [leaked] })
      await rotations[rotation]?.(service)
      const present = await secretsOf(service)
      await expect(returns[way]?.(service, secret)).rejects.toThrow(/secrets\[\d\].* was replaced/u)
      expect(await secretsOf(service)).toEqual(present)
    }
  })

  test('counts until the end of its overlap, which cannot be moved', async () => {
    const service = administer()
    await service.clients.add({ ...client, secrets: [leaked] })
    await service.clients.rotateSecret('shop', 60)
    const [old, fresh] = await secretsOf(service)
    expect(old).toEqual({ ...leaked, expiresAt: service.now() + 60 })
    const edit = (...secrets: readonly object[]) => service.clients.edit('shop', { secrets })
    for (const later of [leaked, { ...leaked, expiresAt: service.now() + 61 }]) {
      const refusal = await edit(later, fresh as object).catch(refusalOf)
      expect(refusal).toMatchObject({ reason: 'invalid', member: 'secrets[0]' })
    }
    await service.clients.edit('shop', { clientName: 'Shop' })
    await edit({ ...leaked, expiresAt: service.now() + 30 }, fresh as object)
    await edit(fresh as object)
    expect(await secretsOf(service)).toEqual([fresh])
  })

  test('of an API does not come back either', async () => {
    const { scopes } = administer()
    await scopes.add({ name: 'api1', secrets: [leaked] })
    await scopes.rotateSecret('api1', 0)
    await expect(scopes.edit('api1', { secrets: [leaked] })).rejects.toThrow(/was replaced/u)
  })

  test('is refused for a client that keeps a hundred others', async () => {
    const service = administer()
    await service.clients.add({ ...client, secrets: [leaked] })
    for (let count = 0; count < 100; count += 1) await service.clients.rotateSecret('shop', 0)
    await expect(service.clients.edit('shop', { secrets: [leaked] })).rejects.toThrow(/was replaced/u)
  })

  test('is in nothing that is shown', async () => {
    const service = administer()
    await service.clients.add({ ...client, secrets: [leaked] })
    const { client: rotated } = await service.clients.rotateSecret('shop', 0)
    expect(JSON.stringify(rotated.value)).not.toContain(leaked.sha256)
  })
})

test('a plan reports each secret that was replaced, and where it stands', async () => {
  const service = administer()
  await service.clients.add({ ...client, secrets: [leaked] })
  await service.clients.rotateSecret('shop', 0)
  await expect(planOf(service, [leaked])).rejects.toThrow(
    /git\.json.*clients\[0\].*secrets\[0\] of the client shop was replaced; remove it from the file, or create another/u,
  )
})
