import type { AtomicDriver } from '@grantry/core'
import { upstreamTokens } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { DoubleOptions } from './openid-double.ts'
import { setUpUpstream, type UpstreamSetting } from './parties.ts'

export const encryptionSecrets = ['the secret of a test, of 32 characters or more']

/** A provider that keeps the tokens of the double, and a user who has signed in there. */
export async function setUpTokens({ double, provider, options, ...setting }: UpstreamSetting = {}) {
  const storage = memoryDriver()
  const refreshing: DoubleOptions = { refreshes: true, ...double }
  const f = await setUpUpstream({
    double: refreshing,
    provider: { keepTokens: true, ...provider },
    options: { encryptionSecrets, ...options },
    ...setting,
    more: { storage, ...setting.more },
  })
  const { claims } = await f.claimsAfter()
  const sub = String(claims?.sub)
  const find = (user = sub) => f.provider.use(upstreamTokens).find(user, 'acme')
  return { ...f, storage, sub, find }
}

type Listed = AtomicDriver & { getKeys(base: string, options: object): Promise<string[]> | string[] }

/** All that a store contains, with the keys. */
export async function contentOf(storage: Listed): Promise<ReadonlyMap<string, string>> {
  const keys = await storage.getKeys('', {})
  const pairs = keys.map(async (key) => [key, JSON.stringify(await storage.getItem(key))] as const)
  return new Map(await Promise.all(pairs))
}
