/**
 * Attack: a user has ended the link to an account at another provider, or an attacker has linked this account since. The
 * tokens of the account must not come back for the former user: not after `keepTokens` was off for a while, not by a
 * sign-in that was in progress, and not from another issuer on the same storage with the same secrets.
 *
 * RFC 9700 section 4.13 (tokens in the storage); decision 161.
 */
import { upstreamTokens } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { accountAs, acmeOf, setUpUpstream } from '../upstream/parties.ts'
import { contentOf, encryptionSecrets, setUpTokens } from '../upstream/token-parties.ts'

type Parties = Awaited<ReturnType<typeof setUpTokens>>

async function linked() {
  const storage = memoryDriver()
  const f = await setUpTokens({ more: { storage } })
  f.double.set({ claims: { sub: 'another account' } })
  const alice = await accountAs(f, 'alice')
  expect(await alice.link()).toBe('linked')
  expect(await f.find('alice')).toBeDefined()
  return { ...f, alice, content: storage }
}

/** The same service with the same storage, which does not keep tokens. */
const withoutTokens = (f: Pick<Parties, 'double'>, storage: ReturnType<typeof memoryDriver>) =>
  setUpUpstream({ options: { providers: [acmeOf(f.double)], fetch: f.double.fetch }, more: { storage } })

const sealedIn = async (storage: ReturnType<typeof memoryDriver>) =>
  [...(await contentOf(storage))].filter(([, value]) => value.includes('sealed')).map(([key]) => key)

test('18.19 a link that ends while the tokens are not kept removes them', async () => {
  const f = await linked()
  const before = await sealedIn(f.content)
  const later = await accountAs(await withoutTokens(f, f.content), 'alice')
  const [link] = await later.list()
  await later.unlink(link?.id ?? '')
  expect(await f.find('alice')).toBeUndefined()
  expect((await sealedIn(f.content)).length).toBe(before.length - 1)
  expect(await f.find()).toBeDefined()
})

test('18.19 an account that ends while the tokens are not kept removes them', async () => {
  const f = await linked()
  const later = await accountAs(await withoutTokens(f, f.content), 'alice')
  await later.browser.open('https://id.example.com/connect/test-account?action=forget')
  expect(await f.find('alice')).toBeUndefined()
})

test('18.19 a sign-in that was in progress when the link ended leaves no tokens', async () => {
  const f = await linked()
  const [link] = await f.alice.list()
  const before = new Map(await contentOf(f.content))
  await f.alice.unlink(link?.id ?? '')
  // What such a sign-in stores last.
  const sealed = (await missing(f.content, before)).filter((key) => before.get(key)?.includes('sealed') === true)
  expect(sealed).not.toEqual([])
  for (const key of sealed) await f.content.setItem(key, JSON.parse(before.get(key) ?? ''))
  expect(await f.find('alice')).toBeUndefined()
})

async function missing(storage: ReturnType<typeof memoryDriver>, before: ReadonlyMap<string, string>) {
  const now = await contentOf(storage)
  return [...before.keys()].filter((key) => !now.has(key))
}

test('18.17 the tokens of a user of another issuer are not opened', async () => {
  const storage = memoryDriver()
  const foreign = memoryDriver()
  const f = await setUpTokens({ more: { storage } })
  const g = await setUpTokens({ more: { storage: foreign, issuer: 'https://other.example.com' } })
  // One identity at the provider has the same `sub` at both.
  expect(g.sub).toBe(f.sub)
  const [key = ''] = await sealedIn(storage)
  const [foreignKey = ''] = await sealedIn(foreign)
  await foreign.setItem(foreignKey, (await storage.getItem(key)) ?? '')
  expect(await g.provider.use(upstreamTokens).find(g.sub, 'acme')).toBeUndefined()
  expect(encryptionSecrets).toHaveLength(1)
})
