/**
 * Attack: a user is removed while the response of another provider is handled, which links an account or signs the user in. The
 * request must leave neither tokens of the provider, nor a link, nor a note about the account, whatever it had decided before.
 *
 * The removal comes before each one of the storage calls of the request.
 */
import { upstreamUsers } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { atEachCall, interruptible } from '../support/interrupted.ts'
import { accountAs } from '../upstream/parties.ts'
import { contentOf, setUpTokens } from '../upstream/token-parties.ts'

async function setUpService() {
  const store = memoryDriver()
  const driver = interruptible(store)
  const removed = new Set<string>()
  const f = await setUpTokens({
    more: {
      storage: driver.storage,
      users: { authenticate: ({ username }) => ({ sub: username }), isActive: (sub) => !removed.has(sub) },
    },
  })
  /** As the account page does after the host has removed the user. */
  async function remove(sub: string): Promise<void> {
    removed.add(sub)
    await f.provider.revoke({ subject: sub })
    await f.provider.use(upstreamUsers).forget(sub)
    await f.provider.revoke({ subject: sub })
  }
  return { ...f, driver, remove, content: () => contentOf(store) }
}

type Service = Awaited<ReturnType<typeof setUpService>>

/** Returns what sends the response of the provider, for a user whose account there has this subject. */
const responses: Readonly<Record<string, (f: Service, user: string) => Promise<() => Promise<unknown>>>> = {
  async 'an account is linked'(f, user) {
    const account = await accountAs(f, user)
    const { url } = await account.leave()
    return () => account.comeBack(url)
  },
  async 'the user signs in with a linked account'(f, user) {
    const account = await accountAs(f, user)
    expect(await account.link()).toBe('linked')
    const away = await f.leave()
    return () => f.comeBack(away)
  },
}

test.each(Object.entries(responses))(
  'a user who is removed while %s leaves nothing of the account',
  async (_, begin) => {
    const f = await setUpService()
    let count = 0
    const left = await atEachCall(async (calls) => {
      count += 1
      const user = `user-${count}`
      f.double.set({ claims: { sub: `account of ${user}` } })
      const before = new Set((await f.content()).keys())
      const respond = await begin(f, user)
      const seen = f.events.length
      const isDone = await f.driver.during(
        calls,
        () => f.remove(user),
        async () => [await respond()],
      )
      if (isDone === undefined) return undefined
      // Without the link, the account at the provider signs in as a user of its own, with these tokens.
      const signedIn = f.events.slice(seen).find(({ type }) => type === 'upstream_sign_in_succeeded')
      if (signedIn !== undefined && 'sub' in signedIn && signedIn.sub !== user) return []
      const added = [...(await f.content())].filter(([key]) => !before.has(key))
      // Sealed tokens, a link, or the hash of the account.
      return added.flatMap(([key, value]) =>
        /sealed|linkedAt|value\\":\\"[\w-]{43}\\"/u.test(value) ? [`${calls} ${key}`] : [],
      )
    })
    expect(left.length).toBeGreaterThan(10)
    expect(left.flat()).toEqual([])
  },
)
